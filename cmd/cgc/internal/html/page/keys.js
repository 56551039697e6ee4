// Code shared by all plots: colours, keys, tooltips. Strings from the data are always inserted as text, never as HTML.

const root = document.documentElement;
const begun = performance.now();
const colours = 8; // number of colours; with more classes, shapes distinguish them
const shapes = [
  'circle',
  'rect',
  'triangle',
  'diamond',
  'path://M-1-3h2v2h2v2h-2v2h-2v-2h-2v-2h2z',
  'path://M-3-3L0-1.4 3-3 1.4 0 3 3 0 1.4-3 3-1.4 0z',
];
const outlines = [
  'M6 1a5 5 0 1 1 0 10A5 5 0 1 1 6 1z',
  'M1.6 1.6h8.8v8.8H1.6z',
  'M6 1l5.4 9.6H.6z',
  'M6 .4L11.6 6 6 11.6.4 6z',
  'M4 1h4v3h3v4H8v3H4V8H1V4h3z',
  'M1 1l5 2.6L11 1 8.4 6 11 11 6 8.4 1 11l2.6-5z',
];
const drawn = []; // the plots on the page, in order

const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
const classColour = (c) => css('--c' + (c % colours));
const shape = (c) => shapes[Math.floor(c / colours) % shapes.length];

// say announces a text to screen readers.
function say(text) {
  document.getElementById('said').textContent = text;
}

function element(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const key in attributes) e.setAttribute(key, attributes[key]);
  e.append(...children);
  return e;
}

// icon returns the mark of a class or a series in a key. Its colour follows the theme.
function icon(c) {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg'),
    path = document.createElementNS(space, 'path');
  for (const [k, v] of [
    ['width', 12],
    ['height', 12],
    ['viewBox', '0 0 12 12'],
    ['aria-hidden', true],
  ])
    svg.setAttribute(k, v);
  path.setAttribute('d', outlines[Math.floor(c / colours) % outlines.length]);
  path.style.fill = 'var(--c' + (c % colours) + ')';
  svg.append(path);
  return svg;
}

// key adds a list of names with their marks. Pressing a name toggles it. Only pressed names are shown, or all names if
// none is pressed.
function key(figure, names, marks, changed) {
  const list = element('ul', { class: 'key', 'aria-label': 'show only' }),
    chosen = new Set();
  names.forEach((name, c) => {
    if (name === null) return;
    const button = element(
      'button',
      { type: 'button', 'aria-pressed': false, title: name },
      marks(c),
      element('span', {}, name),
    );
    button.addEventListener('click', () => {
      chosen.has(c) ? chosen.delete(c) : chosen.add(c);
      button.setAttribute('aria-pressed', chosen.has(c));
      changed();
    });
    list.append(element('li', {}, button));
  });
  figure.querySelector('.plot').after(list);
  return { shows: (c) => chosen.size === 0 || chosen.has(c) };
}

// layerKey adds a list below a key: the mark of each layer and, if its marks have sizes, their size or range of sizes,
// then another item. It returns a function that writes the sizes again.
function layerKey(figure, layers, more) {
  const circle = (size, border) =>
    element('i', { class: border ? 'ring' : 'dot', style: `width:${size}px;height:${size}px`, 'aria-hidden': true });
  const list = element('ul', { class: 'layers' });
  const write = () => {
    list.replaceChildren();
    for (const layer of layers) {
      const sizes = layer.size || [];
      const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
      const some = least === most ? `${count(most)} ${layer.unit} each` : `${count(least)} to ${count(most)} ${layer.unit}`;
      const plain = layer === layers.at(-1) ? circle(10, true) : circle(6);
      const marks = !sizes.length ? [plain] : least === most ? [circle(14, true)] : [circle(8, true), circle(16, true)];
      list.append(element('li', {}, ...marks, layer.name + (sizes.length ? ', ' + some : '')));
    }
    list.append(more);
  };
  write();
  figure.querySelector('.key').after(list);
  return write;
}

// choices adds a switch between names if there are several.
function choices(figure, names, chosen) {
  if (names.length < 2) return;
  const buttons = names.map((name, i) => element('button', { type: 'button', 'aria-pressed': i === 0 }, name));
  buttons.forEach((button, i) =>
    button.addEventListener('click', () => {
      buttons.forEach((other, j) => other.setAttribute('aria-pressed', i === j));
      chosen(i);
    }),
  );
  const group = figure.querySelector('.tools');
  group.setAttribute('role', 'group');
  group.setAttribute('aria-label', 'view');
  group.append(...buttons);
}

function tip(title, ...lines) {
  const box = element('div', { class: 'tip' }, element('b', {}, title));
  for (const line of lines) if (line) box.append(element('div', {}, line));
  return box;
}

// ink returns black or white, whichever contrasts more with the colour interpolated between two others. Colours are
// #rrggbb.
function ink(from, to, share) {
  const part = (colour, k) => parseInt(colour.slice(1 + 2 * k, 3 + 2 * k), 16);
  const light = [0.2126, 0.7152, 0.0722].reduce((sum, weight, k) => {
    const v = (part(from, k) + share * (part(to, k) - part(from, k))) / 255;
    return sum + weight * (v <= 0.04 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  }, 0);
  return light > 0.179 ? '#000000' : '#ffffff';
}

// base returns the options that all plots share.
const base = () => ({
  animation: false,
  textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: css('--ink') },
  tooltip: {
    confine: true,
    backgroundColor: css('--card'),
    borderColor: css('--line'),
    padding: [7, 11],
    transitionDuration: 0,
    extraCssText: 'box-shadow:0 3px 14px rgba(0,0,0,.16);border-radius:8px;white-space:normal',
  },
});
const count = (v) => v.toLocaleString('en-US');
// rounded formats a number with the given number of digits, like the table below a plot.
const rounded = (v, digits) => String(Number(v.toPrecision(digits)));
const label = () => ({ color: css('--soft'), fontSize: 12 });
const valueAxis = (name) => ({
  type: 'value',
  name,
  nameLocation: 'middle',
  nameGap: 28,
  nameTextStyle: label(),
  axisLabel: label(),
  splitLine: { lineStyle: { color: css('--line') } },
  axisLine: { show: false },
  axisTick: { show: false },
});

// Draws the plots of a report from its data, with Apache ECharts. Words of the data only ever become text: they go
// into the page by textContent.
(function () {
  'use strict';
  const root = document.documentElement;
  const begun = performance.now();
  const colours = 8; // then shapes tell classes apart
  const shapes = [
    'circle', 'rect', 'triangle', 'diamond',
    'path://M-1-3h2v2h2v2h-2v2h-2v-2h-2v-2h2z', 'path://M-3-3L0-1.4 3-3 1.4 0 3 3 0 1.4-3 3-1.4 0z',
  ];
  const outlines = [
    'M6 1a5 5 0 1 1 0 10A5 5 0 1 1 6 1z', 'M1.6 1.6h8.8v8.8H1.6z', 'M6 1l5.4 9.6H.6z', 'M6 .4L11.6 6 6 11.6.4 6z',
    'M4 1h4v3h3v4H8v3H4V8H1V4h3z', 'M1 1l5 2.6L11 1 8.4 6 11 11 6 8.4 1 11l2.6-5z',
  ];
  const drawn = []; // what is on the page, in order

  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const classColour = (c) => css('--c' + (c % colours));
  const shape = (c) => shapes[Math.floor(c / colours) % shapes.length];

  function element(name, attributes, ...children) {
    const e = document.createElement(name);
    for (const key in attributes) e.setAttribute(key, attributes[key]);
    e.append(...children);
    return e;
  }

  // icon is the mark of a class or a series in a key. Its colour follows the theme.
  function icon(c) {
    const space = 'http://www.w3.org/2000/svg';
    const svg = document.createElementNS(space, 'svg'), path = document.createElementNS(space, 'path');
    for (const [k, v] of [['width', 12], ['height', 12], ['viewBox', '0 0 12 12'], ['aria-hidden', true]]) svg.setAttribute(k, v);
    path.setAttribute('d', outlines[Math.floor(c / colours) % outlines.length]);
    path.style.fill = 'var(--c' + (c % colours) + ')';
    svg.append(path);
    return svg;
  }

  // key lists names with their marks. A press shows a name alone, or with others that are pressed.
  function key(figure, names, marks, changed) {
    const list = element('ul', { class: 'key' }), chosen = new Set();
    names.forEach((name, c) => {
      if (name === null) return;
      const button = element('button', { type: 'button', 'aria-pressed': false, title: name }, marks(c), element('span', {}, name));
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

  // choices adds a switch between names, if there are several.
  function choices(figure, names, chosen) {
    if (names.length < 2) return;
    const buttons = names.map((name, i) => element('button', { type: 'button', 'aria-pressed': i === 0 }, name));
    buttons.forEach((button, i) => button.addEventListener('click', () => {
      buttons.forEach((other, j) => other.setAttribute('aria-pressed', i === j));
      chosen(i);
    }));
    figure.querySelector('.tools').append(...buttons);
  }

  function tip(title, ...lines) {
    const box = element('div', { class: 'tip' }, element('b', {}, title));
    for (const line of lines) if (line) box.append(element('div', {}, line));
    return box;
  }

  // base holds what all plots have in common.
  const base = () => ({
    animation: false,
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: css('--ink') },
    tooltip: {
      confine: true, backgroundColor: css('--card'), borderColor: css('--line'), padding: [7, 11],
      transitionDuration: 0, extraCssText: 'box-shadow:0 3px 14px rgba(0,0,0,.16);border-radius:8px;white-space:normal',
    },
  });
  const number = (v, digits) => v.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const rounded = (v) => Number(v.toPrecision(6)).toLocaleString('en-US', { maximumSignificantDigits: 6 });
  const label = () => ({ color: css('--soft'), fontSize: 12 });
  const valueAxis = (name) => ({
    type: 'value', name, nameLocation: 'middle', nameGap: 28, nameTextStyle: label(), axisLabel: label(),
    splitLine: { lineStyle: { color: css('--line') } }, axisLine: { show: false }, axisTick: { show: false },
  });

  // plane draws marks in layers, and edges below them.
  function plane(figure, plot) {
    const layers = plot.kind === 'network' ? [plot.marks] : plot.layers;
    const views = plot.kind === 'network' ? [{ x: '', y: '', at: [plot.at] }] : plot.views;
    const links = plot.links || [], box = figure.querySelector('.plot');
    const tall = plot.kind === 'network' ? 0.9 : 0.58;
    box.style.height = Math.round(Math.max(320, Math.min(620, box.clientWidth * tall))) + 'px';
    const chart = echarts.init(box);
    let view = 0, narrow = 1, kept = null; // kept: the part that a reader zoomed to
    const present = new Set(layers.flatMap((l) => l.class));
    const names = plot.classes.map((name, c) => (present.has(c) ? name : null));
    const shown = key(figure, names, icon, () => render());

    const place = (l, i) => views[view].at[l][i];
    // range gives both axes the same scale, with room for all marks. start and end are the part, in percent, that shows
    // all but the outermost 2% of the marks on each side: a few far out do not crowd the others.
    function range() {
      let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
      for (const layer of views[view].at) {
        for (const [x, y] of layer) {
          if (x < x0) x0 = x;
          if (x > x1) x1 = x;
          if (y < y0) y0 = y;
          if (y > y1) y1 = y;
        }
      }
      const sorted = [0, 1].map((k) => views[view].at.flat().map((at) => at[k]).sort((a, b) => a - b));
      const around = (plot.radius || 0) * 1.1, w = chart.getWidth() - (plot.kind === 'network' ? 12 : 28), h = chart.getHeight() - 30;
      const unit = Math.max((x1 - x0 + 2 * around) / w, (y1 - y0 + 2 * around) / h, 1e-12) * 1.05;
      const x = (x0 + x1) / 2, y = (y0 + y1) / 2;
      const all = { x: [x - unit * w / 2, x + unit * w / 2], y: [y - unit * h / 2, y + unit * h / 2], unit, part: 1, out: 0 };
      const n = sorted[0].length, cut = plot.kind === 'scatter' && n >= 50 ? Math.ceil(n * 0.02) : 0;
      const side = sorted.map((s) => [s[cut], s[n - 1 - cut]]);
      const near = side.map(([a, b]) => [a - 0.2 * (b - a), b + 0.2 * (b - a)]);
      const part = Math.max((near[0][1] - near[0][0]) / (unit * w), (near[1][1] - near[1][0]) / (unit * h));
      if (!(part < 0.7)) return { ...all, zoom: [[0, 100], [0, 100]] };
      const zoom = near.map(([a, b], k) => {
        const [low, high] = k ? all.y : all.x, middle = ((a + b) / 2 - low) / (high - low) * 100;
        const start = Math.min(100 - part * 100, Math.max(0, middle - part * 50));
        return [start, start + part * 100];
      });
      const sees = (k, v) => { const [low, high] = k ? all.y : all.x, p = (v - low) / (high - low) * 100; return p >= zoom[k][0] && p <= zoom[k][1]; };
      const out = views[view].at.flat().filter(([a, b]) => !sees(0, a) || !sees(1, b)).length;
      return { ...all, unit: unit * part, zoom, out };
    }
    function size(layer, unit) {
      if (!layer.size) return () => 5;
      const most = layer.size.reduce((a, b) => Math.max(a, b), 0);
      const count = layer.size.length, room = Math.sqrt(chart.getWidth() / 900);
      const largest = plot.radius ? 2 * plot.radius / unit : room * (count <= 100 ? 30 : count <= 600 ? 22 : 15);
      return (i) => Math.max(count <= 600 ? 5 : 4, largest * Math.sqrt(layer.size[i] / most));
    }
    const heaviest = (plot.weight || []).reduce((a, b) => Math.max(a, b), 0);
    function series(r) {
      const all = [
        { type: 'lines', id: 'links', coordinateSystem: 'cartesian2d', silent: true, z: 1,
          data: links.map(([a, b], e) => ({ coords: [place(0, a), place(0, b)],
            lineStyle: { width: plot.weight ? 0.6 + 1.6 * plot.weight[e] / heaviest : 1.2 } })),
          lineStyle: { color: css('--faint'), opacity: 0.7, curveness: 0 } },
        { type: 'lines', id: 'near', coordinateSystem: 'cartesian2d', silent: true, z: 5, data: [],
          lineStyle: { color: css('--ink'), opacity: 0.55, width: 1, curveness: 0 } },
        { type: 'scatter', id: 'ring', silent: true, z: 6, symbolSize: 9, data: [],
          itemStyle: { color: 'transparent', borderColor: css('--ink'), borderWidth: 1.4 } },
      ];
      layers.forEach((layer, l) => {
        const diameter = size(layer, r.unit), top = l === layers.length - 1, data = plot.classes.map(() => []);
        layer.class.forEach((c, i) => data[c].push([...place(l, i), i]));
        data.forEach((points, c) => all.push({
          type: 'scatter', id: l + '-' + c, z: 2 + l, data: points, symbol: shape(c), large: false,
          symbolSize: (value) => diameter(value[2]), silent: !shown.shows(c),
          itemStyle: {
            color: classColour(c), opacity: shown.shows(c) ? (top ? 0.95 : 0.5) : 0.05,
            borderColor: top ? css('--card') : 'transparent', borderWidth: top ? (points.length > 300 ? 0.8 : 1.4) : 0,
          },
          emphasis: { scale: 1.25, itemStyle: { opacity: 1, borderColor: css('--ink'), borderWidth: 1.5 } },
        }));
      });
      return all;
    }
    // near shows what belongs to a mark: its members, its owner, its neighbours.
    function near(l, i) {
      const lines = [], ring = [], from = place(l, i);
      const add = (at) => { lines.push({ coords: [from, at] }); ring.push(at); };
      if (l > 0 && layers[l - 1].owner) layers[l - 1].owner.forEach((o, j) => { if (o === i) add(place(l - 1, j)); });
      if (layers[l].owner && layers[l].owner[i] >= 0) add(place(l + 1, layers[l].owner[i]));
      for (const [a, b] of links) if (a === i || b === i) add(place(0, a === i ? b : a));
      chart.setOption({ series: [{ id: 'near', data: lines }, { id: 'ring', data: ring }] });
    }
    function describe(p) {
      const [l, c] = p.seriesId.split('-').map(Number), i = p.value[2], layer = layers[l];
      const owner = layer.owner && layer.owner[i] >= 0 && layers[l + 1];
      return tip(layer.noun + ' ' + layer.label[i], plot.classes[c], layer.detail && layer.detail[i],
        owner && 'in ' + owner.noun + ' ' + owner.label[layer.owner[i]]);
    }
    function render() {
      const r = range(), v = views[view], coarse = matchMedia('(pointer: coarse)').matches;
      const axis = (name, [min, max]) => ({
        type: 'value', min, max, name, nameLocation: 'middle', nameGap: 7, nameTextStyle: { ...label(), color: css('--faint') },
        axisLabel: { show: false }, axisTick: { show: false }, axisLine: { show: false }, splitLine: { show: false },
      });
      const window = kept || r.zoom, told = !kept && r.out > 0 ? (r.out === 1 ? '1 mark is' : r.out + ' marks are') + ' outside, ⤢ shows all' : v.x;
      const zoom = { type: 'inside', filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: !coarse || narrow < 1,
        preventDefaultMouseMove: !coarse };
      chart.setOption({
        ...base(), grid: { left: plot.kind === 'network' ? 6 : 22, right: 6, top: 6, bottom: 24, outerBoundsMode: 'none' },
        xAxis: axis(told, r.x), yAxis: axis(v.y, r.y),
        dataZoom: [{ ...zoom, xAxisIndex: 0, start: window[0][0], end: window[0][1] }, { ...zoom, yAxisIndex: 0, start: window[1][0], end: window[1][1] }], series: series(r),
      }, { replaceMerge: ['series'] });
      chart.setOption({ tooltip: { trigger: 'item', formatter: describe } });
    }
    function zoom(factor) {
      const now = chart.getOption().dataZoom;
      const batch = now.map(({ start, end }, dataZoomIndex) => {
        const middle = (start + end) / 2, half = Math.min(50, Math.max(0.5, (end - start) / 2 * factor));
        const at = Math.min(100 - half, Math.max(half, middle));
        return { dataZoomIndex, start: at - half, end: at + half };
      });
      chart.dispatchAction({ type: 'dataZoom', batch });
    }
    chart.on('datazoom', () => {
      const { start, end } = chart.getOption().dataZoom[0], before = narrow;
      if (!kept) chart.setOption({ xAxis: { name: views[view].x } });
      kept = chart.getOption().dataZoom.map((z) => [z.start, z.end]);
      narrow = (end - start) / 100;
      if ((before < 1) !== (narrow < 1) && matchMedia('(pointer: coarse)').matches) {
        chart.setOption({ dataZoom: [0, 1].map(() => ({ moveOnMouseMove: narrow < 1 })) });
      }
    });
    chart.on('mouseover', (p) => { if (p.seriesType === 'scatter') near(Number(p.seriesId.split('-')[0]), p.value[2]); });
    chart.on('mouseout', () => chart.setOption({ series: [{ id: 'near', data: [] }, { id: 'ring', data: [] }] }));
    chart.getZr().on('dblclick', () => zoom(1e9));
    choices(figure, views.map((v) => v.name).filter(Boolean), (i) => { view = i; kept = null; render(); });
    for (const [sign, what, factor] of [['+', 'zoom in', 0.6], ['−', 'zoom out', 1 / 0.6], ['⤢', 'show all', 1e9]]) {
      const button = element('button', { type: 'button', class: 'sign', title: what, 'aria-label': what }, sign);
      button.addEventListener('click', () => zoom(factor));
      figure.querySelector('.tools').append(button);
    }
    return { chart, render, resized: () => { kept = null; } };
  }

  // bars draws rows of bars, or of marks with intervals.
  function bars(figure, plot) {
    const box = figure.querySelector('.plot'), several = plot.series.length;
    // Many rows stand upright where there is room.
    const upright = () => !plot.points && plot.rows.length > 16 && box.clientWidth > 16 * plot.rows.length;
    const row = plot.points ? Math.max(34, 18 * several + 10) : plot.rows.length > 24 ? 20 : 28;
    box.style.height = upright() ? '330px' : plot.rows.length * row + 58 + 'px';
    const chart = echarts.init(box);
    const paint = (s) => [css('--after'), css('--before'), css('--c1'), css('--c2')][s % 4];
    const swatch = (s) => {
      const mark = icon(plot.points ? 0 : colours);
      mark.firstChild.style.fill = plot.series[s].tick ? 'var(--c1)' : ['var(--after)', 'var(--before)', 'var(--c1)', 'var(--c2)'][s % 4];
      return mark;
    };
    const { shows } = several > 1 ? key(figure, plot.series.map((s) => s.name), swatch, () => render()) : { shows: () => true };
    function point(s, index) {
      return {
        type: 'custom', name: s.name, z: 3, encode: { x: [0, 2, 3], y: 1 }, clip: true,
        data: s.values.map((v, i) => (v === null ? [NaN, i, NaN, NaN] : [v, i, s.low ? s.low[i] : v, s.high ? s.high[i] : v])),
        renderItem: (_, api) => {
          if (!Number.isFinite(api.value(0))) return null;
          const shift = (index - (several - 1) / 2) * 17, colour = paint(index), opacity = shows(index) ? 1 : 0.08;
          const [x, y] = api.coord([api.value(0), api.value(1)]).map((v, k) => v + (k ? shift : 0));
          const [low] = api.coord([api.value(2), api.value(1)]), [high] = api.coord([api.value(3), api.value(1)]);
          const stroke = { stroke: colour, lineWidth: 2, opacity };
          return { type: 'group', children: [
            { type: 'line', shape: { x1: low, y1: y, x2: high, y2: y }, style: stroke },
            { type: 'line', shape: { x1: low, y1: y - 4, x2: low, y2: y + 4 }, style: stroke },
            { type: 'line', shape: { x1: high, y1: y - 4, x2: high, y2: y + 4 }, style: stroke },
            { type: 'circle', shape: { cx: x, cy: y, r: 5 }, style: { fill: colour, opacity } },
            { type: 'text', x: high + 9, y: y - 6, style: { text: number(api.value(0), s.digits), fill: css('--soft'), opacity,
              font: '12px ' + getComputedStyle(document.body).fontFamily } },
          ] };
        },
      };
    }
    function bar(s, index) {
      const common = { name: s.name, data: s.values.map((v) => (v === null ? '-' : v)), z: s.tick ? 4 : 3 };
      const opacity = shows(index) ? 1 : 0.08;
      if (s.tick) {
        return { ...common, type: 'scatter', symbol: 'rect', symbolSize: upright() ? [14, 3] : [3, row * 0.62],
          itemStyle: { color: css('--c1'), opacity } };
      }
      return { ...common, type: 'bar', barMaxWidth: 16, barGap: '12%', itemStyle: { color: paint(index), opacity, borderRadius: 2 } };
    }
    function render() {
      const wide = Math.min(190, chart.getWidth() * 0.34), stands = upright();
      const values = { ...valueAxis(plot.axis), scale: plot.points, splitNumber: chart.getWidth() < 460 ? 3 : 5 };
      const words = { type: 'category', inverse: !stands, data: plot.rows, axisTick: { show: false }, axisLine: { lineStyle: { color: css('--line') } },
        axisLabel: { ...label(), color: css('--ink'), width: stands ? 110 : wide, overflow: 'truncate', interval: 0, rotate: stands ? 60 : 0 } };
      chart.setOption({
        ...base(), grid: { left: 4, right: plot.points ? 52 : 16, top: 6, bottom: stands ? 4 : 30, outerBoundsMode: 'same', outerBoundsContain: stands ? 'all' : 'axisLabel' },
        xAxis: stands ? words : values, yAxis: stands ? { ...values, nameGap: 34 } : words,
        series: plot.series.map(plot.points ? point : bar),
      }, { replaceMerge: ['series'] });
      chart.setOption({ tooltip: { trigger: 'axis', axisPointer: { type: 'shadow', shadowStyle: { color: css('--line'), opacity: 0.4 } },
        formatter: (all) => {
          const i = all[0].dataIndex;
          return tip(plot.rows[i], ...plot.series.map((s) => {
            if (s.values[i] === null) return '';
            let text = s.name + ': ' + number(s.values[i], s.digits);
            if (s.low) text += ' (' + number(s.low[i], s.digits) + ' to ' + number(s.high[i], s.digits) + ')';
            return s.detail && s.detail[i] ? text + ', ' + s.detail[i] : text;
          }));
        } } });
    }
    return { chart, render, resized: () => {
      const height = upright() ? 330 : plot.rows.length * row + 58;
      if (box.clientHeight !== height) {
        box.style.height = height + 'px';
        chart.resize();
      }
    } };
  }

  // heatmap draws a matrix in colours, and its numbers where there is room.
  function heatmap(figure, plot) {
    const box = figure.querySelector('.plot'), rows = plot.rows.length, columns = plot.columns.length;
    box.style.height = Math.round(Math.max(260, Math.min(640, rows * 34 + 96))) + 'px';
    const chart = echarts.init(box);
    let sheet = 0;
    choices(figure, plot.sheets.map((s) => s.name), (i) => { sheet = i; render(); });
    function render() {
      const s = plot.sheets[sheet], data = [];
      let most = 1;
      s.values.forEach((row, y) => row.forEach((v, x) => { data.push([x, y, v]); most = Math.max(most, Math.abs(v)); }));
      // Numbers on a strong colour are of the colour of the card.
      data.forEach((at, i) => {
        data[i] = { value: at, label: { color: Math.abs(at[2]) > 0.55 * most ? css('--card') : css('--ink') } };
      });
      const fits = columns <= 12 && chart.getWidth() / columns > 34, sign = (v) => (s.signed && v > 0 ? '+' : '') + number(v, 0).replace('-', '−');
      const axis = (names, name, more) => ({
        type: 'category', data: names, name, nameLocation: 'middle', nameTextStyle: label(), axisTick: { show: false },
        axisLine: { show: false }, splitArea: { show: false }, ...more,
      });
      const cell = chart.getWidth() * 0.85 / columns, turn = plot.columns.some((c) => c.length * 7 > cell) ? 45 : 0;
      chart.setOption({
        ...base(), grid: { left: 4, right: 8, top: 6, bottom: 6, outerBoundsMode: 'same', outerBoundsContain: 'all' },
        xAxis: axis(plot.columns, plot.x, { nameGap: turn ? 66 : 28, axisLabel: { ...label(), rotate: turn, interval: columns > 40 ? 'auto' : 0, width: 80, overflow: 'truncate' } }),
        yAxis: axis(plot.rows, plot.y, { inverse: true, nameGap: 8, nameLocation: 'start', nameTextStyle: { ...label(), align: 'right' },
          axisLabel: { ...label(), interval: rows > 40 ? 'auto' : 0, width: Math.min(120, chart.getWidth() * 0.26), overflow: 'truncate' } }),
        visualMap: { show: false, min: s.signed ? -most : 0, max: most,
          inRange: { color: s.signed ? [css('--low'), css('--zero'), css('--high')] : [css('--zero'), css('--high')] } },
        series: [{ type: 'heatmap', data, itemStyle: { borderColor: css('--card'), borderWidth: columns > 24 ? 0.5 : 1.5 },
          label: { show: fits, fontSize: 11, formatter: (p) => (p.value[2] === 0 ? '' : sign(p.value[2])) },
          emphasis: { itemStyle: { borderColor: css('--ink'), borderWidth: 1.5 } } }],
      }, { replaceMerge: ['series', 'visualMap'] });
      chart.setOption({ tooltip: { trigger: 'item', formatter: (p) => {
        const [x, y] = p.value;
        return tip(plot.y + ': ' + plot.rows[y], plot.x + ': ' + plot.columns[x],
          ...plot.sheets.map((other) => other.name + ': ' + (other.signed && other.values[y][x] > 0 ? '+' : '') + number(other.values[y][x], 0)));
      } } });
    }
    return { chart, render };
  }

  // figure draws lines and marks with error bars.
  function lines(box, plot) {
    const figure = box, area = figure.querySelector('.plot');
    area.style.height = Math.round(Math.max(280, Math.min(440, area.clientWidth * 0.6))) + 'px';
    const chart = echarts.init(area), filled = shapes, looks = 6;
    const named = plot.series.map((s) => (s.y.some((v) => v !== null) ? s.name : null));
    const shown = key(figure, named, (i) => icon(plot.series[i].style % looks || 0), () => render());
    function render() {
      const series = [];
      plot.series.forEach((s, i) => {
        const style = (s.style || 0) % looks, colour = classColour(style), opacity = shown.shows(i) ? 1 : 0.08;
        const points = s.x.map((x, j) => [x, s.y[j], s.std ? s.std[j] : 0]).filter((p) => p[1] !== null);
        series.push({ type: 'custom', silent: true, data: points, z: 2, encode: { x: 0, y: 1 }, renderItem: (_, api) => {
          if (!(api.value(2) > 0)) return null;
          const [x, top] = api.coord([api.value(0), api.value(1) + api.value(2)]), [, low] = api.coord([api.value(0), api.value(1) - api.value(2)]);
          return { type: 'line', shape: { x1: x, y1: top, x2: x, y2: low }, style: { stroke: colour, lineWidth: 1.4, opacity: opacity * 0.8 } };
        } });
        series.push({ type: 'line', name: s.name, id: 'line' + i, data: points, z: 3, symbol: filled[style], symbolSize: 9, showAllSymbol: true,
          lineStyle: { color: colour, width: s.joined ? 1.8 : 0, type: s.hollow ? 'dashed' : 'solid', opacity: s.joined ? opacity : 0 },
          itemStyle: { color: s.hollow ? css('--card') : colour, borderColor: colour, borderWidth: 1.6, opacity } });
      });
      const x = plot.words ? { ...valueAxis(plot.x), type: 'category', data: plot.words, axisLabel: { ...label(), rotate: plot.words.length > 5 ? 40 : 0, interval: 0 } }
        : { ...valueAxis(plot.x), type: plot.log_x ? 'log' : 'value', scale: true };
      chart.setOption({ ...base(), grid: { left: 8, right: 14, top: 12, bottom: 10, outerBoundsMode: 'same', outerBoundsContain: 'all' },
        xAxis: x, yAxis: { ...valueAxis(plot.y), nameGap: 40, type: plot.log_y ? 'log' : 'value', scale: true }, series }, { replaceMerge: ['series'] });
      chart.setOption({ tooltip: { trigger: 'item', formatter: (p) => tip(p.seriesName,
        (plot.words ? plot.words[p.value[0]] : rounded(p.value[0])) + ': ' + rounded(p.value[1]) + (p.value[2] ? ' ± ' + rounded(p.value[2]) : '')) } });
    }
    return { chart, render };
  }

  const kinds = { scatter: plane, network: plane, bars, heatmap, figure: lines };

  // The theme is the system's until the switch is pressed.
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let chosen = null, printing = false;
  const button = document.getElementById('theme');
  function theme() {
    const now = printing ? 'light' : chosen || (dark.matches ? 'dark' : 'light');
    if (root.dataset.theme !== now) {
      root.dataset.theme = now;
      button.textContent = now === 'dark' ? 'light' : 'dark';
      for (const d of drawn) d.render();
    }
  }
  button.addEventListener('click', () => { chosen = root.dataset.theme === 'dark' ? 'light' : 'dark'; theme(); });
  dark.addEventListener('change', theme);

  function resize() {
    for (const d of drawn) {
      const box = d.chart.getDom();
      if (box.clientWidth && (box.clientWidth !== d.chart.getWidth() || box.clientHeight !== d.chart.getHeight())) {
        d.chart.resize();
        if (d.resized) d.resized();
        d.render();
      }
    }
  }
  // A printer has light paper of the width of A4.
  function print(begins) {
    printing = begins;
    document.body.style.width = begins ? '680px' : '';
    theme();
    resize();
  }
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));

  for (const copy of document.querySelectorAll('.command button')) {
    copy.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(copy.parentElement.querySelector('code').textContent);
        copy.textContent = 'copied';
      } catch (_) {
        getSelection().selectAllChildren(copy.parentElement.querySelector('code'));
        copy.textContent = 'selected';
      }
      setTimeout(() => { copy.textContent = 'copy'; }, 1500);
    });
  }

  // library unpacks ECharts, which the page carries. The page's policy names its hash: no other script would run.
  async function library() {
    const packed = Uint8Array.from(atob(document.getElementById('library').textContent.trim()), (c) => c.charCodeAt(0));
    const code = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
    document.head.append(Object.assign(document.createElement('script'), { textContent: code }));
    if (!window.echarts) throw new Error('the plots did not start');
  }

  async function draw() {
    theme();
    const plots = JSON.parse(document.getElementById('data').textContent);
    if (!plots.length) return;
    await library();
    for (let i = 0; i < plots.length; i++) {
      const figure = document.getElementById('plot-' + i);
      const d = kinds[plots[i].kind](figure, plots[i]);
      drawn.push(Object.assign(d, { kind: plots[i].kind, figure }));
      d.render();
      if (i === 0) {
        d.chart.getZr().flush();
        window.report.first = performance.now() - begun;
        await new Promise(requestAnimationFrame);
      }
    }
    let waiting = 0;
    new ResizeObserver(() => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(resize); }).observe(document.body);
  }
  // What tests, and pages that show this one, may ask for: the plots, and when all are drawn.
  window.report = { plots: drawn, first: null };
  window.report.ready = draw().catch((reason) => {
    for (const box of document.querySelectorAll('.plot')) {
      box.textContent = 'This browser cannot draw the plots: ' + reason.message + '.';
    }
  });
})();

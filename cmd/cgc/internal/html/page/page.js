// The page: its theme and width, and the drawing of its plots.

const kinds = { scatter: plane, network: plane, bars, heatmap, figure: lines };

// The theme follows the system until the user presses the switch.
const dark = matchMedia('(prefers-color-scheme: dark)');
let chosen = null,
  printing = false;
const button = document.getElementById('theme');
function theme() {
  const now = printing ? 'light' : chosen || (dark.matches ? 'dark' : 'light');
  if (root.dataset.theme !== now) {
    root.dataset.theme = now;
    button.textContent = now === 'dark' ? 'light' : 'dark';
    button.setAttribute('aria-label', 'use ' + button.textContent + ' colours');
    for (const d of drawn) d.render();
  }
}
button.addEventListener('click', () => {
  chosen = root.dataset.theme === 'dark' ? 'light' : 'dark';
  theme();
});
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
// For printing, the page is light and as wide as A4 paper. Each plot is drawn again on one canvas: a plot can have
// several, and Chromium prints only the last of them.
function print(begins) {
  printing = begins;
  document.body.style.width = begins ? '680px' : '';
  theme();
  resize();
  for (const { chart } of drawn) {
    const box = chart.getDom(),
      paper = begins && chart.renderToCanvas({ pixelRatio: 2 });
    box.querySelector('.paper')?.remove();
    if (paper) box.append(Object.assign(paper, { className: 'paper' }));
  }
}
addEventListener('beforeprint', () => print(true));
addEventListener('afterprint', () => print(false));

for (const copy of document.querySelectorAll('.copied button')) {
  copy.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(copy.parentElement.querySelector('code').textContent);
      copy.textContent = 'copied';
    } catch (_) {
      getSelection().selectAllChildren(copy.parentElement.querySelector('code'));
      copy.textContent = 'selected';
    }
    say(copy.textContent);
    setTimeout(() => {
      copy.textContent = 'copy';
    }, 1500);
  });
}

// library decompresses ECharts from the page and runs it. The page's policy contains its hash and blocks any other
// script.
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
  new ResizeObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(resize);
  }).observe(document.body);
}
// For tests and for pages that embed this page: the plots, and promises that are resolved when they are drawn.
window.report = { plots: drawn, first: null };
window.report.ready = draw().catch((reason) => {
  for (const box of document.querySelectorAll('.plot')) {
    box.textContent = 'This browser cannot draw the plots: ' + reason.message + '.';
  }
});

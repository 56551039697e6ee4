// plane draws layers of marks above edges.
function plane(figure, plot) {
  const layers = plot.kind === 'network' ? [plot.marks] : plot.layers;
  const views = plot.kind === 'network' ? [{ x: '', y: '', at: [plot.at] }] : plot.views;
  const links = plot.links || [],
    box = figure.querySelector('.plot');
  const tall = plot.kind === 'network' ? 0.9 : 0.58;
  const height = () => Math.round(Math.max(320, Math.min(620, box.clientWidth * tall))) + 'px';
  box.style.height = height();
  const chart = echarts.init(box);
  let view = 0,
    narrow = 1,
    kept = null; // the part to which the reader zoomed
  const present = new Set(layers.flatMap((l) => l.class));
  const names = plot.classes.map((name, c) => (present.has(c) ? name : null));
  const shown = key(figure, names, icon, () => render());
  const outside = element('li');
  const sizes = layerKey(figure, layers, outside);

  if (plot.unions && plot.unions.length)
    slider(figure, plot, () => {
      sizes();
      render();
    });

  const place = (l, i) => views[view].at[l][i];
  // range gives both axes the same scale, with room for all marks. start and end delimit the visible part in percent:
  // all but the outermost 2% of the marks on each side, so that a few outliers do not compress the rest.
  function range() {
    let x0 = Infinity,
      x1 = -Infinity,
      y0 = Infinity,
      y1 = -Infinity;
    for (const layer of views[view].at) {
      for (const [x, y] of layer) {
        if (x < x0) x0 = x;
        if (x > x1) x1 = x;
        if (y < y0) y0 = y;
        if (y > y1) y1 = y;
      }
    }
    const sorted = [0, 1].map((k) =>
      views[view].at
        .flat()
        .map((at) => at[k])
        .sort((a, b) => a - b),
    );
    const around = (plot.radius || 0) * 1.1,
      w = chart.getWidth() - (plot.kind === 'network' ? 12 : 28),
      h = chart.getHeight() - 30;
    const unit = Math.max((x1 - x0 + 2 * around) / w, (y1 - y0 + 2 * around) / h, 1e-12) * 1.05;
    const x = (x0 + x1) / 2,
      y = (y0 + y1) / 2;
    const all = {
      x: [x - (unit * w) / 2, x + (unit * w) / 2],
      y: [y - (unit * h) / 2, y + (unit * h) / 2],
      unit,
      part: 1,
      out: 0,
    };
    const n = sorted[0].length,
      cut = plot.kind === 'scatter' && n >= 50 ? Math.ceil(n * 0.02) : 0;
    const side = sorted.map((s) => [s[cut], s[n - 1 - cut]]);
    const near = side.map(([a, b]) => [a - 0.2 * (b - a), b + 0.2 * (b - a)]);
    const part = Math.max((near[0][1] - near[0][0]) / (unit * w), (near[1][1] - near[1][0]) / (unit * h));
    if (!(part < 0.7))
      return {
        ...all,
        zoom: [
          [0, 100],
          [0, 100],
        ],
      };
    const zoom = near.map(([a, b], k) => {
      const [low, high] = k ? all.y : all.x,
        middle = (((a + b) / 2 - low) / (high - low)) * 100;
      const start = Math.min(100 - part * 100, Math.max(0, middle - part * 50));
      return [start, start + part * 100];
    });
    const sees = (k, v) => {
      const [low, high] = k ? all.y : all.x,
        p = ((v - low) / (high - low)) * 100;
      return p >= zoom[k][0] && p <= zoom[k][1];
    };
    const out = views[view].at.flat().filter(([a, b]) => !sees(0, a) || !sees(1, b)).length;
    return { ...all, unit: unit * part, zoom, out };
  }
  function size(layer, unit) {
    if (!layer.size) return () => (layer === layers.at(-1) ? 10 : 5); // condensed nodes have an outline
    const most = layer.size.reduce((a, b) => Math.max(a, b), 0);
    const count = layer.size.length,
      room = Math.sqrt(chart.getWidth() / 900);
    const largest = plot.radius ? (2 * plot.radius) / unit : room * (count <= 100 ? 30 : count <= 600 ? 22 : 15);
    return (i) => Math.max(count <= 600 ? 5 : 4, largest * Math.sqrt(layer.size[i] / most));
  }
  const heaviest = (plot.weight || []).reduce((a, b) => Math.max(a, b), 0);
  function series(r) {
    const all = [
      {
        type: 'lines',
        id: 'links',
        coordinateSystem: 'cartesian2d',
        silent: true,
        z: 1,
        data: links.map(([a, b], e) => ({
          coords: [place(0, a), place(0, b)],
          lineStyle: { width: plot.weight ? 0.6 + (1.6 * plot.weight[e]) / heaviest : 1.2 },
        })),
        lineStyle: { color: css('--faint'), opacity: 0.7, curveness: 0 },
      },
      {
        type: 'lines',
        id: 'near',
        coordinateSystem: 'cartesian2d',
        silent: true,
        z: 5,
        data: [],
        lineStyle: { color: css('--ink'), opacity: 0.55, width: 1, curveness: 0 },
      },
      {
        type: 'scatter',
        id: 'ring',
        silent: true,
        z: 6,
        symbolSize: 9,
        data: [],
        itemStyle: { color: 'transparent', borderColor: css('--ink'), borderWidth: 1.4 },
      },
    ];
    layers.forEach((layer, l) => {
      const diameter = size(layer, r.unit),
        top = l === layers.length - 1,
        data = plot.classes.map(() => []);
      layer.class.forEach((c, i) => data[c].push([...place(l, i), i]));
      data.forEach((points, c) =>
        all.push({
          type: 'scatter',
          id: l + '-' + c,
          z: 2 + l,
          data: points,
          symbol: shape(c),
          large: false,
          symbolSize: (value) => diameter(value[2]),
          silent: !shown.shows(c),
          itemStyle: {
            // Marks below a condensed node show through it.
            color: classColour(c) + (top && layers.length > 1 ? '90' : ''),
            opacity: shown.shows(c) ? (top ? 1 : 0.75) : 0.05,
            borderColor: top ? css('--ink') : 'transparent',
            borderWidth: top ? (layer.class.length > 300 ? 0.8 : 1.3) : 0,
          },
          emphasis: { scale: 1.25, itemStyle: { opacity: 1, borderColor: css('--ink'), borderWidth: 1.5 } },
        }),
      );
    });
    return all;
  }
  // near highlights the marks related to a mark: its source nodes, its owner, its neighbours.
  function near(l, i) {
    const lines = [],
      ring = [],
      from = place(l, i);
    const add = (at) => {
      lines.push({ coords: [from, at] });
      ring.push(at);
    };
    if (l > 0 && layers[l - 1].owner)
      layers[l - 1].owner.forEach((o, j) => {
        if (o === i) add(place(l - 1, j));
      });
    if (layers[l].owner && layers[l].owner[i] >= 0) add(place(l + 1, layers[l].owner[i]));
    for (const [a, b] of links) if (a === i || b === i) add(place(0, a === i ? b : a));
    chart.setOption({
      series: [
        { id: 'near', data: lines },
        { id: 'ring', data: ring },
      ],
    });
  }
  function far() {
    chart.setOption({
      series: [
        { id: 'near', data: [] },
        { id: 'ring', data: [] },
      ],
    });
  }
  // words returns a description of a mark.
  function words(l, i) {
    const layer = layers[l],
      owner = layer.owner && layer.owner[i] >= 0 && layers[l + 1];
    return [
      layer.noun + ' ' + layer.label[i],
      plot.classes[layer.class[i]],
      layer.detail && layer.detail[i],
      owner && 'in ' + owner.noun + ' ' + owner.label[layer.owner[i]],
    ].filter(Boolean);
  }
  const describe = (p) => tip(...words(Number(p.seriesId.split('-')[0]), p.value[2]));
  function render() {
    const r = range(),
      v = views[view],
      coarse = matchMedia('(pointer: coarse)').matches;
    const axis = (name, [min, max]) => ({
      type: 'value',
      min,
      max,
      name,
      nameLocation: 'middle',
      nameGap: 7,
      nameTextStyle: { ...label(), color: css('--faint') },
      axisLabel: { show: false },
      axisTick: { show: false },
      axisLine: { show: false },
      splitLine: { show: false },
    });
    const window = kept || r.zoom,
      out = kept ? 0 : r.out;
    outside.textContent = out ? `${count(out)} ${out === 1 ? 'mark' : 'marks'} outside, ⤢ shows all` : '';
    const zoom = {
      type: 'inside',
      filterMode: 'none',
      zoomOnMouseWheel: 'ctrl',
      moveOnMouseMove: !coarse || narrow < 1,
      preventDefaultMouseMove: !coarse,
    };
    chart.setOption(
      {
        ...base(),
        grid: { left: plot.kind === 'network' ? 6 : 22, right: 6, top: 6, bottom: 24, outerBoundsMode: 'none' },
        xAxis: axis(v.x, r.x),
        yAxis: axis(v.y, r.y),
        dataZoom: [
          { ...zoom, xAxisIndex: 0, start: window[0][0], end: window[0][1] },
          { ...zoom, yAxisIndex: 0, start: window[1][0], end: window[1][1] },
        ],
        series: series(r),
      },
      { replaceMerge: ['series'] },
    );
    chart.setOption({ tooltip: { trigger: 'item', formatter: describe } });
  }
  function zoom(factor) {
    const now = chart.getOption().dataZoom;
    const batch = now.map(({ start, end }, dataZoomIndex) => {
      const middle = (start + end) / 2,
        half = Math.min(50, Math.max(0.5, ((end - start) / 2) * factor));
      const at = Math.min(100 - half, Math.max(half, middle));
      return { dataZoomIndex, start: at - half, end: at + half };
    });
    chart.dispatchAction({ type: 'dataZoom', batch });
  }
  // pan moves the visible part by a fraction of its size.
  function pan(...by) {
    const batch = chart.getOption().dataZoom.map(({ start, end }, dataZoomIndex) => {
      const move = Math.min(100 - end, Math.max(-start, by[dataZoomIndex] * (end - start)));
      return { dataZoomIndex, start: start + move, end: end + move };
    });
    chart.dispatchAction({ type: 'dataZoom', batch });
  }
  chart.on('datazoom', () => {
    const { start, end } = chart.getOption().dataZoom[0],
      before = narrow;
    outside.textContent = '';
    kept = chart.getOption().dataZoom.map((z) => [z.start, z.end]);
    narrow = (end - start) / 100;
    if (before < 1 !== narrow < 1 && matchMedia('(pointer: coarse)').matches) {
      chart.setOption({ dataZoom: [0, 1].map(() => ({ moveOnMouseMove: narrow < 1 })) });
    }
  });
  chart.on('mouseover', (p) => {
    if (p.seriesType === 'scatter') near(Number(p.seriesId.split('-')[0]), p.value[2]);
  });
  chart.on('mouseout', far);
  chart.getZr().on('dblclick', () => zoom(1e9));
  choices(figure, views.map((v) => v.name).filter(Boolean), (i) => {
    view = i;
    kept = null;
    render();
  });
  for (const [sign, what, factor] of [
    ['+', 'zoom in', 0.6],
    ['−', 'zoom out', 1 / 0.6],
    ['⤢', 'show all', 1e9],
  ]) {
    const button = element('button', { type: 'button', class: 'sign', title: what, 'aria-label': what }, sign);
    button.addEventListener('click', () => zoom(factor));
    figure.querySelector('.tools').append(button);
  }
  const top = layers.length - 1;
  const mark = (type, i) => {
    const of = layers[top].class,
      id = top + '-' + of[i];
    chart.dispatchAction({
      type,
      seriesIndex: chart.getOption().series.findIndex((s) => s.id === id),
      dataIndex: of.slice(0, i).filter((c) => c === of[i]).length,
    });
  };
  byKeys(box, layers[top], {
    words: (i) => words(top, i),
    show: (i) => {
      const pixel = () => chart.convertToPixel({ gridIndex: 0 }, place(top, i));
      if (!chart.containPixel('grid', pixel())) {
        const grid = [0, 1].map((k) => chart.convertFromPixel({ gridIndex: 0 }, [chart.getWidth() / 2, chart.getHeight() / 2])[k]);
        const edge = chart.convertFromPixel({ gridIndex: 0 }, [chart.getWidth(), 0]);
        pan(...[0, 1].map((k) => (place(top, i)[k] - grid[k]) / (2 * (edge[k] - grid[k]))));
      }
      near(top, i);
      mark('highlight', i);
      return pixel();
    },
    hide: (i) => {
      mark('downplay', i);
      far();
    },
    zoom,
    pan,
  });
  return {
    chart,
    render,
    resized: () => {
      kept = null;
      box.style.height = height();
      chart.resize();
    },
  };
}

// bars draws rows of bars, or rows of marks with intervals.
function bars(figure, plot) {
  const box = figure.querySelector('.plot'),
    several = plot.series.length;
  // Many rows are drawn as vertical bars if there is room.
  const upright = () => !plot.points && plot.rows.length > 16 && box.clientWidth > 16 * plot.rows.length;
  const row = plot.points ? Math.max(34, 18 * several + 10) : plot.rows.length > 24 ? 20 : 28;
  box.style.height = upright() ? '330px' : plot.rows.length * row + 58 + 'px';
  const chart = echarts.init(box);
  const paint = (s) => [css('--after'), css('--before'), css('--c1'), css('--c2')][s % 4];
  const swatch = (s) => {
    const mark = icon(plot.points ? 0 : colours);
    mark.firstChild.style.fill = plot.series[s].tick
      ? 'var(--c1)'
      : ['var(--after)', 'var(--before)', 'var(--c1)', 'var(--c2)'][s % 4];
    return mark;
  };
  const { shows } =
    several > 1
      ? key(
          figure,
          plot.series.map((s) => s.name),
          swatch,
          () => render(),
        )
      : { shows: () => true };
  function point(s, index) {
    const samples = (i) => (s.samples && s.samples[i]) || [];
    const interval = (i) => (s.low && s.low[i] !== null ? [s.low[i], s.high[i]] : []);
    const all = (i) => [s.values[i], ...samples(i), ...interval(i)]; // all numbers that must fit on the axis
    return {
      type: 'custom',
      name: s.name,
      z: 3,
      encode: { x: [0, 2, 3], y: 1 },
      clip: false, // the label follows the interval, which may end at the edge
      data: s.values.map((v, i) => (v === null ? [NaN, i, NaN, NaN] : [v, i, Math.min(...all(i)), Math.max(...all(i))])),
      renderItem: (_, api) => {
        if (!Number.isFinite(api.value(0))) return null;
        const shift = (index - (several - 1) / 2) * 17,
          colour = paint(index),
          opacity = shows(index) ? 1 : 0.08;
        const [x, y] = api.coord([api.value(0), api.value(1)]).map((v, k) => v + (k ? shift : 0));
        const i = api.value(1),
          across = (v) => api.coord([v, i])[0];
        const stroke = { stroke: colour, lineWidth: 2, opacity };
        const line = (x1, y1, x2, y2) => ({ type: 'line', shape: { x1, y1, x2, y2 }, style: stroke });
        const dot = (cx, r, style) => ({ type: 'circle', shape: { cx, cy: y, r }, style: { opacity, ...style } });
        const ends = interval(i).map(across);
        return {
          type: 'group',
          children: [
            ...(ends.length ? [line(ends[0], y, ends[1], y)] : []),
            ...ends.map((end) => line(end, y - 4, end, y + 4)),
            dot(x, 5.5, { fill: colour }),
            ...samples(i).map((v) => dot(across(v), 2.5, { fill: css('--card'), stroke: colour, lineWidth: 1.2 })),
            {
              type: 'text',
              x: Math.max(x, across(api.value(3))) + 10,
              y: y - 6,
              style: {
                text: s.texts[i][0],
                fill: css('--soft'),
                opacity,
                font: '12px ' + getComputedStyle(document.body).fontFamily,
              },
            },
          ],
        };
      },
    };
  }
  // percents returns the ends of an axis and the distance of its ticks, so that all ticks are multiples of it and none
  // is above 100% if no number is.
  function percents(ticks) {
    const all = plot.series
      .flatMap((s) => [s.values, s.low || [], s.high || [], ...(s.samples || []).map((some) => some || [])].flat())
      .filter(Number.isFinite);
    if (!all.length) return {};
    const [low, high] = [Math.min(...all) - 0.2, Math.max(...all) + 0.2];
    const interval = [0.5, 1, 2, 5, 10, 20].find((step) => Math.ceil(high / step) - Math.floor(low / step) <= ticks) || 50;
    const max = Math.ceil(high / interval) * interval;
    return { interval, min: Math.floor(low / interval) * interval, max: high <= 100.2 ? Math.min(100, max) : max };
  }
  function bar(s, index) {
    const common = { name: s.name, data: s.values.map((v) => (v === null ? '-' : v)), z: s.tick ? 4 : 3 };
    const opacity = shows(index) ? 1 : 0.08;
    if (s.tick) {
      return {
        ...common,
        type: 'scatter',
        symbol: 'rect',
        symbolSize: upright() ? [14, 3] : [3, row * 0.62],
        itemStyle: { color: css('--c1'), opacity },
      };
    }
    return {
      ...common,
      type: 'bar',
      barMaxWidth: 16,
      barGap: '12%',
      itemStyle: { color: paint(index), opacity, borderRadius: 2 },
    };
  }
  function render() {
    const wide = Math.min(190, chart.getWidth() * 0.34),
      stands = upright();
    const values = { ...valueAxis(plot.axis), splitNumber: chart.getWidth() < 460 ? 3 : 5 };
    if (plot.points) Object.assign(values, percents(values.splitNumber));
    const words = {
      type: 'category',
      inverse: !stands,
      data: plot.rows,
      axisTick: { show: false },
      axisLine: { lineStyle: { color: css('--line') } },
      axisLabel: {
        ...label(),
        color: css('--ink'),
        width: stands ? 110 : wide,
        overflow: 'truncate',
        interval: 0,
        rotate: stands ? 60 : 0,
      },
    };
    chart.setOption(
      {
        ...base(),
        grid: {
          left: 4,
          right: plot.points ? 52 : 16,
          top: 6,
          bottom: stands ? 4 : 30,
          outerBoundsMode: 'same',
          outerBoundsContain: stands ? 'all' : 'axisLabel',
        },
        xAxis: stands ? words : values,
        yAxis: stands ? { ...values, nameGap: 34 } : words,
        series: plot.series.map(plot.points ? point : bar),
      },
      { replaceMerge: ['series'] },
    );
    chart.setOption({
      tooltip: {
        trigger: 'axis',
        axisPointer: { type: 'shadow', shadowStyle: { color: css('--line'), opacity: 0.4 } },
        formatter: (all) => {
          const i = all[0].dataIndex;
          return tip(
            plot.rows[i],
            ...plot.series.map((s) => {
              if (s.values[i] === null) return '';
              const [value, interval] = s.texts[i];
              const text = s.name + ': ' + value + (interval && ' (' + interval + ')');
              return s.detail && s.detail[i] ? text + ', ' + s.detail[i] : text;
            }),
          );
        },
      },
    });
  }
  return {
    chart,
    render,
    resized: () => {
      const height = upright() ? 330 : plot.rows.length * row + 58;
      if (box.clientHeight !== height) {
        box.style.height = height + 'px';
        chart.resize();
      }
    },
  };
}

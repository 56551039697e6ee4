// lines draws a figure: lines and marks with error bars.
function lines(box, plot) {
  const figure = box,
    area = figure.querySelector('.plot');
  area.style.height = Math.round(Math.max(280, Math.min(440, area.clientWidth * 0.6))) + 'px';
  const chart = echarts.init(area),
    filled = shapes,
    looks = 6;
  const named = plot.series.map((s) => (s.y.some((v) => v !== null) ? s.name : null));
  const shown = key(
    figure,
    named,
    (i) => icon(plot.series[i].style % looks || 0),
    () => render(),
  );
  function render() {
    const series = [];
    plot.series.forEach((s, i) => {
      const style = (s.style || 0) % looks,
        colour = classColour(style),
        opacity = shown.shows(i) ? 1 : 0.08;
      const points = s.x.map((x, j) => [x, s.y[j], s.std ? s.std[j] : 0]).filter((p) => p[1] !== null);
      series.push({
        type: 'custom',
        silent: true,
        data: points,
        z: 2,
        encode: { x: 0, y: 1 },
        renderItem: (_, api) => {
          if (!(api.value(2) > 0)) return null;
          const [x, top] = api.coord([api.value(0), api.value(1) + api.value(2)]),
            [, low] = api.coord([api.value(0), api.value(1) - api.value(2)]);
          return {
            type: 'line',
            shape: { x1: x, y1: top, x2: x, y2: low },
            style: { stroke: colour, lineWidth: 1.4, opacity: opacity * 0.8 },
          };
        },
      });
      series.push({
        type: 'line',
        name: s.name,
        id: 'line' + i,
        data: points,
        z: 3,
        symbol: filled[style],
        symbolSize: 9,
        showAllSymbol: true,
        lineStyle: {
          color: colour,
          width: s.joined ? 1.8 : 0,
          type: s.hollow ? 'dashed' : 'solid',
          opacity: s.joined ? opacity : 0,
        },
        itemStyle: { color: s.hollow ? css('--card') : colour, borderColor: colour, borderWidth: 1.6, opacity },
      });
    });
    const x = plot.words
      ? {
          ...valueAxis(plot.x),
          type: 'category',
          data: plot.words,
          axisLabel: { ...label(), rotate: plot.words.length > 5 ? 40 : 0, interval: 0 },
        }
      : { ...valueAxis(plot.x), type: plot.log_x ? 'log' : 'value', scale: true };
    chart.setOption(
      {
        ...base(),
        grid: { left: 8, right: 14, top: 12, bottom: 10, outerBoundsMode: 'same', outerBoundsContain: 'all' },
        xAxis: x,
        yAxis: { ...valueAxis(plot.y), nameGap: 40, type: plot.log_y ? 'log' : 'value', scale: true },
        series,
      },
      { replaceMerge: ['series'] },
    );
    chart.setOption({
      tooltip: {
        trigger: 'item',
        formatter: (p) =>
          tip(
            p.seriesName,
            (plot.words ? plot.words[p.value[0]] : rounded(p.value[0], 6)) +
              ': ' +
              rounded(p.value[1], 4) +
              (p.value[2] ? ' ± ' + rounded(p.value[2], 2) : ''),
          ),
      },
    });
  }
  return { chart, render };
}

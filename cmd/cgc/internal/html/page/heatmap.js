// heatmap draws a matrix in colours, with numbers if there is room.
function heatmap(figure, plot) {
  const box = figure.querySelector('.plot'),
    rows = plot.rows.length,
    columns = plot.columns.length;
  box.style.height = Math.round(Math.max(260, Math.min(640, rows * 34 + 96))) + 'px';
  const chart = echarts.init(box);
  let sheet = 0;
  choices(
    figure,
    plot.sheets.map((s) => s.name),
    (i) => {
      sheet = i;
      render();
    },
  );
  function render() {
    const s = plot.sheets[sheet],
      data = [];
    let most = 1;
    s.values.forEach((row, y) =>
      row.forEach((v, x) => {
        data.push([x, y, v]);
        most = Math.max(most, Math.abs(v));
      }),
    );
    // Colours follow the square root of values, so that small ones remain visible next to large ones.
    const root = (v) => Math.sign(v) * Math.sqrt(Math.abs(v));
    data.forEach((at, i) => {
      const end = css(at[2] < 0 ? '--low' : '--high');
      const color = ink(css('--zero'), end, Math.sqrt(Math.abs(at[2]) / most));
      data[i] = { value: [...at, root(at[2])], label: { color } };
    });
    const fits = columns <= 12 && chart.getWidth() / columns > 34,
      text = (of, v) => (of.signed && v > 0 ? '+' : '') + count(v).replace('-', '−');
    const axis = (names, name, more) => ({
      type: 'category',
      data: names,
      name,
      nameLocation: 'middle',
      nameTextStyle: label(),
      axisTick: { show: false },
      axisLine: { show: false },
      splitArea: { show: false },
      ...more,
    });
    const cell = (chart.getWidth() * 0.85) / columns,
      turn = plot.columns.some((c) => c.length * 7 > cell) ? (cell < 24 ? 90 : 45) : 0,
      small = (room) => ({ fontSize: Math.max(9, Math.min(12, room - 2)), interval: room < 11 ? 'auto' : 0 });
    chart.setOption(
      {
        ...base(),
        grid: { left: 4, right: 8, top: 6, bottom: 6, outerBoundsMode: 'same', outerBoundsContain: 'all' },
        xAxis: axis(plot.columns, plot.x, {
          nameGap: turn ? 66 : 28,
          axisLabel: {
            ...label(),
            ...small(cell),
            rotate: turn,
            width: 80,
            overflow: 'truncate',
          },
        }),
        yAxis: axis(plot.rows, plot.y, {
          inverse: true,
          nameGap: 8,
          nameLocation: 'start',
          nameTextStyle: { ...label(), align: 'right' },
          axisLabel: {
            ...label(),
            ...small((chart.getHeight() * 0.8) / rows),
            width: Math.min(120, chart.getWidth() * 0.26),
            overflow: 'truncate',
          },
        }),
        visualMap: {
          show: false,
          dimension: 3,
          min: s.signed ? -root(most) : 0,
          max: root(most),
          inRange: {
            color: s.signed ? [css('--low'), css('--zero'), css('--high')] : [css('--zero'), css('--high')],
          },
        },
        series: [
          {
            type: 'heatmap',
            data,
            itemStyle: { borderColor: css('--card'), borderWidth: columns > 24 ? 0.5 : 1.5 },
            label: { show: fits, fontSize: 11, formatter: (p) => (p.value[2] === 0 ? '' : text(s, p.value[2])) },
            emphasis: { itemStyle: { borderColor: css('--ink'), borderWidth: 1.5 } },
          },
        ],
      },
      { replaceMerge: ['series', 'visualMap'] },
    );
    chart.setOption({
      tooltip: {
        trigger: 'item',
        formatter: (p) => {
          const [x, y] = p.value;
          return tip(
            plot.y + ': ' + plot.rows[y],
            plot.x + ': ' + plot.columns[x],
            ...plot.sheets.map((other) => other.name + ': ' + text(other, other.values[y][x])),
          );
        },
      },
    });
  }
  return { chart, render };
}

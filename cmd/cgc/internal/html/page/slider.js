// slider adds a control for the number of marks of the top layer. A smaller number merges marks in the order of
// plot.unions: union k merges two marks into mark n+k, at their mean position weighted by size, and adds their sizes.
// The layer is changed in place, so that other code sees the merged marks.
function slider(figure, plot, changed) {
  const top = plot.layers[plot.layers.length - 1];
  const below = plot.layers[plot.layers.length - 2] || {};
  const all = { ...top, owner: below.owner, at: plot.views.map((v) => v.at[v.at.length - 1]) };
  const n = all.class.length,
    least = n - plot.unions.length;
  const input = element('input', { type: 'range', min: least, max: n, value: n, 'aria-label': `number of ${top.name}` });
  const said = element('span', {});
  figure.querySelector('.plot').after(element('label', { class: 'slider' }, input, said));
  const say = (marks) => {
    said.textContent = `${count(marks)} ${top.name}`;
    input.setAttribute('aria-valuetext', said.textContent);
  };
  say(n);
  // parts merges marks until the given number is left, and returns the original marks of each.
  function parts(left) {
    const whole = Array.from({ length: 2 * n - left }, (_, i) => i);
    for (let k = n - left - 1; k >= 0; k--) for (const part of plot.unions[k]) whole[part] = whole[n + k];
    const marks = new Map();
    for (let i = 0; i < n; i++) marks.set(whole[i], [...(marks.get(whole[i]) || []), i]);
    return [...marks.values()];
  }
  function mean(at, part) {
    const weight = part.reduce((sum, i) => sum + all.size[i], 0);
    return [0, 1].map((k) => part.reduce((sum, i) => sum + all.size[i] * at[i][k], 0) / weight);
  }
  function unite() {
    const list = parts(Number(input.value)),
      of = new Array(n);
    list.forEach((part, j) => part.forEach((i) => (of[i] = j)));
    top.class = list.map((part) => all.class[part[0]]);
    top.size = list.map((part) => part.reduce((sum, i) => sum + all.size[i], 0));
    top.label = list.map((part) => part.slice(0, 8).map((i) => all.label[i]).join(', ') + (part.length > 8 ? ', …' : ''));
    top.detail = list.map((part, j) =>
      part.length === 1 && all.detail ? all.detail[part[0]] : `${count(part.length)} merged, ${count(top.size[j])} ${top.unit}`,
    );
    if (all.owner) below.owner = all.owner.map((i) => (i < 0 ? i : of[i]));
    plot.views.forEach((v, k) => (v.at[v.at.length - 1] = list.map((part) => mean(all.at[k], part))));
    say(list.length);
    changed();
  }
  input.addEventListener('input', unite);
}

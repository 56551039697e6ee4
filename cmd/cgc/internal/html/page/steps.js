// byKeys makes a plane accessible without a mouse: the arrow keys step through the marks of its top layer, with the
// effect of hovering, and a screen reader describes them.
function byKeys(box, layer, act) {
  const hint = element(
    'span',
    { class: 'unseen', id: 'keys-' + box.parentElement.id },
    `Arrow keys step through the ${layer.class.length} marks called ${layer.name}. Home and End go to the first and the ` +
      'last. Plus and minus zoom, 0 shows all, Shift with arrow keys moves the view. Escape ends.',
  );
  box.after(hint);
  box.tabIndex = 0;
  box.setAttribute('role', 'application');
  box.setAttribute('aria-roledescription', 'plot');
  box.setAttribute('aria-describedby', [box.getAttribute('aria-describedby'), hint.id].filter(Boolean).join(' '));
  const label = element('div', { class: 'tip float' });
  let at = -1;
  function step(to) {
    if (!layer.class.length) return;
    if (at >= 0) act.hide(at);
    at = Math.max(0, Math.min(layer.class.length - 1, to));
    const [x, y] = act.show(at),
      words = act.words(at);
    label.replaceChildren(...tip(...words).children);
    box.append(label);
    const place = (at, room, own) => Math.max(0, Math.min(at > room / 2 ? at - own - 14 : at + 14, room - own));
    label.style.left = place(x, box.clientWidth, label.offsetWidth) + 'px';
    label.style.top = place(y, box.clientHeight, label.offsetHeight) + 'px';
    say(words.join(', '));
  }
  function leave() {
    if (at >= 0) act.hide(at);
    at = -1;
    label.remove();
  }
  function seen(factor) {
    leave();
    act.zoom(factor);
  }
  const moves = {
    ArrowRight: [0.2, 0],
    ArrowLeft: [-0.2, 0],
    ArrowUp: [0, 0.2],
    ArrowDown: [0, -0.2],
  };
  const keys = {
    ArrowRight: () => step(at + 1),
    ArrowDown: () => step(at + 1),
    ArrowLeft: () => step(at - 1),
    ArrowUp: () => step(at - 1),
    Home: () => step(0),
    End: () => step(layer.class.length - 1),
    '+': () => seen(0.6),
    '=': () => seen(0.6),
    '-': () => seen(1 / 0.6),
    0: () => seen(1e9),
    Escape: leave,
  };
  box.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const move = event.shiftKey && moves[event.key];
    if (move) {
      leave();
      act.pan(...move);
    }
    else if (keys[event.key]) keys[event.key]();
    else return;
    event.preventDefault();
  });
  box.addEventListener('blur', leave);
}

// Displays elements, numbers, tables and progress bars.

export const byId = (id) => document.getElementById(id);

/** Returns an element with attributes and content. Strings are never parsed as HTML. */
export function element(name, attributes = {}, ...content) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...content);
  return e;
}

export const count = (n) => n.toLocaleString("en");

/** Formats a number of bytes. */
export function size(bytes) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let at = 0;
  const rounded = (n) => Number(n.toPrecision(3));
  while (rounded(bytes) >= 1000 && at < units.length - 1) {
    bytes /= 1000;
    at++;
  }
  return `${rounded(bytes)} ${units[at]}`;
}

/** Formats a number of seconds. */
export function time(seconds) {
  if (seconds < 10) return `${seconds.toFixed(seconds < 1 ? 2 : 1)} s`;
  const whole = Math.round(seconds);
  if (whole < 100) return `${whole} s`;
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
}

/** Formats part/whole in percent with three significant digits. */
export const percent = (part, whole) => `${Number((100 * part / whole).toPrecision(3))}%`;

/** Fills a table with a row of column names, then rows whose first cell is their header. */
export function fill(table, columns, rows) {
  const line = (cells, name) => element("tr", {}, ...cells.map((cell, i) =>
    element(name === "th" || i === 0 ? "th" : "td", name === "th" ? { scope: "col" } : i === 0 ? { scope: "row" } : {}, cell)));
  table.replaceChildren(element("thead", {}, line(columns, "th")),
    element("tbody", {}, ...rows.map((cells) => line(cells, "td"))));
}

/** Shows sentences as a list, or hides the list if there are none. */
export function list(ul, sentences) {
  ul.replaceChildren(...sentences.map((sentence) => element("li", {}, sentence)));
  ul.hidden = sentences.length === 0;
}

/** Announces a sentence to screen readers. */
export function say(sentence) {
  byId("said").textContent = sentence;
}

/** Shows a problem and moves the focus to it. Without content, it hides the box. */
export function problem(box, ...content) {
  box.replaceChildren(...content);
  box.hidden = content.length === 0;
  if (content.length > 0) box.focus();
}

/** A progress bar with a label, the time, and a Stop button. */
export class Work {
  constructor(box, stop) {
    this.box = box;
    this.label = element("span", { class: "work-label", id: `${box.id}-label` });
    this.clock = element("span", { class: "work-time" });
    this.bar = element("progress", { "aria-labelledby": `${box.id}-label`, max: "1" });
    this.button = element("button", { type: "button", class: "button" }, "Stop");
    this.button.addEventListener("click", stop);
    box.replaceChildren(element("div", { class: "work-line" }, this.label, this.clock), this.bar, this.button);
  }

  begin(label) {
    this.begun = performance.now();
    this.left = null;
    this.bar.removeAttribute("value"); // the share is still unknown
    this.box.hidden = false;
    this.text = "";
    this.tell(label);
    this.tick();
    this.timer = setInterval(() => this.tick(), 100);
  }

  /** Shows the current step and the finished share of the work, which is null if unknown. */
  tell(label, share = null) {
    if (share !== null) this.bar.value = share;
    if (label === this.text) return;
    this.text = label;
    this.label.textContent = label;
    say(label);
  }

  /** Shows the progress of counted work, and estimates the time left from the share that is done. */
  counted(label, done, total) {
    this.tell(label, done / total);
    const spent = (performance.now() - this.begun) / 1000;
    this.left = spent > 1 ? spent / done * (total - done) : null;
  }

  tick() {
    const left = this.left === null ? "" : `, about ${time(Math.max(1, Math.round(this.left)))} left`;
    this.clock.textContent = `${((performance.now() - this.begun) / 1000).toFixed(1)} s${left}`;
  }

  end() {
    clearInterval(this.timer);
    this.box.hidden = true;
  }
}

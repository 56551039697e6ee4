// The page: it reads files, sends them to the program, and shows the answers.
import { Engine, OutOfMemory, Stopped } from "./engine.js";
import { addressable, chosen, dropped, root, shown, unpacked } from "./input.js";
import { byId, count, element, fill, list, percent, problem, say, size, time, Work } from "./view.js";
import { showReport } from "./report.js";

/** The label of each step, and the position in the progress bar where it begins. */
const steps = {
  read: ["Reading the files", 0], describe: ["Looking at the graph", 0.9],
  propagate: ["Spreading features over the edges", 0.05], assess: ["Fitting a linear classifier", 0.35],
  augment: ["Drawing more embeddings", 0.5], partition: ["Grouping the nodes of each class", 0.55],
  generate: ["Joining the condensed nodes", 0.8], write: ["Writing the result", 0.9],
};

const engine = new Engine((share) => {
  byId("build").textContent = share < 1 ? `Loading the program, ${Math.round(100 * share)}%` : "Starting the program…";
});

/** The state of the page: the open graph, the condensed graph, and the links that save its files. */
const state = { path: null, bytes: 0, opened: null, condensed: null, links: [], busy: false };

const reading = new Work(byId("reading"), () => engine.stop());
const condensing = new Work(byId("condensing"), () => engine.stop());
const converting = new Work(byId("converting"), () => engine.stop());
const trainingWork = new Work(byId("training-work"), () => engine.stop());

/** The controls that are disabled during work. */
const busyButtons = "button.main, #demo, #folder, #files, #formats-of-result button";

/**
 * Runs action with a progress bar, and shows any error in box. Returns the result of action, or undefined if it failed.
 */
async function work(bar, box, label, action) {
  if (state.busy) return undefined;
  state.busy = true;
  document.body.classList.add("busy");
  for (const button of document.querySelectorAll(busyButtons)) button.disabled = true;
  problem(box);
  bar.begin(label);
  try {
    return await action();
  } catch (error) {
    problem(box, ...explain(error));
    return undefined;
  } finally {
    bar.end();
    state.busy = false;
    document.body.classList.remove("busy");
    for (const button of document.querySelectorAll(busyButtons)) button.disabled = false;
  }
}

/** Returns the content that the page shows for an error. */
function explain(error) {
  if (error instanceof Stopped) return ["Stopped. The result of this step was discarded."];
  if (error instanceof OutOfMemory) return [tooLarge("it took all of that")];
  if (error.choose?.length > 0) {
    const buttons = error.choose.map(({ name, path }) => {
      const alone = error.choose.filter((other) => other.name === name).length === 1;
      const button = element("button", { type: "button", class: "button" }, alone ? name : shown(path));
      button.addEventListener("click", () => open(path));
      return button;
    });
    return [element("p", {}, "These files hold several graphs. Which one?"), element("p", { class: "buttons" }, ...buttons)];
  }
  if (error.constructor === Error && /^(exit code|RuntimeError|panic)/.test(error.message)) {
    return [element("p", {}, "This is a bug in cgc. Please report it with the text below. The page still works."),
      element("pre", {}, error.message.slice(0, 2000))];
  }
  return [sentence(error.message)];
}

/** Capitalises a sentence, unless it begins with a file name or a graph's, and adds a full stop if necessary. */
function sentence(text, graph) {
  const place = text.split(": ")[0];
  const capital = /^[a-z]/.test(text) && !/[./\\]/.test(place) && !(graph && text.startsWith(graph));
  return (capital ? text[0].toUpperCase() + text.slice(1) : text) + (/[.!?]$/.test(text) ? "" : ".");
}

/** Formats a number of nodes with a verb in the singular or plural. */
const some = (n, one, more) => `${count(n)} ${n === 1 ? `node ${one}` : `nodes ${more}`}`;

/** Returns the message for a graph that is too large, with the limit and the reason. */
function tooLarge(why) {
  return `This graph does not fit into a browser: a page can use ${size(addressable)} at most, and ${why}. ` +
    "The command condenses larger graphs: cgc condense GRAPH -o small.safetensors.";
}

/** Opens the graph in files, in place of the current one. */
async function take(files) {
  if (files.length === 0) {
    problem(byId("choose-problem"), "There is no file in what you chose.");
    return;
  }
  const bytes = await unpacked(files);
  if (bytes > addressable) {
    forget();
    problem(byId("choose-problem"), tooLarge(`these files hold ${size(bytes)} when decompressed`));
    return;
  }
  await open(root(files), files, files.reduce((sum, { content }) => sum + content.size, 0));
}

/** Forgets the current graph, and hides everything about it. */
function forget() {
  state.opened = state.condensed = null;
  for (const id of ["predict", "graph", "condense", "result", "train"]) byId(id).hidden = true;
}

/**
 * Opens a graph and describes it. If files is given, they replace the program's files. bytes is the size of the graph's
 * files, or 0 if it is unknown.
 */
async function open(path, files = null, bytes = 0) {
  forget();
  const opened = await work(reading, byId("choose-problem"), steps.read[0], async () => {
    if (files) await engine.take(files);
    return engine.call({ do: "open", graph: path }, ({ stage, done, total }) => {
      reading.tell(steps[stage]?.[0] ?? stage, total > 0 ? 0.9 * done / total : steps[stage]?.[1] || null);
    });
  });
  if (!opened) return;
  if (opened.predicted) {
    predicted(opened);
    return;
  }
  state.path = path;
  state.bytes = bytes;
  state.opened = opened;
  describe(opened);
}

/** Shows the predictions for new nodes. */
function predicted(p) {
  const nodes = `${count(p.nodes)} ${p.nodes === 1 ? "node" : "nodes"}`;
  byId("predict-text").textContent = `${p.model} predicted ${nodes} in ${time(p.seconds)}, without the graph.`;
  list(byId("predict-notes"), p.notes.map((note) => sentence(note, p.predicted)));
  for (const old of state.links) URL.revokeObjectURL(old.href);
  state.links = [link(p.files[0], p.contents[0])];
  byId("predict-downloads").replaceChildren(...state.links);
  fill(byId("predict-classes"), ["Class", "Nodes"], p.classes.map(({ name, nodes }) => [name, count(nodes)]));
  const rows = p.first.map(([id, name, share]) => [id, name, `${share}%`]);
  fill(byId("predict-nodes"), ["Node", "Class", "Probability"], rows);
  byId("predict").hidden = false;
  byId("predict-title").focus();
  say(`${nodes} predicted.`);
}

/** Shows a description of the graph. */
function describe(g) {
  byId("graph-name").textContent = g.graph;
  const tiles = [
    ["nodes", count(g.nodes)], ["edges", count(g.edges)], ["features", count(g.features)], ["classes", count(g.classes)],
    ["training nodes", count(g.train)], ["edges within a class", g.edges > 0 ? percent(g.homophily, 1) : "–"],
  ];
  byId("facts").replaceChildren(...tiles.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  const odd = [...g.notes];
  if (g.isolated > 0) odd.push(`${some(g.isolated, "has", "have")} no edge.`);
  if (g.unlabelled > 0) odd.push(`${some(g.unlabelled, "has", "have")} no label.`);
  if (g.edges > 0 && g.homophily < 0.5) {
    odd.push("Fewer than half of the edges join nodes of one class. Condensing works best where most edges do.");
  }
  list(byId("notes"), odd.map((note) => sentence(note, g.graph)));
  fill(byId("classes"), ["Class", "Nodes", "Train", "Validation", "Test"], g.per_class.map((c, i) =>
    [g.class_names?.[i] ?? String(i), count(c.all), count(c.train), count(c.val), count(c.test)]));
  byId("graph").hidden = false;
  if (g.problem) {
    problem(byId("graph-problem"), `This graph cannot be condensed: ${g.problem}.`);
    return;
  }
  problem(byId("graph-problem"));
  configure(g);
  byId("graph-title").focus();
  say(`${g.graph} is open: ${count(g.nodes)} nodes, ${count(g.edges)} edges.`);
}

/** Fills the form with the defaults for the graph. */
function configure(g) {
  const { config } = g;
  for (const input of [byId("nodes"), byId("nodes-slider")]) {
    input.min = g.least;
    input.max = g.most;
    input.value = config.nodes;
  }
  byId("nodes-hint").textContent =
    `${count(g.least)} to ${count(g.most)}. ${g.why.map((why) => `Suggested: ${why}.`).join(" ")}`;
  byId("method").selectedIndex = 0;
  for (const name of ["partition", "propagation", "hops", "seed"]) byId(name).value = config[name];
  for (const name of ["standardize", "inductive"]) byId(name).checked = config[name];
  limit();
  problem(byId("condense-problem"));
  byId("condense").hidden = false;
}

/** Disables the fields that auto does not read, because it chooses them. */
function limit() {
  for (const name of ["partition", "propagation", "hops"]) byId(name).disabled = byId("method").value === "auto";
}

/** Returns the values of the form as a configuration for the program. */
function configuration() {
  const config = {};
  const alone = byId("method").value === "auto"; // auto chooses the other parameters
  for (const name of alone ? ["nodes", "seed"] : ["nodes", "hops", "seed"]) {
    const text = byId(name).value.trim();
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(Number(text))) {
      throw new Error(`${name}: ${text || "nothing"}, must be an integer from 0 to ${count(Number.MAX_SAFE_INTEGER)}`);
    }
    config[name] = Number(text);
  }
  for (const name of alone ? ["method"] : ["method", "partition", "propagation"]) config[name] = byId(name).value;
  for (const name of ["standardize", "inductive"]) config[name] = byId(name).checked;
  return config;
}

async function condense() {
  byId("result").hidden = byId("train").hidden = true;
  const result = await work(condensing, byId("condense-problem"), "Starting", () =>
    engine.call({ do: "condense", graph: state.path, config: configuration() }, ({ stage }) => {
      condensing.tell(steps[stage]?.[0] ?? stage, stage === "read" ? 0 : steps[stage]?.[1] ?? null);
    }));
  if (!result) return;
  state.condensed = result;
  engine.add(result.files[0].path, result.contents[0]);
  show(result);
  await report(condensing, byId("condense-problem"));
}

/** Draws the report about the condensed graph and the training runs so far. */
async function report(bar, box) {
  const result = await work(bar, box, "Drawing the report", () =>
    engine.call({ do: "report", graph: state.path, file: state.condensed.files[0].path }));
  if (!result) return;
  offer(result);
  showReport(result.contents[0]);
}

/** Shows the condensed graph. */
function show(r) {
  const g = state.opened;
  const file = r.files[0];
  for (const old of state.links) URL.revokeObjectURL(old.href);
  state.links = [];
  const whole = state.bytes > 0 ? size(state.bytes) : state.path === "demo" ? "built in" : "–";
  const rows = [
    [g.graph, count(g.nodes), count(g.edges), count(g.train), whole],
    ["condensed", count(r.nodes), count(r.edges), count(r.nodes), size(file.bytes)],
    ["share", percent(r.nodes, g.nodes), g.edges > 0 ? percent(r.edges, g.edges) : "–", percent(r.nodes, g.train),
      state.bytes > 0 ? percent(file.bytes, state.bytes) : "–"],
  ];
  fill(byId("sizes"), [`In ${time(r.total)}`, "nodes", "edges", "training nodes", "size of files"], rows);
  list(byId("warnings"), [r.chosen && `method: ${r.chosen}`, ...r.warnings].filter(Boolean).map((line) => sentence(line)));
  offer(r);
  byId("formats-of-result").replaceChildren(...r.formats.map(({ name, title, extension }) => {
    const button = element("button", { type: "button", class: "button small", "data-format": name }, extension,
      element("span", { class: "hidden" }, ` (${title})`));
    button.addEventListener("click", () => convert(name));
    return button;
  }));
  byId("python").textContent = `from safetensors.torch import load_file; small = load_file("${file.name}")`;
  byId("command").textContent = r.command;
  byId("report-part").hidden = true;
  problem(byId("convert-problem"));
  byId("accuracies").hidden = true;
  state.accuracies = [];
  problem(byId("train-problem"));
  byId("result").hidden = false;
  byId("train").hidden = g.test === 0 || g.val === 0;
  byId("result-title").focus();
  say(`Done: ${count(r.nodes)} nodes and ${count(r.edges)} edges.`);
}

/** Returns a link that saves a file of a result. */
function link({ name, what, bytes }, content) {
  const type = name.endsWith(".html") ? "text/html" : "application/octet-stream";
  const url = URL.createObjectURL(new Blob([content], { type }));
  return element("a", { class: "button", href: url, download: name }, `${name}, ${size(bytes)}`,
    element("span", { class: "hidden" }, `: ${what}`));
}

/** Adds download links for the files of a result, replacing links with the same names. */
function offer(result) {
  const links = new Map(state.links.map((a) => [a.download, a]));
  result.files.forEach((file, i) => {
    const old = links.get(file.name);
    if (old) URL.revokeObjectURL(old.href);
    links.set(file.name, link(file, result.contents[i]));
  });
  state.links = [...links.values()];
  byId("downloads").replaceChildren(...state.links);
}

/** Writes the condensed graph in another format, and saves it. */
async function convert(format) {
  const result = await work(converting, byId("convert-problem"), steps.write[0], () =>
    engine.call({ do: "convert", conversion: { file: state.condensed.files[0].path, format } }));
  if (!result) return;
  offer(result);
  state.links.find((a) => a.download === result.files[0].name).click();
}

async function train() {
  const wanted = byId("whole").checked ? [false, true] : [false];
  for (const whole of wanted) {
    const on = whole ? "the full graph" : "the small graph";
    const result = await work(trainingWork, byId("train-problem"), `Training on ${on}`, () => {
      const epochs = Number(byId("epochs").value);
      if (!Number.isInteger(epochs) || epochs < 1) throw new Error("Epochs must be an integer of at least 1.");
      const training = {
        model: byId("model").value, epochs, whole, seed: configuration().seed, file: state.condensed.files[0].path,
      };
      return engine.call({ do: "train", graph: state.path, training }, ({ stage, done, total }) => {
        if (total > 0) trainingWork.counted(`Training on ${on}`, done, total);
        else trainingWork.tell(steps[stage]?.[0] ?? stage);
      });
    });
    if (!result) return;
    state.accuracies.push([`${result.model} on ${on}`, count(result.nodes), count(result.epochs),
      `${result.validation.toFixed(1)}%`, `${result.test.toFixed(1)}%`, time(result.seconds)]);
    fill(byId("accuracies"), ["Learnt from", "training nodes", "epochs", "validation accuracy", "test accuracy", "time"],
      state.accuracies);
    byId("accuracies").hidden = false;
    say(`Test accuracy ${result.test.toFixed(1)}% after training on ${on}.`);
    await report(trainingWork, byId("train-problem"));
  }
}

/** Adds the event listeners. */
function connect() {
  const drop = byId("drop");
  const taken = (files) => {
    if (state.busy) return;
    Promise.resolve(files).then(take).catch((error) => problem(byId("choose-problem"), ...explain(error)));
  };
  for (const id of ["folder", "files"]) {
    byId(id).addEventListener("change", ({ target }) => {
      try {
        taken(chosen(target.files));
      } catch (error) {
        problem(byId("choose-problem"), ...explain(error));
      }
      target.value = ""; // so that the same files can be chosen again
    });
  }
  addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) drop.classList.remove("over");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    taken(dropped(event.dataTransfer));
  });
  byId("demo").addEventListener("click", () => open("demo", []));
  byId("nodes-slider").addEventListener("input", () => { byId("nodes").value = byId("nodes-slider").value; });
  byId("nodes").addEventListener("input", () => { byId("nodes-slider").value = byId("nodes").value; });
  byId("method").addEventListener("change", limit);
  byId("options").addEventListener("submit", (event) => {
    event.preventDefault();
    condense();
  });
  byId("training").addEventListener("submit", (event) => {
    event.preventDefault();
    train();
  });
  byId("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(byId("command").textContent);
      byId("copy").textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(byId("command")); // so that the user can copy it
    }
    setTimeout(() => { byId("copy").textContent = "Copy"; }, 2000);
  });
}

/** Asks the program for its methods, models and formats, and fills the lists with them. */
async function begin() {
  try {
    const about = await engine.call({ do: "about" });
    const options = (id, names) => byId(id).replaceChildren(...names.map((name) => element("option", {}, name)));
    options("method", about.methods);
    options("partition", about.partitions);
    options("propagation", about.propagations);
    options("model", about.models);
    byId("model").value = "gcn";
    byId("formats").querySelector("tbody").replaceChildren(...about.formats.map(({ title, folder, file }) =>
      element("tr", {}, element("th", { scope: "row" }, title),
        element("td", {}, [folder && `a folder with ${folder}`, file].filter(Boolean).join(", or ")))));
    byId("build").textContent = ["cgc", about.version, about.revision.slice(0, 12), about.go].filter(Boolean).join(" ");
    document.body.dataset.ready = "true";
  } catch (error) {
    byId("build").textContent = "";
    problem(byId("choose-problem"), ...explain(error));
  }
}

connect();
begin();

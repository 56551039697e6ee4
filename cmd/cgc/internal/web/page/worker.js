// The worker. It runs the program, passes requests to it, and returns its answers to the page.
import { Files } from "./files.js";

let said = ""; // output of the program, which explains a crash
const mostSaid = 20000; // in characters; the cause comes first
let readSoFar = 0;
let readTotal = 0;
let lastTold = 0;
let current = 0; // id of the current request

const files = new Files(
  (text) => {
    if (said.length < mostSaid) said += text;
  },
  (bytes) => {
    readSoFar += bytes;
    if (readTotal > 0 && performance.now() - lastTold > 40) {
      lastTold = performance.now();
      postMessage({ kind: "progress", id: current, stage: "read", done: Math.min(readSoFar, readTotal), total: readTotal });
    }
  },
);

/** Tells the page that the program has ended, which happens only in a crash. */
function died(text) {
  postMessage({
    kind: "dead", memory: /out of memory|cannot allocate|allocation failed|could not allocate/i.test(text), text,
  });
}

/** Compiles one of the page's small modules. */
async function compiled(name) {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: the server answers ${response.status}`);
  const bytes = await response.arrayBuffer();
  if (!WebAssembly.validate(bytes)) throw new Error("This browser is too old for this page: it lacks WebAssembly's SIMD.");
  return WebAssembly.compile(bytes);
}

/** Starts the program and waits until it accepts requests. */
async function start(module) {
  globalThis.fs = files.fs();
  files.folder("/graph");
  files.folder("/result");
  await import("./wasm_exec.js");
  globalThis.process.cwd = () => "/";
  const go = new globalThis.Go();
  go.exit = (code) => died(`exit code ${code}\n${said}`);
  const ready = new Promise((resolve) => { globalThis.cgcReady = resolve; });
  // The program imports its SIMD loops, which need the memory that the program exports: a table connects them.
  const [loops, relay] = await Promise.all([compiled("loops.wasm"), compiled("relay.wasm")]);
  const calls = await WebAssembly.instantiate(relay);
  go.importObject.cgc = calls.exports;
  const instance = await WebAssembly.instantiate(module, go.importObject);
  const { exports } = await WebAssembly.instantiate(loops, { go: { memory: instance.exports.mem } });
  WebAssembly.Module.exports(loops).forEach(({ name }, i) => calls.exports.table.set(i, exports[name]));
  go.run(instance).catch((error) => died(`${error}\n${said}`));
  await ready;
}

/** Passes a progress event, or the answer with its files, to the page. */
function tell(id, kind, text, done, total) {
  if (kind === "progress") {
    postMessage({ kind, id, stage: text, done, total });
    return;
  }
  const answer = JSON.parse(text);
  const contents = (answer.files ?? []).map((file) => files.content(file.path));
  postMessage({ kind, id, answer, contents }, contents.map((content) => content.buffer));
}

onmessage = async ({ data }) => {
  try {
    switch (data.kind) {
      case "start":
        await start(data.module);
        postMessage({ kind: "ready" });
        break;
      case "mount":
        for (const { path, content } of data.files) {
          files.mount(path, content);
          if (path.startsWith("/graph/")) readTotal += content.size;
        }
        break;
      case "request":
        current = data.id;
        readSoFar = 0;
        globalThis.cgc(JSON.stringify(data.request), (...args) => tell(data.id, ...args));
        break;
    }
  } catch (error) {
    died(`${error}\n${said}`);
  }
};

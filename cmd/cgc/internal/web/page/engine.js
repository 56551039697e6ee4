// The engine of the page. It loads the program, runs it in a worker, and terminates the worker to stop it.

/** The error for work that the user stopped. */
export class Stopped extends Error {}

/** The error for a graph that needs more memory than the browser provides. */
export class OutOfMemory extends Error {}

/** The error for a request that the program rejects. choose lists the graphs if a folder contains several. */
export class Refused extends Error {
  constructor(answer) {
    super(answer.error);
    this.choose = answer.choose ?? [];
  }
}

const program = "cgc.wasm.gz";

/**
 * Compiles the program. told is called with the downloaded share, from 0 to 1, if the size is known.
 * Servers treat the extension .gz differently, so the first bytes decide whether the content is still compressed.
 */
async function compile(told) {
  if (typeof WebAssembly === "undefined" || typeof DecompressionStream === "undefined") {
    throw new Error("This browser is too old for this page: it lacks WebAssembly or DecompressionStream. " +
      "Chromium from 91, Firefox from 113 and Safari from 16.4 have both.");
  }
  const response = await fetch(program).catch(() => null);
  if (!response || !response.ok) {
    const why = response ? `the server answers ${response.status}` : "the server does not answer";
    throw new Error(`The program of this page, ${program}, could not be loaded: ${why}.`);
  }
  const total = Number(response.headers.get("Content-Length"));
  const reader = response.body.getReader();
  let arrived = 0;
  const next = async () => {
    const { done, value } = await reader.read();
    arrived += value?.length ?? 0;
    if (total > 0) told(Math.min(1, arrived / total));
    return done ? null : value;
  };
  let first = await next();
  const packed = first && first[0] === 0x1f && first[1] === 0x8b;
  const bytes = new ReadableStream({
    async pull(controller) {
      const piece = first ?? (await next());
      first = null;
      if (piece === null) controller.close();
      else controller.enqueue(piece);
    },
  });
  const stream = packed ? bytes.pipeThrough(new DecompressionStream("gzip")) : bytes;
  return WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
}

/** Runs requests, one at a time. */
export class Engine {
  /** told is called with the downloaded share of the program, from 0 to 1. */
  constructor(told = () => {}) {
    this.module = compile(told);
    this.module.catch(() => {}); // start reports the error
    this.files = [];
    this.id = 0;
    this.waiting = null;
    this.started = this.start();
    this.started.catch(() => {});
  }

  /** Starts a new worker, whose only state is this.files. */
  async start() {
    const module = await this.module;
    const worker = new Worker("worker.js", { type: "module" });
    this.worker = worker;
    let ready = false;
    return new Promise((resolve, reject) => {
      const died = (memory, text) => {
        const error = memory ? new OutOfMemory() : new Error(text);
        if (ready && this.worker === worker) this.fail(error);
        else reject(error);
      };
      worker.onmessage = ({ data }) => {
        if (data.kind === "dead") return died(data.memory, data.text);
        if (data.kind !== "ready") return this.hear(data);
        ready = true;
        resolve(worker);
      };
      worker.onerror = (event) => {
        event.preventDefault();
        const text = event.message ?? "the worker of this page ended";
        died(/memory|allocation/i.test(text), text);
      };
      worker.postMessage({ kind: "start", module });
      worker.postMessage({ kind: "mount", files: this.files });
    });
  }

  /** Replaces all files with the files of another graph, given as {path, content}, and restarts the worker. */
  async take(files) {
    this.files = files;
    await this.restart();
  }

  /** Adds a file, which later workers receive too. */
  add(path, content) {
    this.files.push({ path, content });
  }

  /** Sends a request and returns its answer. told is called with each progress event. */
  async call(request, told = () => {}) {
    const worker = await this.started;
    const id = ++this.id;
    return new Promise((resolve, reject) => {
      this.waiting = { id, resolve, reject, told };
      worker.postMessage({ kind: "request", id, request });
    });
  }

  hear(data) {
    const waiting = this.waiting;
    if (!waiting || waiting.id !== data.id) return;
    if (data.kind === "progress") {
      waiting.told(data);
      return;
    }
    this.waiting = null;
    if (data.answer.error) waiting.reject(new Refused(data.answer));
    else waiting.resolve({ ...data.answer, contents: data.contents });
  }

  /** Stops the work immediately. The next request runs in a new worker. */
  stop() {
    this.fail(new Stopped());
  }

  fail(error) {
    const waiting = this.waiting;
    this.waiting = null;
    this.restart().catch(() => {});
    waiting?.reject(error);
  }

  restart() {
    this.worker?.terminate();
    this.started = this.start();
    this.started.catch(() => {});
    return this.started;
  }
}

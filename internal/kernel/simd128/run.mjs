// Runs a Go program for js/wasm in Node, with the loops: node run.mjs WASM_EXEC FOLDER PROGRAM ARGUMENT…
import * as fs from "node:fs";
import { join } from "node:path";

const [glue, folder, program, ...args] = process.argv.slice(2);
globalThis.fs = fs;
globalThis.path = await import("node:path");
globalThis.crypto ??= (await import("node:crypto")).webcrypto;
await import(glue);

const compiled = (path) => WebAssembly.compile(fs.readFileSync(path));
const relay = await WebAssembly.instantiate(await compiled(join(folder, "relay.wasm")));
const go = new globalThis.Go();
go.argv = [program, ...args];
go.env = { TMPDIR: folder, HOME: folder };
go.exit = process.exit;
go.importObject.cgc = relay.exports;
const instance = await WebAssembly.instantiate(await compiled(program), go.importObject);
const loops = await compiled(join(folder, "loops.wasm"));
const { exports } = await WebAssembly.instantiate(loops, { go: { memory: instance.exports.mem } });
WebAssembly.Module.exports(loops).forEach(({ name }, i) => relay.exports.table.set(i, exports[name]));
await go.run(instance);

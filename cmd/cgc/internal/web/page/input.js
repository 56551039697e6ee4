// The files that the user drops or chooses: their names, their paths in the program, and their decompressed size.

/** The folder in which the program sees the files. */
const inbox = "/graph";

/** The maximum number of files. A disk that is dropped by mistake has more, so it is rejected quickly. */
const mostFiles = 10000;

/** The size of WebAssembly's address space, in bytes. */
export const addressable = 4 * 2 ** 30;

/** Returns the dropped files, including those in dropped folders, as {path, content}. */
export async function dropped(transfer) {
  const entries = [...transfer.items].filter((item) => item.kind === "file").map((item) => item.webkitGetAsEntry?.());
  if (entries.length === 0 || entries.some((entry) => !entry)) return chosen(transfer.files);
  const found = [];
  for (const entry of entries) await walk(entry, found);
  return found;
}

async function walk(entry, found) {
  if (entry.name.startsWith(".")) return; // such as .DS_Store
  if (found.length > mostFiles) throw new Error(tooMany());
  if (entry.isFile) {
    const content = await new Promise((resolve, reject) => entry.file(resolve, reject));
    found.push({ path: inbox + entry.fullPath, content });
    return;
  }
  const reader = entry.createReader();
  for (;;) { // each call returns only some of the entries
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const inner of some) await walk(inner, found);
  }
}

/** Returns the files of an input element, as {path, content}. */
export function chosen(list) {
  if (list.length > mostFiles) throw new Error(tooMany());
  const shown = [...list].filter((file) => !(file.webkitRelativePath || file.name).split("/").some((n) => n.startsWith(".")));
  return shown.map((content) => ({ path: `${inbox}/${content.webkitRelativePath || content.name}`, content }));
}

const tooMany = () => `That folder holds more than ${mostFiles.toLocaleString("en")} files. Choose the folder of one graph.`;

/**
 * Returns the path of the only top-level file or folder or, if there are several or it is one of two tables, of the
 * inbox. The error then names the missing table.
 */
export function root(files) {
  const tops = new Set(files.map(({ path }) => path.slice(inbox.length + 1).split("/")[0]));
  return tops.size === 1 && !/^(nodes|edges)\.csv/.test([...tops][0]) ? `${inbox}/${[...tops][0]}` : inbox;
}

/** Returns a path as shown to the user, without the inbox. */
export const shown = (path) => (path === inbox ? "your files" : path.slice(inbox.length + 1) || path);

/** Returns the total decompressed size of the files in bytes. It is an estimate if there are gzip files. */
export async function unpacked(files) {
  let bytes = 0;
  for (const { path, content } of files) {
    if (/\.(npz|zip|pt|pth)$/i.test(path)) bytes += await zipped(content);
    else if (/\.gz$/i.test(path)) bytes += await gzipped(content);
    else bytes += content.size;
  }
  return bytes;
}

/** Returns a DataView of the bytes from start to end of a file. */
const bytesOf = async (file, start, end) => new DataView(await file.slice(start, end).arrayBuffer());

/**
 * Returns an estimate of the decompressed size: the last four bytes hold it modulo 2³². It is at least the file's size.
 */
async function gzipped(file) {
  if (file.size < 18) return file.size;
  const size = (await bytesOf(file, file.size - 4, file.size)).getUint32(0, true);
  return Math.max(size, file.size);
}

/**
 * Returns the sum of the sizes listed in the directory at the end of a zip file, or the file size if it is not a zip
 * file.
 */
async function zipped(file) {
  const tail = await bytesOf(file, Math.max(0, file.size - 65557), file.size);
  let at = tail.byteLength - 22;
  while (at >= 0 && tail.getUint32(at, true) !== 0x06054b50) at--;
  if (at < 0) return file.size;
  let size = tail.getUint32(at + 12, true);
  let start = tail.getUint32(at + 16, true);
  if (start === 0xffffffff && at >= 20) { // zip64: the preceding locator points to the record
    const record = Number(tail.getBigUint64(at - 20 + 8, true));
    const view = await bytesOf(file, record, record + 56);
    if (view.byteLength < 56) return file.size;
    size = Number(view.getBigUint64(40, true));
    start = Number(view.getBigUint64(48, true));
  }
  const directory = await bytesOf(file, start, start + size);
  let bytes = 0;
  for (let p = 0; p + 46 <= directory.byteLength && directory.getUint32(p, true) === 0x02014b50;) {
    const name = directory.getUint16(p + 28, true);
    const extra = directory.getUint16(p + 30, true);
    let one = directory.getUint32(p + 24, true);
    if (one === 0xffffffff && extra >= 12) one = Number(directory.getBigUint64(p + 46 + name + 4, true));
    bytes += one;
    p += 46 + name + extra + directory.getUint16(p + 32, true);
  }
  return Math.max(bytes, file.size);
}

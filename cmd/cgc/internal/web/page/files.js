// An in-memory file system with the functions of Node's fs that Go's package os calls. Through it, the program reads
// the user's files, piece by piece from the disk, and writes its results.

// ahead is the minimum number of bytes to read from a file on the disk, because each read has a high latency.
const ahead = 4 << 20;

const directory = 0o040000;
const regular = 0o100000;

/** Returns an error in the form that Go expects. */
function fault(code, path) {
  const error = new Error(`${code}: ${path}`);
  error.code = code;
  return error;
}

/** Returns the path without trailing slashes. */
const clean = (path) => (path.length > 1 ? path.replace(/\/+$/, "") : path);

/** Returns the parent folder of a path. */
const parent = (path) => path.slice(0, path.lastIndexOf("/")) || "/";

/** A file in memory. */
class Memory {
  constructor(bytes = new Uint8Array(0)) {
    this.bytes = bytes;
    this.size = bytes.length;
  }

  read(target, position) {
    const piece = this.bytes.subarray(position, Math.min(this.size, position + target.length));
    target.set(piece);
    return piece.length;
  }

  write(source, position) {
    const end = position + source.length;
    if (end > this.bytes.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.bytes.length, 4096));
      larger.set(this.bytes.subarray(0, this.size));
      this.bytes = larger;
    }
    this.bytes.set(source, position);
    this.size = Math.max(this.size, end);
    return source.length;
  }

  truncate(size) {
    this.write(new Uint8Array(0), size);
    this.bytes.fill(0, size);
    this.size = size;
  }
}

/** A read-only file on the disk. told is called with the number of bytes of each read. */
class Disk {
  constructor(blob, told) {
    this.blob = blob;
    this.size = blob.size;
    this.told = told;
    this.reader = new FileReaderSync();
    this.window = new Uint8Array(0);
    this.start = 0;
  }

  read(target, position) {
    const length = Math.max(0, Math.min(target.length, this.size - position));
    if (length === 0) return 0;
    if (position < this.start || position + length > this.start + this.window.length) {
      const end = Math.min(this.size, position + Math.max(length, ahead));
      this.window = new Uint8Array(this.reader.readAsArrayBuffer(this.blob.slice(position, end)));
      this.start = position;
      this.told(this.window.length);
    }
    target.set(this.window.subarray(position - this.start, position - this.start + length));
    if (length > ahead) this.window = new Uint8Array(0); // large pieces are read only once, so do not keep them
    return length;
  }

  write() {
    throw fault("EROFS", "a file of the user");
  }

  truncate() {
    throw fault("EROFS", "a file of the user");
  }
}

/** The file system. print is called with the text that the program writes to standard output and standard error. */
export class Files {
  constructor(print, told = () => {}) {
    this.print = print;
    this.told = told;
    this.nodes = new Map([["/", null]]); // maps paths to files, or to null for folders
    this.open = new Map(); // open files by descriptor
    this.next = 3; // 0 to 2 are the standard streams
  }

  /** Adds a file with the given content, a Uint8Array or a Blob, and creates its parent folders. */
  mount(path, content) {
    for (let folder = parent(path); !this.nodes.has(folder); folder = parent(folder)) this.nodes.set(folder, null);
    this.nodes.set(path, content instanceof Uint8Array ? new Memory(content) : new Disk(content, this.told));
  }

  /** Makes a folder. */
  folder(path) {
    this.nodes.set(path, null);
  }

  /** Returns a copy of the bytes of a file that the program wrote. */
  content(path) {
    const file = this.nodes.get(path);
    return file.bytes.slice(0, file.size);
  }

  /** Returns the functions of fs. They call their callback before they return. */
  fs() {
    const done = (action) => (...args) => {
      const callback = args.pop();
      let result;
      try {
        result = action(...args);
      } catch (error) {
        callback(error.code ? error : fault("EIO", error.message));
        return;
      }
      callback(null, result);
    };
    const nothing = done(() => undefined);
    const refuse = done((path) => { throw fault("ENOSYS", path); });
    const stat = done((path) => this.stat(this.find(clean(path))));
    return {
      constants: {
        O_WRONLY: 1, O_RDWR: 2, O_CREAT: 0o100, O_EXCL: 0o200, O_TRUNC: 0o1000, O_APPEND: 0o2000,
        O_DIRECTORY: 0o200000,
      },
      writeSync: (fd, bytes) => this.write(fd, bytes, null),
      write: done((fd, bytes, offset, length, position) =>
        this.write(fd, bytes.subarray(offset, offset + length), position)),
      read: done((fd, bytes, offset, length, position) =>
        this.read(fd, bytes.subarray(offset, offset + length), position)),
      open: done((path, flags) => this.openFile(clean(path), flags)),
      close: done((fd) => { this.descriptor(fd); this.open.delete(fd); }),
      fstat: done((fd) => this.stat(fd < 3 ? new Memory() : this.descriptor(fd).node)),
      stat, lstat: stat,
      readdir: done((path) => this.list(clean(path))),
      mkdir: done((path) => {
        if (this.nodes.has(clean(path))) throw fault("EEXIST", path);
        this.find(parent(clean(path)));
        this.folder(clean(path));
      }),
      rename: done((from, to) => {
        this.nodes.set(clean(to), this.find(clean(from)));
        this.nodes.delete(clean(from));
      }),
      unlink: done((path) => {
        if (this.find(clean(path)) === null) throw fault("EISDIR", path);
        this.nodes.delete(clean(path));
      }),
      rmdir: done((path) => {
        if (this.list(clean(path)).length > 0) throw fault("ENOTEMPTY", path);
        this.nodes.delete(clean(path));
      }),
      truncate: done((path, size) => this.find(clean(path)).truncate(size)),
      ftruncate: done((fd, size) => this.descriptor(fd).node.truncate(size)),
      chmod: nothing, fchmod: nothing, chown: nothing, fchown: nothing, lchown: nothing, utimes: nothing,
      fsync: nothing, link: refuse, symlink: refuse, readlink: refuse,
    };
  }

  find(path) {
    if (!this.nodes.has(path)) throw fault("ENOENT", path);
    return this.nodes.get(path);
  }

  descriptor(fd) {
    const entry = this.open.get(fd);
    if (!entry) throw fault("EBADF", String(fd));
    return entry;
  }

  list(folder) {
    if (this.find(folder) !== null) throw fault("ENOTDIR", folder);
    const names = [];
    for (const path of this.nodes.keys()) {
      if (path !== "/" && parent(path) === folder) names.push(path.slice(path.lastIndexOf("/") + 1));
    }
    return names;
  }

  stat(node) {
    const folder = node === null;
    const size = folder ? 0 : node.size;
    return {
      dev: 0, ino: 0, mode: folder ? directory | 0o755 : regular | 0o644, nlink: 1, uid: 0, gid: 0, rdev: 0, size,
      blksize: 4096, blocks: Math.ceil(size / 512), atimeMs: 0, mtimeMs: 0, ctimeMs: 0,
      isDirectory: () => folder,
    };
  }

  openFile(path, flags) {
    const there = this.nodes.has(path);
    if (!there && !(flags & 0o100)) throw fault("ENOENT", path);
    if (there && flags & 0o200) throw fault("EEXIST", path);
    if (!there) {
      if (this.find(parent(path)) !== null) throw fault("ENOTDIR", path);
      this.nodes.set(path, new Memory());
    }
    const node = this.nodes.get(path);
    if (node === null && flags & 3) throw fault("EISDIR", path);
    if (node !== null && flags & 0o200000) throw fault("ENOTDIR", path);
    if (flags & 0o1000) node.truncate(0);
    this.open.set(this.next, { node, position: flags & 0o2000 ? node.size : 0 });
    return this.next++;
  }

  read(fd, target, position) {
    const entry = this.descriptor(fd);
    if (entry.node === null) throw fault("EISDIR", String(fd));
    const n = entry.node.read(target, position ?? entry.position);
    if (position === null || position === undefined) entry.position += n;
    return n;
  }

  write(fd, source, position) {
    if (fd === 1 || fd === 2) {
      this.print(new TextDecoder().decode(source));
      return source.length;
    }
    const entry = this.descriptor(fd);
    const n = entry.node.write(source, position ?? entry.position);
    if (position === null || position === undefined) entry.position += n;
    return n;
  }
}

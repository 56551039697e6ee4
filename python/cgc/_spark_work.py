"""What runs on the machines of a Spark cluster: rows become frames, and the worker takes frames and writes a file.

The functions travel with their task, so that the package need not be installed there. numpy and pyarrow must be, as for
any function of Spark that takes Arrow. Package cluster of the command describes the frames.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

__all__ = [
    "CHUNK", "FRAMES", "MARK", "RESULT", "entries_by_block", "entries_of", "names_of", "nodes_by_block", "nodes_of",
    "run_step", "run_worker",
]  # fmt: skip

CHUNK = 1 << 20  # bytes of a frame, about
PIECE = 8 << 20  # bytes of the result in a row
MARK = "cgc worker: "  # stands before a worker's sentence in the error of a task
FRAMES = "key int, kind int, part int, payload binary"
RESULT = "key int, seq int, payload binary"
_NODE, _NAME, _HOP, _SUM, _ENTRY, _SCALING = 1, 2, 3, 4, 5, 6  # the order in which a worker takes kinds
_LETTERS = {_NODE: b"N", _NAME: b"I", _HOP: b"H", _SUM: b"S", _ENTRY: b"A", _SCALING: b"F"}
_KINDS = {letter: kind for kind, letter in _LETTERS.items()}


def _batch(rows: Sequence[tuple[int, int, int, bytes]]) -> Any:
    """Return rows as a batch of FRAMES."""
    import pyarrow as pa

    columns = list(zip(*rows))
    types = [pa.int32(), pa.int32(), pa.int32(), pa.binary()]
    arrays = [pa.array(c, t) for c, t in zip(columns, types)]
    return pa.RecordBatch.from_arrays(arrays, ["key", "kind", "part", "payload"])


def _numbers(batch: Any, name: str, kind: str) -> Any:
    """Return a column without nulls as an array of numpy."""
    import numpy as np

    return np.ascontiguousarray(batch.column(name).to_numpy(zero_copy_only=False), dtype=kind)


def matrix(batch: Any, name: str, width: int) -> Any:
    """Return a column of lists of one length as a matrix of float32."""
    import numpy as np

    column = batch.column(name)
    flat = column.flatten().to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(flat, dtype="<f4").reshape(len(column), width)


def nodes_of(
    blocks: Sequence[tuple[int, int, int]], width: int, normalize: bool
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function that cuts nodes into frames, one for each block (key, first column, end).

    Its batches have number, entries, degree, class and the list x of width numbers. If features are to be normalised,
    their sums go with them.
    """

    def cut(batches: Iterable[Any]) -> Iterator[Any]:
        import numpy as np

        step = max(1, CHUNK // (4 * max(hi - lo for _, lo, hi in blocks) + 20))
        for batch in batches:
            x = matrix(batch, "x", width)
            parts = [
                _numbers(batch, "number", "<i4"), _numbers(batch, "entries", "<i4"),
                _numbers(batch, "degree", "<f8"), _numbers(batch, "class", "<i4"),
            ]  # fmt: skip
            if normalize:  # one after the other in float64, as the command adds them
                sums = np.cumsum(np.abs(x), axis=1, dtype="<f8")[:, -1]
                parts.append(np.where(sums == 0, 1, sums))
            for first in range(0, len(x), step):
                rows = slice(first, first + step)
                head = struct.pack("<I", len(x[rows])) + b"".join(p[rows].tobytes() for p in parts)
                yield _batch(
                    [(key, _NODE, 0, head + np.ascontiguousarray(x[rows, lo:hi]).tobytes()) for key, lo, hi in blocks]
                )

    return cut


def names_of(keys: Sequence[int]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function that makes frames of the columns number and name. Block v mod len(keys) gets the name of v."""

    def cut(batches: Iterable[Any]) -> Iterator[Any]:
        import numpy as np

        for batch in batches:
            numbers = _numbers(batch, "number", "<i4")
            if not len(numbers):
                continue
            texts = [name.encode() for name in batch.column("name").to_pylist()]
            for block, key in enumerate(keys):
                own = np.flatnonzero(numbers % len(keys) == block)
                if not len(own):
                    continue
                named = [texts[i] for i in own]
                ends = np.cumsum([0, *map(len, named)]).astype("<u4")
                head = struct.pack("<I", len(own)) + numbers[own].tobytes() + ends.tobytes()
                yield _batch([(key, _NAME, 0, head + b"".join(named))])

    return cut


def entries_of(weighted: bool) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function that makes frames of the columns u, v and, if there are weights, w. Their key is 0."""

    def cut(batches: Iterable[Any]) -> Iterator[Any]:
        held: list[list[Any]] = [[], [], []]
        kinds = ["<i4", "<i4", "<f4"] if weighted else ["<i4", "<i4"]
        limit = CHUNK // (4 * len(kinds))

        def frame() -> Any:
            import numpy as np

            whole = [np.concatenate(h) for h in held[: len(kinds)]]
            for h in held:
                h.clear()
            head = struct.pack("<II", len(whole[0]), int(weighted))
            return _batch([(0, _ENTRY, 0, head + b"".join(w.tobytes() for w in whole))])

        count = 0
        for batch in batches:
            for name, kind, h in zip("uvw", kinds, held):
                h.append(_numbers(batch, name, kind))
            count += len(held[0][-1])
            if count >= limit:
                yield frame()
                count = 0
        if count:
            yield frame()

    return cut


def nodes_by_block(
    keys: Sequence[Sequence[int]], cuts: Sequence[tuple[int, int]], width: int, normalize: bool
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function that cuts nodes into frames: keys[b][c] gets columns cuts[c] of the nodes of block b.

    Node v is of block v mod len(keys).
    """

    def cut(batches: Iterable[Any]) -> Iterator[Any]:
        import numpy as np

        for batch in batches:
            block = _numbers(batch, "number", "<i4") % len(keys)
            order = np.argsort(block, kind="stable")
            ends = np.searchsorted(block[order], np.arange(len(keys) + 1))
            for b, own in enumerate(keys):
                if ends[b] < ends[b + 1]:
                    part = batch.take(order[ends[b] : ends[b + 1]])
                    yield from nodes_of([(key, *c) for key, c in zip(own, cuts)], width, normalize)([part])

    return cut


def entries_by_block(keys: Sequence[Sequence[int]], weighted: bool) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function that makes frames of entries: all of keys[b] get those whose column v is b mod len(keys)."""

    def cut(batches: Iterable[Any]) -> Iterator[Any]:
        import numpy as np

        names = ["u", "v", "w"] if weighted else ["u", "v"]
        limit = max(1 << 13, CHUNK // (4 * len(names)))  # entries of all blocks together come to some frames each
        held: list[list[Any]] = []

        def frames() -> Any:
            whole = [np.concatenate(column) for column in zip(*held)]
            block = whole[1] % len(keys)
            order = np.argsort(block, kind="stable")
            ends = np.searchsorted(block[order], np.arange(len(keys) + 1))
            rows = []
            for b, own in enumerate(keys):
                chosen = order[ends[b] : ends[b + 1]]
                if len(chosen):
                    head = struct.pack("<II", len(chosen), int(weighted))
                    payload = head + b"".join(w[chosen].tobytes() for w in whole)
                    rows += [(key, _ENTRY, 0, payload) for key in own]
            return _batch(rows)

        count = 0
        for batch in batches:
            if batch.num_rows:
                held.append([_numbers(batch, name, "<f4" if name == "w" else "<i4") for name in names])
                count += batch.num_rows
            if count >= limit * min(16, len(keys)):
                yield frames()
                held.clear()
                count = 0
        if count:
            yield frames()

    return cut


def run_worker(
    tasks: Mapping[int, Mapping[str, Any]], threads: int, program: str
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function that feeds frames to workers, one for each key of tasks, and yields the files they write.

    program is the name under which Spark ships the command.
    Frames are sorted by key. A worker that fails, or that is killed, makes the task fail with its sentence; Spark then
    tries the task again.
    """

    def result(key: int, worker: _Worker) -> Iterator[Any]:
        import pyarrow as pa

        worker.wait()
        if not os.path.exists(worker.out):  # a block without training nodes
            return
        with open(worker.out, "rb") as file:
            for seq, piece in enumerate(_pieces(file)):
                arrays = [pa.array([key], pa.int32()), pa.array([seq], pa.int32()), pa.array([piece])]
                yield pa.RecordBatch.from_arrays(arrays, ["key", "seq", "payload"])

    return _fed(tasks, threads, program, result)


def run_step(
    tasks: Mapping[int, Mapping[str, Any]],
    threads: int,
    program: str,
    columns: Mapping[int, Sequence[int]],
    sent: Callable[[int], None] = lambda size: None,
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function that feeds frames to workers as run_worker does, and yields the frames that they send.

    columns[key] lists the keys of all blocks with the columns of key: a frame for block b goes to columns[key][b]. sent
    gets the bytes of each frame of partial sums.
    """

    def result(key: int, worker: _Worker) -> Iterator[Any]:
        for block, letter, payload in worker.frames():
            if _KINDS[letter] == _SUM:
                sent(len(payload))
            yield _batch([(columns[key][block], _KINDS[letter], int(tasks[key]["block"]), payload)])

    return _fed(tasks, threads, program, result)


def _fed(
    tasks: Mapping[int, Mapping[str, Any]], threads: int, program: str, result: Callable[[int, _Worker], Iterator[Any]]
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function that feeds frames to workers, and yields the result of each."""

    def feed(batches: Iterable[Any]) -> Iterator[Any]:
        rows = _rows(batches)
        row = next(rows, None)
        while row is not None:  # a partition without frames starts no worker
            key = row[0]
            with tempfile.TemporaryDirectory(prefix="cgc-worker-") as home, _Worker(program, threads, home) as worker:
                worker.put(b"T", json.dumps(tasks[key]).encode())
                while row is not None and row[0] == key:
                    worker.put(_LETTERS[row[1]], row[2])
                    row = next(rows, None)
                worker.end()
                yield from result(key, worker)

    return feed


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Return a file in pieces."""
    while piece := file.read(PIECE):
        yield piece


def _rows(batches: Iterable[Any]) -> Iterator[tuple[int, int, Any]]:
    """Return the key, the kind and the payload of each row."""
    for batch in batches:
        keys, kinds, payloads = batch.column("key"), batch.column("kind"), batch.column("payload")
        for i in range(batch.num_rows):
            yield keys[i].as_py(), kinds[i].as_py(), payloads[i].as_buffer()


class _Worker:
    """A worker process. What it says on standard error is kept, and is read all the time."""

    def __init__(self, program: str, threads: int, home: str) -> None:
        from pyspark import SparkFiles

        self.out = os.path.join(home, "part.safetensors")
        path = str(SparkFiles.get(program))
        line = [path, "worker", "-o", self.out, "--threads", str(threads), "--quiet"]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("CGC_")}
        try:
            self.process = subprocess.Popen(
                line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
            )
        except OSError as e:
            raise RuntimeError(f"{MARK}{path} does not start: {e.strerror}") from None
        self.said: list[bytes] = []
        self.listener = threading.Thread(target=self._listen, args=(self.process.stderr,), daemon=True)
        self.listener.start()

    def _listen(self, stream: IO[bytes]) -> None:
        for line in stream:
            self.said = [*self.said[-20:], line]

    def put(self, kind: bytes, payload: Any) -> None:
        """Write one frame."""
        stdin = self.process.stdin
        assert stdin is not None
        try:
            stdin.write(kind + struct.pack("<Q", len(payload)))
            stdin.write(payload)
        except OSError:  # it ended before it had all
            self._fail()

    def end(self) -> None:
        """Write the last frame. The pipe stays open, which tells the worker that we live."""
        self.put(b"Z", b"")
        stdin = self.process.stdin
        assert stdin is not None
        try:
            stdin.flush()
        except OSError:
            self._fail()

    def wait(self) -> None:
        """Wait for the worker's end."""
        if self.process.wait() != 0:
            self._fail()

    def frames(self) -> Iterator[tuple[int, bytes, bytes]]:
        """Return the block, the kind and the payload of each frame that the worker sends."""
        stdout = self.process.stdout
        assert stdout is not None
        while head := stdout.read(13):
            if len(head) < 13:
                break
            block, letter, size = struct.unpack("<icQ", head)
            payload = stdout.read(size)
            if len(payload) < size:
                break
            yield block, letter, payload
        self.wait()

    def _fail(self) -> None:
        code = self.process.wait()
        self.listener.join()
        text = b"".join(self.said).decode(errors="replace").strip()
        last = text.splitlines()[-1].removeprefix("cgc: ") if text else ""
        if code < 0:
            last = f"it was ended by signal {-code}" + (", as when memory runs out" if code == -9 else "")
        raise RuntimeError(MARK + (last or f"it ended with code {code}") + "\n")

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                if stream is not None:
                    stream.close()
            except OSError:
                pass

"""Functions that run on the machines of a Spark cluster: they convert rows to frames, and feed frames to workers.

Spark ships the functions with their tasks, so the machines do not need this package. They need numpy and pyarrow, as
for any Spark function that uses Arrow. Go package cluster describes the frames.
"""

from __future__ import annotations

import json
import os
import secrets
import struct
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, Optional

from ._scratch import on_disk

__all__ = [
    "CHUNK", "ENTRY", "FEATURE", "FRAMES", "MARK", "NAME", "NODE", "PIECE", "RESULT", "batch_of", "numbers_of", "part",
    "record", "run_step", "run_worker", "write_mark",
]  # fmt: skip

CHUNK = 1 << 20  # approximate bytes of a frame
PIECE = 4 << 20  # bytes of a result per row
MARK = "cgc worker: "  # precedes a worker's message in the error of a task
_MARK_FILE = "driver"
FRAMES = "key int, kind int, part int, payload binary"
RESULT = "key int, seq int, slot int, payload binary"
NODE, FEATURE, NAME, _HOP, _SUM, ENTRY, _SCALING = range(1, 8)  # in the order in which a worker expects them
_LETTERS = {NODE: b"N", FEATURE: b"X", NAME: b"I", _HOP: b"H", _SUM: b"S", ENTRY: b"A", _SCALING: b"F"}
_KINDS = {letter: kind for kind, letter in _LETTERS.items()}


def batch_of(rows: Sequence[tuple[int, int, int, bytes]]) -> Any:
    """Return rows as a record batch of FRAMES."""
    import pyarrow as pa

    arrays = [pa.array([row[i] for row in rows], pa.int32()) for i in range(3)]
    ends = [0]
    for row in rows:
        ends.append(ends[-1] + len(row[3]))
    whole = rows[0][3] if len(rows) == 1 else b"".join(row[3] for row in rows)
    buffers = [None, pa.array(ends, pa.int32()).buffers()[1], pa.py_buffer(whole)]  # pa.array would copy the payloads
    arrays.append(pa.Array.from_buffers(pa.binary(), len(rows), buffers))
    return pa.RecordBatch.from_arrays(arrays, ["key", "kind", "part", "payload"])


def record(**columns: Any) -> Any:
    """Return arrays as a record batch."""
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def numbers_of(column: Any, kind: str) -> Any:
    """Return a column of integers as a numpy array, with -1 for nulls."""
    import numpy as np

    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    if column.null_count:
        column = column.fill_null(-1)
    return np.ascontiguousarray(column.to_numpy(zero_copy_only=False), dtype=kind)


def run_worker(
    tasks: Mapping[int, Mapping[str, Any]], threads: int, program: str, slots: Sequence[int], home: str, mark: str
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function that feeds frames to workers, one for each key of tasks, and yields the files they write.

    program is the name under which Spark ships the command. The frames of a key must be consecutive. If a worker fails
    or is killed, its task fails with its message, and Spark retries the task.

    home is the driver's folder. A machine that finds mark there writes its files into it. Other machines send pieces of
    their files to the slots in rotation. The first slot gets the number of pieces of each file, which is 0 for a file
    in home.
    """
    places = {key: place for place, key in enumerate(tasks)}

    def row(key: int, seq: int, slot: int, payload: Optional[bytes]) -> Any:
        import pyarrow as pa

        numbers = {
            name: pa.array([number], pa.int32()) for name, number in (("key", key), ("seq", seq), ("slot", slot))
        }
        return record(**numbers, payload=pa.array([payload], pa.binary()))

    def result(key: int, worker: _Worker) -> Iterator[Any]:
        worker.wait()
        if not os.path.exists(worker.out):  # a block without training nodes
            return
        count = 0
        if os.path.dirname(worker.out) != home:
            with open(worker.out, "rb") as file:
                for piece in _pieces(file):
                    yield row(key, count, slots[(count * len(tasks) + places[key]) % len(slots)], piece)
                    count += 1
        yield row(key, count, slots[0], None)

    return _fed(tasks, threads, program, result, lambda key: part(home, key) if _finds(home, mark) else None)


def part(home: str, key: int) -> str:
    """Return the path of the file of a worker in the driver's folder."""
    return os.path.join(home, f"part-{key}.safetensors")


def write_mark(home: str) -> str:
    """Write a random mark into the driver's folder, by which machines recognise the folder, and return the mark."""
    mark = secrets.token_hex()
    with open(os.path.join(home, _MARK_FILE), "x", encoding="ascii") as file:
        file.write(mark)
    return mark


def _finds(home: str, mark: str) -> bool:
    """Return whether this machine can write files into the driver's folder that the driver can read."""
    try:
        with open(os.path.join(home, _MARK_FILE), encoding="ascii") as file:
            own = os.fstat(file.fileno()).st_uid == os.geteuid()
            return own and file.read() == mark and os.access(home, os.W_OK | os.X_OK)
    except (AttributeError, OSError, ValueError):  # AttributeError: Windows has no user ids
        return False


def run_step(
    tasks: Mapping[int, Mapping[str, Any]],
    threads: int,
    program: str,
    columns: Mapping[int, Sequence[int]],
    sent: Callable[[int], None] = lambda size: None,
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function that feeds frames to workers as run_worker does, and yields the frames that they send.

    columns[key] lists the keys of all blocks with the same columns as key. A frame for block b goes to columns[key][b].
    sent is called with the number of bytes of each frame of partial sums.
    """

    def result(key: int, worker: _Worker) -> Iterator[Any]:
        for block, letter, payload in worker.frames():
            if _KINDS[letter] == _SUM:
                sent(len(payload))
            yield batch_of([(columns[key][block], _KINDS[letter], int(tasks[key]["block"]), payload)])

    return _fed(tasks, threads, program, result)


def _fed(
    tasks: Mapping[int, Mapping[str, Any]], threads: int, program: str,
    result: Callable[[int, _Worker], Iterator[Any]], out: Callable[[int], Optional[str]] = lambda key: None,
) -> Callable[[Iterable[Any]], Iterator[Any]]:  # fmt: skip
    """Return a function that feeds frames to workers, and yields the result of each.

    out returns the path of a worker's file, or None for a file in a temporary folder.
    """

    def feed(batches: Iterable[Any]) -> Iterator[Any]:
        rows, seen = _rows(batches), set()
        row = next(rows, None)
        while row is not None:  # a partition without frames starts no worker
            key = row[0]
            if key in seen:
                raise RuntimeError(f"{MARK}frames of worker {key} came apart: this Spark hashes keys in another way")
            seen.add(key)
            with on_disk() as home, _Worker(program, threads, out(key) or str(home / "part")) as worker:
                worker.put(b"T", json.dumps(tasks[key]).encode())
                while row is not None and row[0] == key:
                    worker.put(_LETTERS[row[1]], row[2])
                    row = next(rows, None)
                worker.end()
                yield from result(key, worker)

    return feed


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a file in pieces."""
    while piece := file.read(PIECE):
        yield piece


def _rows(batches: Iterable[Any]) -> Iterator[tuple[int, int, Any]]:
    """Yield the key, the kind and the payload of each row."""
    for batch in batches:
        keys, kinds, payloads = batch.column("key"), batch.column("kind"), batch.column("payload")
        for i in range(batch.num_rows):
            yield keys[i].as_py(), kinds[i].as_py(), payloads[i].as_buffer()


class _Worker:
    """A worker process. Its standard error is read continuously, and its last lines are kept."""

    def __init__(self, program: str, threads: int, out: str) -> None:
        from pyspark import SparkFiles

        self.out = out
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
        """Write one frame: its kind, its length and its payload."""
        stdin = self.process.stdin
        assert stdin is not None
        try:
            stdin.write(kind + struct.pack("<Q", len(payload)))
            stdin.write(payload)
        except OSError:  # the worker ended before it read everything
            self._fail()

    def end(self) -> None:
        """Write the last frame. The pipe stays open to show the worker that this process is alive."""
        self.put(b"Z", b"")
        stdin = self.process.stdin
        assert stdin is not None
        try:
            stdin.flush()
        except OSError:
            self._fail()

    def wait(self) -> None:
        """Wait for the worker to end."""
        if self.process.wait() != 0:
            self._fail()

    def frames(self) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield the block, the kind and the payload of each frame that the worker sends."""
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

"""Reading and writing safetensors files: a JSON header, then the raw arrays. Nothing in a file is executed."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy as np
import numpy.typing as npt

from ._error import Error, reason

__all__ = ["Array", "Tensor", "read", "write"]

Array = npt.NDArray[Any]
Check = Callable[[Array, int], None]

_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}
_ALIGN = 64  # the offset of the first array is a multiple of this
_MOST = 100_000_000  # maximum bytes of a header, set by the format
_CHUNK = 1 << 17  # elements converted at a time, so that they stay in a core's cache
_WORKERS = 4  # maximum number of threads that convert and write
_SMALL = 1 << 24  # up to this many bytes, one thread writes


class Tensor(NamedTuple):
    """An array to be written, as elements of dtype.

    If check is given, it is called before each chunk is written, with the chunk and the number of elements before it in
    C order.
    """

    name: str
    array: Array
    dtype: str = ""
    check: Optional[Check] = None

    def type(self) -> np.dtype[Any]:
        """Return the type of the elements in the file."""
        return np.dtype(self.dtype) if self.dtype else self.array.dtype.newbyteorder("<")


def write(path: str | os.PathLike[str], tensors: Sequence[Tensor], metadata: Mapping[str, str]) -> None:
    """Write a file. The bytes equal those that the command writes for the same contents.

    Arrays are ordered by element size, largest first, so that each is aligned. Arrays of another type or layout are
    converted in chunks, without a full copy. Several threads convert and write. If the checks of several chunks raise,
    the first chunk's error is raised.
    """
    order = sorted(tensors, key=lambda t: -t.type().itemsize)
    entries: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))}
    size = 0
    for t in order:
        end = size + t.array.size * t.type().itemsize
        entries[t.name] = {"dtype": _NAMES[t.type()], "shape": list(t.array.shape), "data_offsets": [size, end]}
        size = end
    text = json.dumps(dict(sorted(entries.items())), separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":  # Go writes these as escapes
        text = text.replace(character, f"\\u{ord(character):04x}")
    header = text.encode()
    header += b" " * (-(8 + len(header)) % _ALIGN)
    begin = 8 + len(header)
    with open(path, "wb", buffering=0) as file:
        file.write(len(header).to_bytes(8, "little") + header)
        _parallel(_tasks(file, begin, order), 1 if size < _SMALL else min(_WORKERS, os.cpu_count() or 1))


def _tasks(file: Any, place: int, tensors: Sequence[Tensor]) -> Iterator[Callable[[], None]]:
    """Yield a function that writes a chunk, for each chunk in file order."""
    lock = threading.Lock()
    for t in tensors:
        kind = t.type()
        if t.array.size > 0:
            for before, chunk in _chunks(t.array, 0):
                yield partial(_put, file, lock, place + before * kind.itemsize, chunk, kind, t.check, before)
        place += t.array.size * kind.itemsize


def _chunks(array: Array, before: int) -> Iterator[tuple[int, Array]]:
    """Yield views of an array in C order, each with the number of elements before it."""
    if array.flags.c_contiguous:
        array = array.reshape(-1)
    width = array.size // len(array)
    if array.ndim > 1 and width > _CHUNK:
        for i, row in enumerate(array):
            yield from _chunks(row, before + i * width)
        return
    rows = _CHUNK // width
    for low in range(0, len(array), rows):
        yield before + low * width, array[low : low + rows]


def _put(
    file: Any, lock: Any, place: int, chunk: Array, kind: np.dtype[Any], check: Optional[Check], before: int
) -> None:
    """Check a chunk and write its elements as kind at an offset of the file."""
    if check is not None:
        check(chunk, before)
    with np.errstate(over="ignore"):  # numbers that are too large become infinite, and the reader reports them
        chunk = np.ascontiguousarray(chunk, dtype=kind)
    view = memoryview(chunk.reshape(-1).data.cast("B"))
    while len(view) > 0:  # a system call may write only a part
        if hasattr(os, "pwrite"):
            done = os.pwrite(file.fileno(), view, place)
        else:
            with lock:
                file.seek(place)
                done = file.write(view)
        view, place = view[done:], place + done


def _parallel(tasks: Iterator[Callable[[], None]], workers: int) -> None:
    """Run tasks in several threads. If tasks raise, start no further ones, and raise the error of the first."""
    lock, numbered = threading.Lock(), enumerate(tasks)
    failed: list[tuple[int, BaseException]] = []

    def work() -> None:
        while not failed:
            with lock:
                number, task = next(numbered, (-1, None))
            if task is None:
                return
            try:
                task()
            except BaseException as e:
                failed.append((number, e))

    threads = [threading.Thread(target=work) for _ in range(workers - 1)]
    for thread in threads:
        thread.start()
    try:
        work()
        for thread in threads:
            thread.join()
    except BaseException as e:  # after Ctrl-C, let the others finish their chunks while the file is open
        failed.append((-1, e))
        for thread in threads:
            thread.join()
    if failed:
        raise min(failed, key=lambda f: f[0])[1]


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Array], dict[str, str]]:
    """Return the arrays of a file by name, and its metadata. Arrays of bfloat16 become float32.

    Raises Error if the file cannot be read or is not a safetensors file.
    """

    def wrong(what: str) -> Error:
        return Error(f"{path}: {what}, must be a safetensors file")

    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or length > min(size - 8, _MOST):
                raise wrong(f"{size} bytes are too few for its header")
            try:
                header = json.loads(file.read(length))
                metadata = {str(k): str(v) for k, v in header.pop("__metadata__", {}).items()}
                places = [(*e["data_offsets"], k, e["dtype"], e["shape"]) for k, e in header.items()]
                places.sort()
            except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
                raise wrong("its header is invalid") from None
            arrays: dict[str, Array] = {}
            for low, high, name, kind, shape in places:
                if kind != "BF16" and kind not in _TYPES:
                    raise wrong(f"tensor {name} has the type {kind}")
                whole = all(isinstance(v, int) and v >= 0 for v in (low, high, *shape))
                bits = np.dtype(_TYPES.get(kind, "<u2"))
                count = 1
                for side in shape:
                    count *= side
                if not whole or high - low != count * bits.itemsize or 8 + length + high > size:
                    raise wrong(f"tensor {name} does not fit into its {size} bytes")
                file.seek(8 + length + low)
                arrays[name] = np.fromfile(file, bits, count).reshape(shape)
                if kind == "BF16":  # the upper half of a float32
                    arrays[name] = (arrays[name].astype("<u4") << 16).view("<f4")
    except OSError as e:
        raise Error(f"{Path(path)}: {reason(e)}") from None
    return arrays, metadata

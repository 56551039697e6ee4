"""Reading and writing safetensors files: a header of JSON, then the raw arrays. Nothing in a file is executed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional

import numpy as np
import numpy.typing as npt

from ._error import Error

__all__ = ["Array", "Tensor", "read", "write"]

Array = npt.NDArray[Any]

_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}
_ALIGN = 64  # the first array begins at a multiple of it
_MOST = 100_000_000  # bytes of a header, the bound of the format
_CHUNK = 1 << 20  # elements that are converted at a time


class Tensor(NamedTuple):
    """An array to be written, as elements of dtype. check, if any, sees each chunk and its place before it is."""

    name: str
    array: Array
    dtype: str = ""
    check: Optional[Callable[[Array, int], None]] = None

    def type(self) -> np.dtype[Any]:
        """Return the type of the elements in the file."""
        return np.dtype(self.dtype) if self.dtype else self.array.dtype.newbyteorder("<")


def write(path: str | os.PathLike[str], tensors: Sequence[Tensor], metadata: Mapping[str, str]) -> None:
    """Write a file. Equal arguments give the bytes that the command writes.

    Arrays are ordered by the size of their elements, largest first, so that each is aligned. Those of another type
    or layout are converted in chunks, without a copy of the whole.
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
    with open(path, "wb", buffering=0) as file:
        _all(file, len(header).to_bytes(8, "little") + header)
        for t in order:
            _data(file, t)


def _data(file: Any, tensor: Tensor) -> None:
    """Write the elements of a tensor in C order."""
    array, kind = tensor.array, tensor.type()
    if array.ndim == 0 or array.size == 0:
        return
    if array.flags.c_contiguous:
        array = array.reshape(-1)
        if array.dtype == kind and tensor.check is None:
            _all(file, array.data.cast("B"))
            return
    rows = max(1, _CHUNK * len(array) // array.size)
    for low in range(0, len(array), rows):
        chunk = array[low : low + rows]
        if tensor.check is not None:
            tensor.check(chunk, low)
        with np.errstate(over="ignore"):  # a number too large becomes infinite, and the reader says where
            chunk = np.ascontiguousarray(chunk, dtype=kind)
        _all(file, chunk.reshape(-1).data.cast("B"))


def _all(file: Any, data: bytes | memoryview) -> None:
    """Write all of data: one call of the system may write a part."""
    view = memoryview(data)
    while len(view) > 0:
        view = view[file.write(view) :]


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Array], dict[str, str]]:
    """Return the arrays of a file by name, and its metadata.

    Raises Error if the file cannot be read or is not a safetensors file.
    """

    def wrong(what: str) -> Error:
        return Error(f"{path}: {what}, want a safetensors file")

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
                raise wrong("its header is not understood") from None
            arrays: dict[str, Array] = {}
            for low, high, name, kind, shape in places:
                if kind not in _TYPES:
                    raise wrong(f"tensor {name} has the type {kind}")
                whole = all(isinstance(v, int) and v >= 0 for v in (low, high, *shape))
                bits = np.dtype(_TYPES[kind])
                count = 1
                for side in shape:
                    count *= side
                if not whole or high - low != count * bits.itemsize or 8 + length + high > size:
                    raise wrong(f"tensor {name} does not fit into its {size} bytes")
                file.seek(8 + length + low)
                arrays[name] = np.fromfile(file, bits, count).reshape(shape)
    except OSError as e:
        raise Error(f"{Path(path)}: {e.strerror or e}") from None
    return arrays, metadata

"""Names of nodes and classes: converts the caller's strings and numbers to the numbers that the command expects."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from ._error import Error
from ._safetensors import Array, Tensor

__all__ = [
    "SPLITS", "class_numbers", "columns", "identity", "in_mask", "listed", "missing", "of_features", "part_of",
    "strings", "text", "text_of", "texts",
]  # fmt: skip

# The part of the split that each word names, in lower case, as in the command.
SPLITS = {"train": "train", "val": "val", "valid": "val", "validation": "val", "test": "test", "": "", "none": ""}

_WHOLE = re.compile(r"[+-]?[0-9]+")


def missing(value: object) -> bool:
    """Return whether a value is missing: None, NaN, pandas' NA or NaT, or an empty string."""
    if value is None or (isinstance(value, str) and not value) or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def part_of(called: str, value: Any) -> str:
    """Return the part of the split that a value names, in any case, or "" for none."""
    part = SPLITS.get("" if missing(value) else str(value).strip().lower())
    if part is None:
        raise Error(f"{called} is {value!r}, must be train, val, test or none")
    return part


def in_mask(called: str, value: Any) -> bool:
    """Return a value of a mask: a boolean, 0 or 1, or such a text. A missing value is False."""
    if getattr(value, "ndim", None) == 0:
        value = value.item()
    if missing(value):
        return False
    if isinstance(value, str):
        value = {"true": True, "1": True, "false": False, "0": False}.get(value.lower(), value)
    if not isinstance(value, (bool, int, float)) or value not in (0, 1):
        raise Error(f"{called} is {value!r}, must be True or False, or 1 or 0")
    return bool(value)


def class_numbers(name: str, values: Sequence[Any], numbers_too: bool = False) -> tuple[Array, Optional[list[str]]]:
    """Return the class of each value, −1 for none, and the names of the classes in sorted order.

    If all values are integers, or strings of integers, they are the classes, and there are no names. If numbers_too is
    set, they are names, as in the command, unless they begin at 0 and have few gaps; −1 means none, unless the classes
    are exactly −1 and 1. Raises Error if numbers and names are mixed.
    """
    kinds: dict[bool, int] = {}  # positions of the first string and the first other value
    for i, value in enumerate(values):
        if not missing(value):
            if not isinstance(value, (str, bytes, int, float, np.integer, np.floating, np.bool_)):
                raise Error(f"{name} of node {i} is a {type(value).__name__}, must be a number, a string or None")
            kinds.setdefault(isinstance(value, (str, bytes)), i)
    if len(kinds) == 2:
        number, text = kinds[False], kinds[True]
        raise Error(
            f"{name} of node {number} is {values[number]!r} and of node {text} {values[text]!r}, expected one type"
        )
    if True not in kinds:
        numbers = [None if missing(v) else v.item() if isinstance(v, np.generic) else v for v in values]
    else:
        words = ["" if missing(v) else v.decode() if isinstance(v, bytes) else str(v) for v in values]
        whole = [not w or _WHOLE.fullmatch(w) is not None for w in words]
        if not all(whole):
            odd = next((i for i, w in enumerate(words) if w and whole[i]), None)
            if odd is not None:
                named = whole.index(False)
                raise Error(
                    f"{name} of node {odd} is the number {words[odd]!r} and of node {named} the name "
                    f"{words[named]!r}, must be numbers or names"
                )
            classes = sorted({w for w in words if w})
            place = {c: i for i, c in enumerate(classes)}
            return np.array([place.get(w, -1) for w in words], np.int64), classes
        numbers = [int(w) if w else None for w in words]
    if numbers_too and all(v is None or v == v // 1 for v in numbers):
        for i, v in enumerate(numbers):
            if isinstance(v, float) and abs(v) >= 2**53:
                raise Error(f"{name} of node {i} is the float {v:.0f}, must be an integer or a string from {2**53}")
        found = {int(v) for v in numbers if v is not None}
        if found != {-1, 1}:  # two classes; with other numbers, -1 means none
            found.discard(-1)
        if found and (min(found) != 0 or max(found) >= 2 * len(found)):
            class_of: dict[Any, int] = {v: i for i, v in enumerate(sorted(found))}
            return np.array([class_of.get(v, -1) for v in numbers], np.int64), [str(v) for v in class_of]
    return np.array(numbers, np.float64), None


def identity(ids: Sequence[Any]) -> bool:
    """Return whether each id equals its position. Such nodes need no names."""
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        return bool(np.array_equal(ids, np.arange(len(ids))))
    return all(type(v) is int and v == i for i, v in enumerate(ids))


def text(name: Any) -> str:
    """Return an id as the string that a file has."""
    return name.decode() if isinstance(name, bytes) else str(name)


def texts(ids: Sequence[Any]) -> list[str]:
    """Return ids as strings for a file. Raise Error if two different ids give the same string."""
    found = [text(v) for v in ids]
    if len(set(found)) < len(found):
        seen: dict[str, int] = {}
        for i, name in enumerate(found):
            if seen.setdefault(name, i) != i:
                raise Error(f"nodes {ids[seen[name]]!r} and {ids[i]!r} have the same name, expected different ones")
    return found


def strings(name: str, values: Sequence[str]) -> list[Tensor]:
    """Return the two tensors that store a list of strings: their bytes, and their offsets."""
    encoded = [v.encode("utf-8", "surrogatepass") for v in values]
    offsets = np.concatenate([[0], np.cumsum([len(v) for v in encoded], dtype=np.int64)]).astype(np.int64)
    return [Tensor(f"{name}.offsets", offsets), Tensor(name, np.frombuffer(b"".join(encoded), np.uint8))]


def text_of(name: str, tensors: dict[str, Array]) -> Optional[list[str]]:
    """Return the list of strings stored in two tensors, or None if the tensors are missing."""
    if name not in tensors or f"{name}.offsets" not in tensors:
        return None
    data, offsets = tensors[name].tobytes(), tensors[f"{name}.offsets"].tolist()
    return [data[low:high].decode("utf-8", "replace") for low, high in zip(offsets, offsets[1:])]


def columns(table: Any) -> Optional[list[str]]:
    """Return the names of the columns of a DataFrame or a pyarrow Table. None if it has no names that are strings."""
    names = getattr(table, "column_names", None)  # of pyarrow, whose columns are the data
    if not isinstance(names, list):
        names = list(getattr(table, "columns", ()))
    return names if names and all(isinstance(n, str) for n in names) else None


def listed(metadata: Mapping[str, str], key: str) -> Optional[list[str]]:
    """Return a list of names in the metadata of a file. None if there is none."""
    names = metadata.get(key)
    return None if names is None else list(json.loads(names))


def of_features(names: Any) -> Optional[list[str]]:
    """Return names of features as a list. None if they are not texts, such as an attribute with another meaning."""
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        return None
    return [str(name).encode(errors="replace").decode() for name in names]

"""Functions that run on the machines of a Spark cluster: they put entries of A into buckets, and make frames of them.

Bucket b of B contains the nodes v with v mod B = b, and all their entries of A. A is symmetric. Bit v of a bitmap
stands for node v.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Optional

import numpy as np

from ._spark_blocks import KEYS, WRONG, Map, holds
from ._spark_work import CHUNK, ENTRY, NODE, batch_of, record

__all__ = ["BUCKETS", "NEAR", "build", "entries_of", "near", "nodes_of", "restrict"]

BUCKETS = (
    "bucket int, counts binary, degrees binary, classes binary, columns binary, weights binary, entries long, "
    "edges long, train binary, wrong string"
)
NEAR = "bucket int, bits binary, entries long"


def build(keys: Sequence[int], count: int, weighted: bool) -> Map:
    """Return a function that assembles the pieces of each bucket, with sorted entries and without duplicates.

    Duplicate entries get their largest weight.
    """
    places = {key: b for b, key in enumerate(keys)}

    def take(batches: Iterable[Any]) -> Iterator[Any]:
        pieces: dict[int, list[tuple[int, Any]]] = {}
        for batch in batches:
            columns = batch.column("key").to_pylist(), batch.column("kind").to_pylist(), batch.column("payload")
            for key, kind, payload in zip(*columns):
                pieces.setdefault(places[key], []).append((kind, payload.as_buffer()))
        for b in sorted(pieces):
            yield _bucket(pieces.pop(b), b, len(keys), count, weighted)

    return take


def _bucket(pieces: list[tuple[int, Any]], b: int, buckets: int, count: int, weighted: bool) -> Any:
    m = (count - b + buckets - 1) // buckets
    classes, seen = np.full(m, -1, "<i4"), np.zeros(m, "<i4")
    wrong: Optional[str] = None
    ends: list[list[Any]] = [[], [], []]
    for kind, raw in pieces:
        if kind == WRONG:
            wrong = raw.to_pybytes().decode()
        elif kind == KEYS:
            number, own = np.frombuffer(raw, "<i4").reshape(2, -1)
            place = number // buckets
            classes[place] = own
            np.add.at(seen, place, 1)
        else:
            columns = np.frombuffer(raw, "<i4").reshape(3 if weighted else 2, -1)
            ends[0].append((columns[0] // buckets).astype("<u8") << np.uint64(32) | columns[1].astype("<u8"))
            if weighted:
                ends[1].append(columns[2].view("<f4"))
    pieces.clear()
    if wrong is None and (seen != 1).any():
        twice = int(np.argmax(seen))
        wrong = f"the id {b + buckets * twice} is of {seen[twice]} nodes, expected each id once"
    entry = np.concatenate(ends[0]) if ends[0] else np.zeros(0, "<u8")
    w = np.zeros(0, "<f4")
    if weighted:
        order = np.argsort(entry, kind="stable")
        entry, w = entry[order], (np.concatenate(ends[1]) if ends[1] else w)[order]
        first = np.flatnonzero(np.concatenate([[True], entry[1:] != entry[:-1]])) if len(entry) else order
        w = np.maximum.reduceat(w, first) if len(entry) else w
        entry = entry[first]
    else:
        entry.sort()
        if len(entry):
            entry = entry[np.concatenate([[True], entry[1:] != entry[:-1]])]
    row, column = (entry >> np.uint64(32)).astype("<i8"), (entry & np.uint64(0xFFFFFFFF)).astype("<i4")
    upper = int(np.count_nonzero(row * buckets + b < column))
    return _row(b, np.bincount(row, minlength=m), _degrees(row, w, m, weighted), classes, column, w, upper, wrong)


def _degrees(row: Any, w: Any, m: int, weighted: bool) -> Any:
    """Return the sum of the weights of each row, added sequentially in float64."""
    return np.bincount(row, weights=w if weighted else None, minlength=m).astype("<f8")


def _row(
    b: int, counts: Any, degrees: Any, classes: Any, columns: Any, w: Any, edges: int, wrong: Optional[str]
) -> Any:  # fmt: skip
    import pyarrow as pa

    def raw(array: Any, kind: str) -> Any:
        return pa.array([np.ascontiguousarray(array, kind).tobytes()], pa.binary())

    return record(
        bucket=pa.array([b], pa.int32()), counts=raw(counts, "<i4"), degrees=raw(degrees, "<f8"),
        classes=raw(classes, "<i4"), columns=raw(columns, "<i4"), weights=raw(w, "<f4"),
        entries=pa.array([len(columns)], pa.int64()), edges=pa.array([edges], pa.int64()),
        train=raw(np.packbits(classes >= 0), "u1"), wrong=pa.array([wrong], pa.string()),
    )  # fmt: skip


class _Bucket:
    """A bucket that build made."""

    columns: Any
    degrees: Any
    classes: Any
    weights: Any

    def __init__(self, batch: Any, i: int, buckets: int) -> None:
        def array(name: str, kind: str) -> Any:
            return np.frombuffer(batch.column(name)[i].as_buffer(), kind)

        self.b = batch.column("bucket")[i].as_py()
        self.counts = array("counts", "<i4")
        for name, kind in (("columns", "<i4"), ("degrees", "<f8"), ("classes", "<i4"), ("weights", "<f4")):
            if name in batch.schema.names:  # otherwise it was not selected
                setattr(self, name, array(name, kind))
        self.numbers = np.arange(len(self.counts), dtype="<i4") * np.int32(buckets) + np.int32(self.b)

    def rows(self) -> Any:
        """Return the position of each entry's node in the bucket."""
        return np.repeat(np.arange(len(self.counts), dtype="<i4"), self.counts)


def _buckets(batches: Iterable[Any], buckets: int) -> Iterator[_Bucket]:
    for batch in batches:
        for i in range(batch.num_rows):
            yield _Bucket(batch, i, buckets)


def restrict(bits: Any, buckets: int, weighted: bool) -> Map:
    """Return a function that keeps in each bucket only the entries between nodes of a bitmap."""

    def take(batches: Iterable[Any]) -> Iterator[Any]:
        for bucket in _buckets(batches, buckets):
            row = bucket.rows()
            inside = holds(bits.value, bucket.columns) & holds(bits.value, bucket.numbers)[row]
            row, m = row[inside], len(bucket.counts)
            w = bucket.weights[inside] if weighted else bucket.weights
            counts, degrees = np.bincount(row, minlength=m), _degrees(row, w, m, weighted)
            yield _row(bucket.b, counts, degrees, bucket.classes, bucket.columns[inside], w, 0, None)

    return take


def near(bits: Any, buckets: int) -> Map:
    """Return a function that counts the entries of a bitmap's nodes, and finds the nodes within one hop of them.

    A is symmetric, so a bucket contains all neighbours of its nodes, and nothing is shuffled.
    """

    def take(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for bucket in _buckets(batches, buckets):
            own = holds(bits.value, bucket.numbers)
            hits = np.concatenate([[0], np.cumsum(holds(bits.value, bucket.columns), dtype="<i8")])
            ends = np.concatenate([[0], np.cumsum(bucket.counts, dtype="<i8")])
            found = own | (hits[ends[1:]] > hits[ends[:-1]])
            yield record(
                bucket=pa.array([bucket.b], pa.int32()), bits=pa.array([np.packbits(found).tobytes()], pa.binary()),
                entries=pa.array([int(bucket.counts[own].sum(dtype="<i8"))], pa.int64()),
            )  # fmt: skip

    return take


def nodes_of(within: Sequence[Any], keys: Sequence[Sequence[int]], buckets: int, rows: bool) -> Map:
    """Return a function that makes frames of nodes: each key in keys[b] gets the nodes with v mod len(keys) = b.

    within[t], for t from 0 to K, is the bitmap of the nodes at most t hops away. If rows is set, frames contain the
    distance of each node instead of its number of entries.
    """

    def take(batches: Iterable[Any]) -> Iterator[Any]:
        for bucket in _buckets(batches, buckets):
            far = np.zeros(len(bucket.numbers), "<i4")
            for bits in within:
                far += ~holds(bits.value, bucket.numbers)
            hops = len(within) - 1
            told = far if rows else np.where(far < hops, bucket.counts, 0).astype("<i4")
            block = np.where(far <= hops, bucket.numbers % len(keys), -1)
            for b, own in enumerate(keys):
                chosen = np.flatnonzero(block == b)
                for lo in range(0, len(chosen), CHUNK // 20):
                    part = chosen[lo : lo + CHUNK // 20]
                    columns = (bucket.numbers, told, bucket.degrees, bucket.classes)
                    payload = struct.pack("<I", len(part)) + b"".join(c[part].tobytes() for c in columns)
                    yield batch_of([(key, NODE, 0, payload) for key in own])

    return take


def entries_of(bits: Any, keys: Sequence[Sequence[int]], buckets: int, weighted: bool, rows: bool) -> Map:
    """Return a function that makes frames of the entries of A in the rows of a bitmap, as lists of neighbours.

    Unless rows is set, all keys get all rows. If it is set, each key in keys[b] gets the columns v with v mod len(keys)
    = b. A bucket contains the rows of its nodes, which are also their columns, because A is symmetric.
    """
    limit = CHUNK // (8 if weighted else 4)

    def take(batches: Iterable[Any]) -> Iterator[Any]:
        for bucket in _buckets(batches, buckets):
            if rows:
                inside = holds(bits.value, bucket.columns)
            else:
                inside = np.repeat(holds(bits.value, bucket.numbers), bucket.counts)
            block = bucket.numbers % len(keys)
            for b, them in enumerate(keys):
                chosen = inside if len(keys) == 1 else inside & np.repeat(block == b, bucket.counts)
                for payload in _lists(bucket, chosen, limit, weighted):
                    yield batch_of([(key, ENTRY, 0, payload) for key in them])

    return take


def _lists(bucket: _Bucket, chosen: Any, limit: int, weighted: bool) -> Iterator[bytes]:
    """Yield payloads of frames with the chosen entries, about limit entries each. No list is split between frames."""
    columns, w = bucket.columns, bucket.weights if weighted else None
    counts = bucket.counts
    if not chosen.all():
        before = np.concatenate([[0], np.cumsum(chosen, dtype="<i8")])
        ends = np.concatenate([[0], np.cumsum(counts, dtype="<i8")])
        counts = np.diff(before[ends]).astype("<i4")
        columns, w = columns[chosen], None if w is None else w[chosen]
    full = np.flatnonzero(counts)
    ends = np.concatenate([[0], np.cumsum(counts[full], dtype="<i8")])
    first = 0
    while first < len(full):
        end = max(first + 1, int(np.searchsorted(ends, ends[first] + limit, "right")) - 1)
        part, lo, hi = full[first:end], ends[first], ends[end]
        pieces = [struct.pack("<II", len(part), int(weighted)), bucket.numbers[part].tobytes(), counts[part].tobytes()]
        pieces += [column[lo:hi].data for column in (columns, w) if column is not None]
        yield b"".join(pieces)
        first = end

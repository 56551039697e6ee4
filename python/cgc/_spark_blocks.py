"""Functions that run on the machines of a Spark cluster: they convert rows to blocks of arrays and pieces of buckets.

A block of the node table is a batch of its rows: ids, labels and splits in Arrow format, and the features as one array.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ._spark_work import CHUNK, FEATURE, NAME, batch_of, numbers_of, record

__all__ = [
    "BLOCKS", "ENDS", "KEYS", "WRONG", "Map", "Rank", "as_they_are", "blocks_of", "ends_of", "features_of", "found_in",
    "holds", "keys_of", "names_of",
]  # fmt: skip

BLOCKS = "keys binary, x binary, facts string"
KEYS, ENDS, WRONG = 0, 1, 2  # kinds of pieces of a bucket
_HELD = 1 << 21  # entries that are buffered until they are cut into pieces
_MOST_LABELS = 1 << 18

Map = Callable[[Iterable[Any]], Iterator[Any]]
Rank = Callable[[Any], Any]  # maps ids to numbers, and unknown ids to -1


def blocks_of(splits: Sequence[str], whole: bool, keep: bool = True) -> Map:
    """Return a function that makes blocks from the columns id, label, split, optionally name, and x.

    After the blocks of a partition, it yields facts about them as JSON. whole says whether ids are integers. If keep is
    False, features are checked but left out of the blocks, because they can be read again.
    """

    def take(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        facts: dict[str, Any] = {
            "rows": 0, "nulls": 0, "most": 0, "fewest": 1 << 31, "odd": False, "strange": False, "bare": False,
            "low": 1 << 63, "high": -1, "bytes": 0,
        }  # fmt: skip
        counts: dict[tuple[Any, Any], int] = {}
        for batch in batches:
            if not batch.num_rows:
                continue
            ids, label, split, x = (batch.column(name) for name in ("id", "label", "split", "x"))
            facts["rows"] += batch.num_rows
            facts["nulls"] += ids.null_count
            facts["bytes"] += ids.nbytes
            if whole and ids.null_count < len(ids):
                least = pc.min_max(ids).as_py()
                facts["low"], facts["high"] = min(facts["low"], least["min"]), max(facts["high"], least["max"])
            pairs = pa.table({"label": label, "split": split}).group_by(["label", "split"])
            for row in pairs.aggregate([([], "count_all")]).to_pylist():
                key = (row["label"], row["split"])
                facts["strange"] |= row["split"] not in splits
                facts["bare"] |= row["split"] == "train" and row["label"] is None
                if key in counts or len(counts) < _MOST_LABELS:
                    counts[key] = counts.get(key, 0) + row["count_all"]
            lengths = pc.list_value_length(x)
            flat = x.flatten()
            values = flat.to_numpy(zero_copy_only=False)
            odd = bool(x.null_count or flat.null_count or not np.isfinite(values).all())
            span = pc.min_max(lengths).as_py()
            if span["min"] is not None:
                facts["most"], facts["fewest"] = max(facts["most"], span["max"]), min(facts["fewest"], span["min"])
            facts["odd"] |= odd
            sink = pa.BufferOutputStream()
            keys = batch.select([name for name in batch.schema.names if name != "x"])
            with pa.ipc.new_stream(sink, keys.schema) as stream:
                stream.write_batch(keys)
            packed = np.ascontiguousarray(values, "<f4").tobytes() if keep else None
            yield record(
                keys=pa.array([sink.getvalue().to_pybytes()], pa.binary()), x=pa.array([packed], pa.binary()),
                facts=pa.array([None], pa.string()),
            )  # fmt: skip
        facts["labels"] = [(label, split, count) for (label, split), count in counts.items()]
        none = pa.array([None], pa.binary())
        yield record(keys=none, x=none, facts=pa.array([json.dumps(facts)]))

    return take


def _blocks(batches: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the keys and the features of each block. A batch of plain rows counts as one block."""
    import pyarrow as pa

    for batch in batches:
        if "keys" not in batch.schema.names:
            yield batch, np.ascontiguousarray(batch.column("x").flatten().to_numpy(zero_copy_only=False), "<f4")
            continue
        for i in range(batch.num_rows):
            keys = batch.column("keys")[i]
            if keys.is_valid:
                table = pa.ipc.open_stream(keys.as_buffer()).read_all().combine_chunks()
                yield table, batch.column("x")[i].as_buffer() if "x" in batch.schema.names else None


def _classes(table: Any, places: Mapping[str, int]) -> Any:
    """Return the class of each row, or -1 if it is not a training node."""
    import pyarrow.compute as pc

    coded = pc.dictionary_encode(table.column("label")).combine_chunks()
    coded = coded.chunk(0) if hasattr(coded, "chunk") else coded
    lookup = np.array([places.get(text, -1) for text in coded.dictionary.to_pylist()] + [-1], "<i4")
    codes = coded.indices.fill_null(len(lookup) - 1).to_numpy(zero_copy_only=False)
    train = np.asarray(pc.equal(table.column("split"), "train").to_numpy(), bool)
    return np.where(train, lookup[codes], -1).astype("<i4")


def keys_of(rank: Rank, places: Mapping[str, int], keys: Sequence[int]) -> Map:
    """Return a function that sends the number and the class of each node in the blocks to the node's bucket.

    keys[b] is the key of bucket b.
    """

    def take(batches: Iterable[Any]) -> Iterator[Any]:
        for table, _ in _blocks(batches):
            yield batch_of(_pieces(keys, KEYS, [rank(table.column("id")), _classes(table, places)]))

    return take


def ends_of(rank: Rank, keys: Sequence[int], weighted: bool) -> Map:
    """Return a function that sends both directions of each edge to their buckets, without self-loops.

    Its batches have the columns source, target and, if there are weights, w. Bucket 0 gets a message about each task's
    first invalid edge.
    """

    def take(batches: Iterable[Any]) -> Iterator[Any]:
        held: list[list[Any]] = []
        count, told = 0, False
        for batch in batches:
            a, b = rank(batch.column("source")), rank(batch.column("target"))
            edge = [a, b]
            right = (a >= 0) & (b >= 0)
            if weighted:
                w = batch.column("w").fill_null(-1).to_numpy(zero_copy_only=False).astype("<f4")
                edge.append(w)
                right &= np.isfinite(w) & (w > 0)
            if not told and not right.all():
                told = True
                yield batch_of([(keys[0], WRONG, 0, _wrong(batch, edge, int(np.argmin(right))).encode())])
            right &= a != b
            held.append([column[right] for column in edge])
            count += len(a)
            if count >= _HELD:
                yield batch_of(_both(keys, held))
                held, count = [], 0
        if count:
            yield batch_of(_both(keys, held))

    return take


def _wrong(batch: Any, edge: Sequence[Any], i: int) -> str:
    """Return an error message about edge i."""
    names = ("said_source", "said_target") if "said_source" in batch.schema.names else ("source", "target")
    source, target = (batch.column(name)[i].as_py() for name in names)
    for name, end, said in (("source", edge[0], source), ("target", edge[1], target)):
        if end[i] < 0:
            return f"the edge from {source} to {target} has the {name} {said}, which no node has"
    weight = batch.column("w")[i].as_py()
    return f"the edge from {source} to {target} has the weight {weight}, must have a finite one above 0"


def _both(keys: Sequence[int], held: Sequence[Sequence[Any]]) -> list[tuple[int, int, int, bytes]]:
    a, b, *w = (np.concatenate(column) for column in zip(*held))
    twice = [np.concatenate([column, column]) for column in w]
    return _pieces(keys, ENDS, [np.concatenate([a, b]), np.concatenate([b, a]), *twice])


def _pieces(keys: Sequence[int], kind: int, columns: Sequence[Any]) -> list[tuple[int, int, int, bytes]]:
    """Cut columns into a piece for each bucket, by the node numbers in the first column."""
    block = (columns[0] % len(keys)).astype("<u2" if len(keys) <= 1 << 16 else "<u4")
    order = np.argsort(block, kind="stable")
    ends = np.searchsorted(block[order], np.arange(len(keys) + 1))
    sorted_ = [column[order] for column in columns]
    return [
        (keys[b], kind, 0, b"".join(c[ends[b] : ends[b + 1]].tobytes() for c in sorted_))
        for b in np.flatnonzero(ends[:-1] < ends[1:])
    ]


def holds(bits: Any, numbers: Any) -> Any:
    """Return whether each number is in a bitmap."""
    return (bits[numbers >> 3] >> (7 - (numbers & 7)).astype("u1")) & 1 == 1


def features_of(
    rank: Rank, bits: Any, keys: Sequence[Sequence[int]], cuts: Sequence[tuple[int, int]], width: int, normalize: bool
) -> Map:  # fmt: skip
    """Return a function that makes frames of features, for the nodes in the blocks that are in a bitmap.

    keys[b][c] gets columns cuts[c] of the nodes with v mod len(keys) = b. If normalize is set, the frames include each
    node's sum of absolute features.
    """
    step = max(1, CHUNK // (4 * max(hi - lo for lo, hi in cuts) + 12))

    def take(batches: Iterable[Any]) -> Iterator[Any]:
        for table, raw in _blocks(batches):
            number = rank(table.column("id"))
            x = np.frombuffer(raw, "<f4").reshape(len(number), width)
            inside = np.flatnonzero(holds(bits.value, number))
            block = number[inside] % len(keys)
            for b, own in enumerate(keys):
                chosen = inside if len(keys) == 1 else inside[block == b]
                for first in range(0, len(chosen), step):
                    part = chosen[first : first + step]
                    head = struct.pack("<I", len(part)) + number[part].tobytes()
                    rows = x[part[0] : part[-1] + 1] if part[-1] - part[0] + 1 == len(part) else x[part]
                    if normalize:  # sequentially in float64, like the command
                        sums = np.cumsum(np.abs(rows), axis=1, dtype="<f8")[:, -1]
                        head += np.where(sums == 0, 1, sums).tobytes()
                    yield batch_of(
                        [
                            (key, FEATURE, 0, b"".join((head, np.ascontiguousarray(rows[:, lo:hi]).data)))
                            for key, (lo, hi) in zip(own, cuts)
                        ]
                    )

    return take


def names_of(rank: Rank, places: Mapping[str, int], keys: Sequence[int]) -> Map:
    """Return a function that makes frames of the names of training nodes: keys[b] gets v with v mod len(keys) = b."""

    def take(batches: Iterable[Any]) -> Iterator[Any]:
        for table, _ in _blocks(batches):
            number = rank(table.column("id"))
            train = np.flatnonzero(_classes(table, places) >= 0)
            texts = table.column("name" if "name" in table.schema.names else "id")
            for b, key in enumerate(keys):
                own = train[number[train] % len(keys) == b]
                if len(own):
                    named = [str(text).encode() for text in texts.take(own).to_pylist()]
                    ends = np.cumsum([0, *map(len, named)]).astype("<u4")
                    head = struct.pack("<I", len(own)) + number[own].tobytes() + ends.tobytes()
                    yield batch_of([(key, NAME, 0, head + b"".join(named))])

    return take


def as_they_are(count: int) -> Rank:
    """Return a Rank for ids that are the numbers 0 to count - 1."""

    def rank(column: Any) -> Any:
        number = numbers_of(column, "<i8")
        return np.where((number >= 0) & (number < count), number, -1).astype("<i4")

    return rank


def found_in(ids: Any) -> Rank:
    """Return a Rank that finds ids in a broadcast, sorted array of all ids."""

    def rank(column: Any) -> Any:
        import pyarrow.compute as pc

        return numbers_of(pc.index_in(column, value_set=ids.value), "<i4")

    return rank

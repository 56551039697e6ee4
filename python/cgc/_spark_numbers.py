"""Numbers the nodes of a graph in Spark tables, and puts the entries of A into buckets.

Nodes are numbered in the order of their ids, so that equal tables give equal bytes, however they are split into files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np

from ._error import Error
from ._spark_blocks import Rank, as_they_are, ends_of, found_in, keys_of
from ._spark_buckets import BUCKETS, build
from ._spark_files import groups_of, of_edges, read_by
from ._spark_tables import Again, Columns, Table, check, column, disk, key_of
from ._spark_work import FRAMES

__all__ = ["COLLECTED", "Numbered", "gathered", "keys_for", "number", "size_of"]

COLLECTED = 64 << 20  # maximum bytes of ids that the driver sorts and broadcasts
_BUCKET = 8 << 20  # bytes of the compressed edge table per bucket
_SORTED = ("string", "date", "timestamp", "binary", "long")  # types that Arrow and Spark sort in the same order


@dataclass
class Numbered:
    """A graph whose nodes are the numbers 0 to count - 1, in the order of their ids.

    blocks contains ids and features; rank maps ids to numbers. Bucket v mod buckets contains node v and its entries of
    A. A has each edge once in both directions, without self-loops. Duplicate edges get their largest weight.
    """

    count: int
    edge_count: int
    width: int
    train: int
    classes: int
    class_names: Optional[list[str]]
    feature_names: Optional[list[str]]
    weighted: bool
    named: bool  # ids are not 0 to count - 1
    places: dict[str, int] = field(default_factory=dict)  # maps labels to classes
    blocks: Any = None
    rank: Optional[Rank] = None
    entries: Any = None
    buckets: int = 1
    trains: Any = None  # for each node, whether it is a training node
    again: Optional[Again] = None  # runs a function over the rows with features, if blocks have none

    def embedded(self, hops: int) -> int:
        """Return the bytes of the embeddings of the training nodes."""
        return 4 * self.train * self.width * (hops + 1)


def number(session: Any, table: Table, edges: Any, columns: Columns, slots: int, kept: list[Any]) -> Numbered:
    """Assign numbers to nodes and put edges into buckets. Raise Error for invalid data, before any propagation."""
    from pyspark.sql import functions as F

    for name, flag in ((columns.source, "source"), (columns.target, "target")):
        column(edges, name, flag, "the table of edges")
    weighted = columns.weight in edges.columns
    ends = edges.select(
        key_of(edges, columns.source).alias("source"), key_of(edges, columns.target).alias("target"),
        *([F.col(f"`{columns.weight}`").cast("float").alias("w")] if weighted else []),
    )  # fmt: skip
    own = table.plain.schema["id"].dataType
    for name in ("source", "target"):
        have = ends.schema[name].dataType.typeName()
        if (own.typeName() == "string") != (have == "string"):
            raise Error(
                f"ids of nodes have the type {own.typeName()}, column {name} of the edges has {have}: expected one type"
            )
    plain = [columns.source, columns.target]
    groups = groups_of(edges, [*plain, *([columns.weight] if weighted else [])], plain)
    as_told = table.whole and table.low == 0 and table.high == table.count - 1
    alike = all(ends.schema[name].dataType == own for name in ("source", "target"))
    named = not as_told
    rank = as_they_are(table.count)
    if not as_told and alike and own.typeName() in _SORTED and table.size <= COLLECTED:
        ids, named = _collect(table)
        rank = found_in(session.sparkContext.broadcast(ids))
    elif not (as_told and alike):
        table, ends, named = _join(session, table, ends, kept)
        rank, groups = as_they_are(table.count), None
    buckets = min(table.count, max(slots, min(20_000, -(-size_of(edges) // _BUCKET))))
    keys = keys_for(buckets)
    pieces = table.blocks.where(F.col("keys").isNotNull()).select("keys").mapInArrow(
        keys_of(rank, table.places, keys), FRAMES
    )  # fmt: skip
    take = ends_of(rank, keys, weighted)
    if groups is None:
        halves = ends.mapInArrow(take, FRAMES)
    else:
        own_files = of_edges(take, groups, columns.source, columns.target, columns.weight if weighted else None)
        halves = read_by(session, groups, own_files, FRAMES)
    pieces = pieces.union(halves).repartition(buckets, "key")
    entries = pieces.mapInArrow(build(keys, table.count, weighted), BUCKETS).persist(disk())
    kept.append(entries)
    facts = entries.select("bucket", "edges", "train", "wrong").collect()
    for fact in facts:
        if fact.wrong is not None:
            raise Error(fact.wrong)
    trains = gathered(table.count, buckets, [(fact.bucket, fact.train) for fact in facts])
    return Numbered(
        table.count, sum(fact.edges for fact in facts), table.width, int(np.count_nonzero(trains)), table.classes,
        table.class_names, table.feature_names, weighted, named,
        table.places, table.blocks, rank, entries, buckets, trains, table.again,
    )  # fmt: skip


def gathered(count: int, buckets: int, parts: Sequence[tuple[int, bytes]]) -> Any:
    """Return a boolean for each node: whether it is in the bitmap of its bucket."""
    if len(parts) != buckets:
        raise Error(f"{len(parts)} of {buckets} buckets came")
    whole = np.zeros(count, bool)
    for b, bits in parts:
        own = whole[b::buckets]
        own[:] = np.unpackbits(np.frombuffer(bits, "u1"), count=len(own))
    return whole


def keys_for(parts: int) -> list[int]:
    """Return numbers that Spark's hash puts into different partitions, one per partition, so that tasks are balanced.

    The hash is 32-bit Murmur3 with seed 42.
    """
    tries = np.arange(64 * parts + 64, dtype="u4")
    with np.errstate(over="ignore"):
        k = tries * np.uint32(0xCC9E2D51)
        k = ((k << np.uint32(15)) | (k >> np.uint32(17))) * np.uint32(0x1B873593)
        h = np.uint32(42) ^ k
        h = ((h << np.uint32(13)) | (h >> np.uint32(19))) * np.uint32(5) + np.uint32(0xE6546B64)
        h ^= np.uint32(4)
        for shift, by in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
            h = (h ^ (h >> np.uint32(shift))) * np.uint32(by)
        h ^= h >> np.uint32(16)
    places, first = np.unique(h.view("i4").astype("i8") % parts, return_index=True)
    if len(places) < parts:
        raise Error(f"{parts} partitions, expected fewer (--parts)")
    return [int(key) for key in first]


def size_of(table: Any) -> int:
    """Return Spark's estimate of the size of a table in bytes."""
    return int(str(table._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))


def _collect(table: Table) -> tuple[Any, bool]:
    """Return the sorted ids, and whether they differ from the numbers 0, 1, …."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyspark.sql import functions as F

    found = [
        pa.ipc.open_stream(row.keys_).read_all().column("id")
        for row in table.blocks.where(F.col("keys").isNotNull()).select(F.col("keys").alias("keys_")).collect()
    ]
    ids = pa.chunked_array([chunk for column_ in found for chunk in column_.chunks]).combine_chunks()
    ids = ids.chunk(0) if hasattr(ids, "chunk") else ids
    ids = ids.take(pc.sort_indices(ids))
    same = pc.equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)
    if same.any():
        twice = ids[int(np.argmax(same))]
        _twice(twice.as_py(), pc.sum(pc.equal(ids, twice)).as_py())
    return ids, any(str(ids[i].as_py()) != str(i) for i in range(len(ids)))


def _twice(bad: Any, rows: int) -> None:
    raise Error(f"the id {bad} is of {rows} nodes, expected each id once")


def _join(session: Any, table: Table, ends: Any, kept: list[Any]) -> tuple[Table, Any, bool]:
    """Replace ids with numbers by joins, for ids that the driver cannot hold or Arrow cannot compare."""
    from pyspark.sql import functions as F

    keys = _ranks(session, table.plain.select("id"), kept).persist(disk())
    kept.append(keys)
    named = keys.where(F.col("id").cast("string") != F.col("number").cast("string")).first() is not None
    name = F.col("name") if "name" in table.plain.columns else F.col("id").cast("string").alias("name")
    plain = table.plain.join(keys, "id").select(F.col("number").alias("id"), "label", "split", name, "x")
    for end, put in (("source", "a"), ("target", "b")):
        ends = ends.join(keys.select(F.col("id").alias(end), F.col("number").alias(put)), end, "left")
    said = [F.col(end).cast("string").alias(f"said_{end}") for end in ("source", "target")]
    ends = ends.select(
        F.col("a").alias("source"), F.col("b").alias("target"), *said, *(["w"] if "w" in ends.columns else [])
    )
    return check(plain, (), kept), ends, named


def _ranks(session: Any, plain: Any, kept: list[Any]) -> Any:
    """Return a table of ids with their ranks in the column number.

    The rank does not depend on the partitioning of the rows. The persisted tables have one plan, so that Spark
    recomputes a lost partition identically.
    """
    from pyspark.sql import functions as F

    parts = max(1, int(session.conf.get("spark.sql.shuffle.partitions")))
    ordered = plain.repartitionByRange(parts, "id").sortWithinPartitions("id")
    ordered = ordered.withColumn("place", F.monotonically_increasing_id()).persist(disk())
    kept.append(ordered)
    sizes = ordered.groupBy(F.shiftright("place", 33).alias("part")).agg(
        F.count("*").alias("rows"), F.count_distinct("id").alias("ids")
    )
    before, count, twice = [], 0, False
    for row in sorted(sizes.collect(), key=lambda row: row.part):
        before.append((row.part, count))
        count, twice = count + row.rows, twice or row.ids < row.rows
    if twice:
        bad = ordered.groupBy("id").count().where("count > 1").orderBy("id").first()
        _twice(bad.id, bad["count"])
    offsets = F.broadcast(session.createDataFrame(before, "part long, before long"))
    return ordered.join(offsets, F.shiftright("place", 33) == F.col("part")).select(
        (F.col("before") + F.col("place").bitwiseAND((1 << 33) - 1)).cast("long").alias("number"), "id"
    )

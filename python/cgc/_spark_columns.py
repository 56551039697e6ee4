"""Shape 1: each task takes some columns of the features and all edges that are needed, and runs all hops."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._error import Error
from ._spark_reach import Needed
from ._spark_tables import Numbered
from ._spark_work import FRAMES, RESULT, entries_of, names_of, nodes_of, run_worker

__all__ = ["UNIT", "columns_that_fit", "cut", "fetch", "keys_for", "propagate", "sizing"]

_BATCH = 16 << 20  # bytes of a batch between Java and Python
UNIT = 16  # columns of a cache line, as package blocked cuts them


def sizing(graph: Numbered, need: Needed, hops: int) -> tuple[int, int]:
    """Return the bytes that a worker takes for the topology, and for each column."""
    each = 16 if graph.weighted else 8  # the adjacency, and its rows in the order of propagation
    topology = each * need.entry_count + 80 * need.node_count + graph.count // 5 + (64 << 20)
    column = 4 * (3 * need.node_count + (hops + 3) * graph.train)
    return topology, column


def columns_that_fit(graph: Numbered, need: Needed, hops: int, memory: int) -> int:
    """Return the number of columns that a worker with so much memory can take, 0 if not even one unit fits."""
    topology, column = sizing(graph, need, hops)
    fit = (memory - topology) // column
    return int(fit) // UNIT * UNIT if fit < graph.width else graph.width


def cut(width: int, blocks: int) -> list[tuple[int, int]]:
    """Cut columns into blocks of whole units, as even as can be.

    >>> cut(200, 2)
    [(0, 96), (96, 200)]
    """
    units = -(-width // UNIT)
    blocks = min(blocks, units)
    return [(b * units // blocks * UNIT, min(width, (b + 1) * units // blocks * UNIT)) for b in range(blocks)]


def keys_for(session: Any, parts: int) -> list[int]:
    """Return numbers of which Spark's hash puts one into each of so many partitions: tasks are then even."""
    from pyspark.sql import functions as F

    tries = session.range(0, 64 * parts + 64, 1, 1).select(F.col("id").cast("int").alias("key"))
    places = tries.select("key", F.pmod(F.hash("key"), F.lit(parts)).alias("place")).collect()
    first: dict[int, int] = {}
    for row in places:
        first.setdefault(row.place, row.key)
    if len(first) < parts:
        raise Error(f"{parts} partitions, want fewer (--parts)")
    return [first[place] for place in range(parts)]


def propagate(
    session: Any, graph: Numbered, need: Needed, task: Mapping[str, Any], blocks: list[tuple[int, int]], threads: int,
    program: str, home: Path,
) -> list[Path]:  # fmt: skip
    """Propagate each block of columns in a task of its own, and return the files that they wrote."""
    from pyspark.sql import functions as F

    keys = keys_for(session, len(blocks))
    cuts = [(key, lo, hi) for key, (lo, hi) in zip(keys, blocks)]
    rows = need.nodes.join(graph.nodes, "id").select("number", "entries", "degree", "class", "x")
    frames = rows.mapInArrow(nodes_of(cuts, graph.width, task["normalize_features"]), FRAMES)
    if graph.named:
        names = need.nodes.where("class >= 0").select("number", F.col("id").cast("string").alias("name"))
        frames = frames.union(names.mapInArrow(names_of(keys[:1]), FRAMES))
    entries = need.entries.select("u", "v", *(["w"] if graph.weighted else []))
    once = entries.mapInArrow(entries_of(graph.weighted), FRAMES)
    each = F.explode(F.array(*[F.lit(key).cast("int") for key in keys]))
    frames = frames.union(once.select(each.alias("key"), "kind", "part", "payload"))
    tasks = {
        key: {**task, "do": "columns", "lo": lo, "hi": hi} for key, lo, hi in cuts
    }  # fmt: skip
    fed = frames.repartition(len(keys), "key").sortWithinPartitions("key", "kind")
    return fetch(session, fed.mapInArrow(run_worker(tasks, threads, program), RESULT), home)


def fetch(session: Any, results: Any, home: Path) -> list[Path]:
    """Write the files of workers into a folder, one partition after the other, and return their paths."""
    from pyspark import StorageLevel

    # A row of frames is a megabyte or more. Before Spark 4 no setting bounds the bytes of a batch.
    modern = int(str(session.version).split(".")[0]) >= 4
    batch = "spark.sql.execution.arrow.max" + ("BytesPerBatch" if modern else "RecordsPerBatch")
    before = session.conf.get(batch)
    session.conf.set(batch, str(_BATCH) if modern else "4")
    results = results.persist(StorageLevel.DISK_ONLY)
    try:
        results.count()
        paths: list[Path] = []
        for row in results.toLocalIterator():
            path = home / f"part-{row.key}.safetensors"
            if row.seq == 0:
                paths.append(path)
            with open(path, "wb" if row.seq == 0 else "ab") as file:
                file.write(row.payload)
    finally:
        session.conf.set(batch, before)
        results.unpersist()
    return paths

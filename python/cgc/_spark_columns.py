"""Shape 1: each task gets a block of feature columns and all edges that are needed, and computes all hops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ._spark_blocks import features_of, names_of
from ._spark_buckets import entries_of, nodes_of
from ._spark_numbers import Numbered, keys_for
from ._spark_reach import Needed
from ._spark_work import FRAMES, PIECE, RESULT, part, run_worker, write_mark

__all__ = [
    "UNIT", "blocks_that_fit", "cut", "features", "fetch", "fewest", "names", "propagate", "sizing", "widest",
]  # fmt: skip

UNIT = 16  # columns per cache line, the unit of blocks as in package blocked
HELD = 32 << 20  # approximate bytes of results in a slot


def sizing(graph: Numbered, need: Needed, hops: int) -> tuple[int, int]:
    """Return the bytes that a worker needs for the topology, and for each column."""
    each = 16 if graph.weighted else 8  # the adjacency, and its rows in the order of propagation
    topology = each * need.entry_count + 80 * need.node_count + graph.count // 5 + (64 << 20)
    column = 4 * (3 * need.node_count + (hops + 3) * graph.train)
    return topology, column


def cut(width: int, blocks: int) -> list[tuple[int, int]]:
    """Cut columns into blocks of complete units, as evenly as possible.

    >>> cut(200, 2)
    [(0, 96), (96, 200)]
    """
    units = -(-width // UNIT)
    blocks = min(blocks, units)
    return [(b * units // blocks * UNIT, min(width, (b + 1) * units // blocks * UNIT)) for b in range(blocks)]


def fewest(width: int, least: int, fits: Callable[[int], bool]) -> list[tuple[int, int]]:
    """Cut columns into as few blocks as possible, but no fewer than least, that all fit. Return [] if no unit fits.

    >>> fewest(100, 2, lambda columns: columns <= 52)
    [(0, 48), (48, 100)]
    """
    for blocks in range(least, max(least, -(-width // UNIT)) + 1):
        cuts = cut(width, blocks)
        if fits(widest(cuts)):
            return cuts
    return []


def widest(cuts: list[tuple[int, int]]) -> int:
    """Return the number of columns of the widest block."""
    return max(hi - lo for lo, hi in cuts)


def blocks_that_fit(graph: Numbered, need: Needed, hops: int, memory: int, least: int) -> list[tuple[int, int]]:
    """Return as few blocks of columns as the memory of a worker allows, but no fewer than least."""
    topology, column = sizing(graph, need, hops)
    return fewest(graph.width, least, lambda columns: topology + columns * column <= memory)


def propagate(
    graph: Numbered, need: Needed, task: Mapping[str, Any], blocks: list[tuple[int, int]], threads: int, program: str,
    home: Path,
) -> list[Path]:  # fmt: skip
    """Propagate each block of columns in its own task, and return the files that the tasks wrote."""
    from pyspark.sql import functions as F

    keys, buckets = keys_for(len(blocks)), graph.buckets
    lists = need.entries.select("bucket", "counts", "columns", *(["weights"] if graph.weighted else []))
    # All workers get the same nodes and entries, so Java makes the copies.
    once = need.entries.select("bucket", "counts", "degrees", "classes")
    once = once.mapInArrow(nodes_of(need.reach, [[0]], buckets, False), FRAMES)
    if need.entry_count:
        inner = need.reach[-2]
        once = once.union(lists.mapInArrow(entries_of(inner, [[0]], buckets, graph.weighted, False), FRAMES))
    each = F.explode(F.array(*[F.lit(key).cast("int") for key in keys]))
    frames = once.select(each.alias("key"), "kind", "part", "payload")
    frames = frames.union(features(graph, need.reach[-1], [keys], blocks, task["normalize_features"]))
    if graph.named:
        frames = frames.union(names(graph, keys[:1]))
    tasks = {key: {**task, "do": "columns", "lo": lo, "hi": hi} for key, (lo, hi) in zip(keys, blocks)}
    fed = frames.repartition(len(keys), "key")  # a worker for columns accepts frames in any order
    return fetch(fed, tasks, threads, program, graph.embedded(task["hops"]), home)


def features(graph: Numbered, bits: Any, keys: list[list[int]], cuts: list[tuple[int, int]], normalize: bool) -> Any:
    """Return the frames of features that features_of makes for the nodes in a bitmap."""
    from pyspark.sql import functions as F

    assert graph.rank is not None
    take = features_of(graph.rank, bits, keys, cuts, graph.width, normalize)
    if graph.again is not None:
        return graph.again(take, FRAMES)
    return graph.blocks.where(F.col("keys").isNotNull()).select("keys", "x").mapInArrow(take, FRAMES)


def names(graph: Numbered, keys: list[int]) -> Any:
    """Return frames of the names of training nodes."""
    from pyspark.sql import functions as F

    assert graph.rank is not None
    own = graph.blocks.where(F.col("keys").isNotNull()).select("keys")
    return own.mapInArrow(names_of(graph.rank, graph.places, keys), FRAMES)


def fetch(
    frames: Any, tasks: Mapping[int, Mapping[str, Any]], threads: int, program: str, size: int, home: Path
) -> list[Path]:  # fmt: skip
    """Run workers that write the embeddings of training nodes. Return the paths of their files in the driver's folder.

    A machine without access to this folder sends its files in pieces. The driver holds the pieces of two slots at a
    time: while it writes one, Spark sends the next. Until then, the shuffle keeps pieces where they were made. Each
    slot is a separate job, because the Java side of toLocalIterator keeps what it has delivered (seen with Spark 4.3).
    """
    slots = keys_for(max(1, -(-size // HELD)))
    run = run_worker(tasks, threads, program, slots, str(home), write_mark(str(home)))
    pieces = frames.mapInArrow(run, RESULT).repartition(len(slots), "slot").rdd

    def bring(place: int) -> dict[int, int]:
        told = {}
        for row in pieces.context.runJob(pieces, lambda rows: rows, [place]):
            if row.payload is None:
                told[row.key] = row.seq
                continue
            path = Path(part(str(home), row.key))
            path.touch()
            with open(path, "r+b") as file:
                file.seek(row.seq * PIECE)
                file.write(row.payload)
        return told

    told = bring(0)
    if any(told.values()):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(bring, range(1, len(slots))))
    return [Path(part(str(home), key)) for key in sorted(told)]

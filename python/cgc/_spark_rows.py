"""Shape 2: each task gets a block of nodes. A hop computes partial sums, shuffles them and adds them.

Node v is in block v mod P. A task gets all entries of A in the columns of its block, and the block's rows of H. It
sends one partial sum for each row that has such entries. A hop therefore shuffles about rows × P(1 - (1 - 1/P)^degree)
× (4d + 4) bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from ._error import Error
from ._spark_buckets import entries_of, nodes_of
from ._spark_columns import UNIT, cut, features, fetch, fewest, names, widest
from ._spark_numbers import Numbered, keys_for
from ._spark_reach import Needed
from ._spark_work import FRAMES, run_step

__all__ = ["Plan", "plan", "propagate", "traffic"]

_FIXED = 64 << 20  # bytes of a worker without data
_UNEVEN = 1.2  # the size of the largest block divided by the mean


@dataclass
class Plan:
    """The division of the work into blocks of nodes, and of each block into blocks of columns."""

    blocks: int
    cuts: list[tuple[int, int]]
    memory: int  # expected bytes of a worker


def _sizing(graph: Numbered, need: Needed, hops: int, rule: str) -> tuple[int, int]:
    """Return the bytes that all workers of a step together need for the topology, and for each column."""
    topology = (20 if graph.weighted else 12) * need.entry_count + 64 * need.node_count
    matrices = 3 if rule == "ppr" else 2  # H and its input; PPR also needs X
    return topology, 4 * (matrices * need.node_count + (hops + 1) * graph.train)


def plan(
    graph: Numbered, need: Needed, hops: int, rule: str, memory: int, machines: int, slots: int, parts: int
) -> Optional[Plan]:
    """Return a plan in which each worker fits into its memory, or None if there is none.

    One block of nodes per machine shuffles least; blocks of columns add parallelism. parts, if above 0, sets the number
    of blocks of nodes.
    """
    topology, column = _sizing(graph, need, hops, rule)
    room = memory - _FIXED
    if room <= 0:
        return None

    def within(blocks: int, width: int) -> float:
        return _UNEVEN * (topology + width * column) / blocks

    unit = min(UNIT, graph.width)
    least = int(_UNEVEN * (topology + unit * column) // room) + 1
    blocks = parts or max(machines, least, int(2 * _UNEVEN * topology // room) + 1)
    blocks = min(blocks, graph.count)
    units = -(-graph.width // UNIT)
    cuts = fewest(graph.width, max(1, min(units, slots // blocks)), lambda width: within(blocks, width) <= room)
    return Plan(blocks, cuts, int(within(blocks, widest(cuts))) + _FIXED) if cuts else None


def traffic(need: Needed, hops: int, width: int, blocks: int) -> list[float]:
    """Return the expected bytes of the partial sums of each hop, if the columns of A are in random blocks.

    >>> need = Needed(None, 0, 1600, [4, 100, 400])
    >>> [round(b) for b in traffic(need, 2, 1, 4)]
    [3168, 127]
    """
    degree = need.entry_count / max(1, need.within[max(0, hops - 1)])
    sums = blocks * (1 - (1 - 1 / blocks) ** (degree + 1))  # + 1: each row also has an entry for its own node
    return [need.within[hops - hop] * sums * (4 * width + 4) for hop in range(1, hops + 1)]


def propagate(
    graph: Numbered, need: Needed, task: Mapping[str, Any], chosen: Plan, threads: int, program: str, home: Path,
    context: Any,
) -> tuple[list[Path], list[int]]:  # fmt: skip
    """Propagate hop by hop.

    Returns the files of training nodes that the last step wrote, and the bytes of the partial sums of each hop. Work
    that is repeated because a machine failed counts again.
    """
    blocks, cuts, hops = chosen.blocks, chosen.cuts, int(task["hops"])
    flat = keys_for(blocks * len(cuts))
    keys = [flat[b * len(cuts) : (b + 1) * len(cuts)] for b in range(blocks)]
    weights = ["weights"] if graph.weighted else []
    scaling = _scaling(graph, need, task, threads, program, context) if task["standardize"] else None
    frames = _nodes(graph, need, need.reach, keys)
    frames = frames.union(features(graph, need.reach[-1], keys, cuts, task["normalize_features"]))
    together = {own[c]: [other[c] for other in keys] for own in keys for c in range(len(cuts))}
    sent = [context.accumulator(0) for _ in range(hops)]
    for step in range(hops + 1):
        tasks = {}
        for b, own in enumerate(keys):
            for key, (lo, hi) in zip(own, cuts):
                tasks[key] = {**task, "do": "rows", "lo": lo, "hi": hi, "step": step, "block": b, "blocks": blocks}
                if step == 0 and scaling is not None:
                    tasks[key].update(mean=scaling[0][lo:hi], std=scaling[1][lo:hi])
        if step < hops:
            lists = need.entries.select("bucket", "counts", "columns", *weights)
            made = need.reach[hops - step - 1]
            frames = frames.union(lists.mapInArrow(entries_of(made, keys, graph.buckets, graph.weighted, True), FRAMES))
        elif graph.named:
            frames = frames.union(names(graph, [own[0] for own in keys]))
        frames = frames.repartition(len(flat), "key").sortWithinPartitions("key", "kind", "part")
        if step < hops:
            frames = frames.mapInArrow(run_step(tasks, threads, program, together, sent[step].add), FRAMES)
    files = fetch(frames, tasks, threads, program, graph.embedded(hops), home)
    return files, [int(s.value) for s in sent]


def _nodes(graph: Numbered, need: Needed, reach: list[Any], keys: list[list[int]]) -> Any:
    lists = need.entries.select("bucket", "counts", "degrees", "classes")
    return lists.mapInArrow(nodes_of(reach, keys, graph.buckets, True), FRAMES)


def _scaling(
    graph: Numbered, need: Needed, task: Mapping[str, Any], threads: int, program: str, context: Any
) -> tuple[list[float], list[float]]:
    """Return each feature's mean and standard deviation over the training nodes. Each worker gets some columns."""
    import numpy as np

    cuts = cut(graph.width, max(1, context.defaultParallelism))
    keys = keys_for(len(cuts))
    frames = _nodes(graph, need, need.reach[:1], [keys])
    frames = frames.union(features(graph, need.reach[0], [keys], cuts, task["normalize_features"]))
    frames = frames.repartition(len(keys), "key").sortWithinPartitions("key", "kind", "part")
    tasks = {key: {**task, "do": "scaling", "lo": lo, "hi": hi, "block": 0} for key, (lo, hi) in zip(keys, cuts)}
    sent = frames.mapInArrow(run_step(tasks, threads, program, {key: [key] for key in keys}), FRAMES).collect()
    found = {row.key: np.frombuffer(row.payload, "<f4").reshape(2, -1) for row in sent}
    if len(found) != len(keys):
        raise Error(f"{len(found)} of {len(keys)} workers sent the scaling of features")
    mean, std = np.concatenate([found[key] for key in keys], axis=1)
    return mean.tolist(), std.tolist()

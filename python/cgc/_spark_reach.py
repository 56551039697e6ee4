"""Finds the nodes and entries near training nodes, with one pass over the buckets per hop and without a shuffle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._spark_buckets import BUCKETS, NEAR, near, restrict
from ._spark_numbers import Numbered, gathered
from ._spark_tables import disk

__all__ = ["Needed", "needed"]


@dataclass
class Needed:
    """The part of a graph that its training nodes need within K hops.

    entries holds the buckets of A. reach lists broadcast bitmaps of the nodes at most t hops away, for t from 0 to K.
    """

    entries: Any
    node_count: int
    entry_count: int  # entries in the rows of nodes within K - 1 hops
    within: list[int]  # number of nodes at most t hops away
    reach: list[Any] = field(default_factory=list)


def needed(session: Any, graph: Numbered, hops: int, inductive: bool, kept: list[Any]) -> Needed:
    """Return the part of a graph that is needed: in the inductive setting, only the subgraph of the training nodes."""

    def share(inside: Any) -> Any:
        return session.sparkContext.broadcast(np.packbits(inside))

    entries = graph.entries
    reach, within = [share(graph.trains)], [graph.train]
    if inductive:
        entries = entries.mapInArrow(restrict(reach[0], graph.buckets, graph.weighted), BUCKETS).persist(disk())
        kept.append(entries)
    count = 0
    for _ in range(hops):
        lists = entries.select("bucket", "counts", "columns")
        found = lists.mapInArrow(near(reach[-1], graph.buckets), NEAR).collect()
        inside = gathered(graph.count, graph.buckets, [(row.bucket, row.bits) for row in found])
        reach.append(share(inside))
        within.append(int(np.count_nonzero(inside)))
        count = sum(row.entries for row in found)
    return Needed(entries, within[-1], count, within, reach)

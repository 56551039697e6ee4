"""Which nodes and edges lead to training nodes, as steps of Spark: K semi-joins and one group-by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ._spark_tables import Numbered

__all__ = ["Needed", "needed"]


@dataclass
class Needed:
    """The part of a graph that its training nodes need within K hops.

    nodes has number, hops (the distance to the training nodes), degree, entries (of A, that a worker gets) and class.
    entries has u, v, w and hops, which is that of u: the rows of A for nodes within K - 1 hops.
    """

    nodes: Any
    entries: Any
    node_count: int
    entry_count: int
    within: list[int]  # nodes at most t hops away, for t from 0 to K
    kept: list[Any] = field(default_factory=list)


def needed(graph: Numbered, hops: int, inductive: bool) -> Needed:
    """Return what is needed of a graph. In the inductive setting, that is the subgraph of the training nodes."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as F

    disk = StorageLevel.MEMORY_AND_DISK
    weights = ["w"] if graph.weighted else []
    train = graph.keys.where("class >= 0").select("number")
    pairs = graph.edges
    if inductive:
        pairs = pairs.join(train.withColumnRenamed("number", "u"), "u", "leftsemi")
        pairs = pairs.join(train.withColumnRenamed("number", "v"), "v", "leftsemi")
    both = pairs.select("u", "v", *weights).union(pairs.select(F.col("v").alias("u"), F.col("u").alias("v"), *weights))
    both = both.persist(disk)
    # The sum of sorted weights does not depend on the order in which rows come.
    degree = F.aggregate(F.array_sort(F.collect_list(F.col("w").cast("double"))), F.lit(0.0), lambda a, b: a + b)
    degrees = both.groupBy("u").agg(
        F.count("*").alias("count"), (degree if graph.weighted else F.count("*").cast("double")).alias("degree")
    )
    reach = train.withColumn("hops", F.lit(0)).persist(disk)
    within, kept = [reach.count()], [both, reach]
    for t in range(1, hops + 1):
        edge = reach.where(F.col("hops") == t - 1).select(F.col("number").alias("u"))
        near = both.join(edge, "u", "leftsemi").select(F.col("v").alias("number")).distinct()
        near = near.join(reach.select("number"), "number", "leftanti").withColumn("hops", F.lit(t))
        reach = reach.union(near).persist(disk)
        kept.append(reach)
        within.append(reach.count())
    rows = reach.where(F.col("hops") < hops).select(F.col("number").alias("u"), "hops")
    entries = both.join(rows, "u").select("u", "v", "hops", *weights).persist(disk)
    nodes = (
        reach.join(degrees, F.col("number") == F.col("u"), "left")
        .join(graph.keys.select("number", "id", "class"), "number")
        .select(
            "number", "id", "hops", "class", F.coalesce("degree", F.lit(0.0)).alias("degree"),
            F.when(F.col("hops") < hops, F.coalesce("count", F.lit(0))).otherwise(0).cast("int").alias("entries"),
        )
        .persist(disk)
    )  # fmt: skip
    kept += [entries, nodes]
    return Needed(nodes, entries, nodes.count(), entries.count(), within, kept)

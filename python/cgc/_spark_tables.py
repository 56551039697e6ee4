"""The two tables of a graph on Spark: their columns, what may be wrong with them, and numbers for ids."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from ._error import Error

__all__ = ["Columns", "Numbered", "number", "read"]

_MAX_CLASSES = 1 << 16
_MAX_NODES = (1 << 31) - 1
_SPLITS = {"train": "train", "val": "val", "valid": "val", "validation": "val", "test": "test", "": "", "none": ""}
_NUMBERS = ("byte", "short", "integer", "long", "float", "double", "boolean", "decimal")


@dataclass
class Columns:
    """The names of columns."""

    id: str = "id"
    label: str = "label"
    split: str = "split"
    features: Sequence[str] = ()  # none: all other columns of numbers
    source: str = "source"
    target: str = "target"
    weight: str = "weight"


@dataclass
class Numbered:
    """A graph whose nodes are the numbers 0 to nodes - 1, in the order of their ids.

    nodes has number, id, class (-1 unless the node trains) and the list x of float. edges has u < v and, if weighted,
    the weight w: each edge once, without self-loops. A weight is the largest of those that repeat.
    """

    nodes: Any
    keys: Any  # number, id and class alone
    edges: Any
    count: int
    edge_count: int
    width: int
    train: int
    classes: int
    class_names: Optional[list[str]]
    weighted: bool
    named: bool  # ids are not 0 to count - 1
    kept: list[Any] = field(default_factory=list)  # what is persisted


def read(session: Any, place: str, what: str) -> Any:
    """Return a table: a path of Parquet, or the name of a table that the session knows."""
    path = "/" in place or place.endswith(".parquet") or os.path.exists(place)
    try:
        return session.read.parquet(place) if path else session.table(place)
    except Exception as e:
        why = str(getattr(e, "desc", None) or e).splitlines()[0]
        raise Error(f"--{what}-table {place}: {why}") from None


def _column(frame: Any, name: str, flag: str, table: str) -> None:
    if name not in frame.columns:
        raise Error(f"{table} has no column {name} (--{flag} names another), want one of {', '.join(frame.columns)}")


def number(session: Any, nodes: Any, edges: Any, columns: Columns) -> Numbered:
    """Check both tables and number the nodes. What is wrong is one sentence, before any propagation."""
    from pyspark.sql import functions as F

    for name, flag in ((columns.id, "id"), (columns.label, "label"), (columns.split, "split")):
        _column(nodes, name, flag, "the table of nodes")
    for name, flag in ((columns.source, "source"), (columns.target, "target")):
        _column(edges, name, flag, "the table of edges")
    weighted = columns.weight in edges.columns
    x, names = _features(nodes, columns)
    split = F.lower(F.coalesce(F.col(f"`{columns.split}`").cast("string"), F.lit("")))
    label = F.col(f"`{columns.label}`").cast("string")
    plain = nodes.select(
        F.col(f"`{columns.id}`").alias("id"), F.when(label != "", label).alias("label"), split.alias("split"),
        x.alias("x"),
    )  # fmt: skip
    width = _check_features(plain, names)
    classes, class_names, place = _classes(session, plain)
    keys, count, kept = _ranks(session, plain.select("id", "label", "split"))
    keys = keys.join(F.broadcast(place), "label", "left").select(
        "number", "id", F.when(F.col("split") == "train", F.col("place")).otherwise(-1).cast("int").alias("class")
    )
    keys = keys.persist(_disk())
    facts = keys.agg(
        F.sum((F.col("class") >= 0).cast("long")),
        F.sum((F.col("id").cast("string") != F.col("number").cast("string")).cast("long")),
    ).first()
    kept.append(keys)
    pairs, edge_count, more = _edges(edges, keys, columns, weighted)
    return Numbered(
        nodes=plain.select("id", "x"), keys=keys, edges=pairs, count=count, edge_count=edge_count, width=width,
        train=facts[0], classes=classes, class_names=class_names, weighted=weighted, named=facts[1] > 0,
        kept=[*kept, *more],
    )  # fmt: skip


def _disk() -> Any:
    from pyspark import StorageLevel

    return StorageLevel.MEMORY_AND_DISK


def _features(nodes: Any, columns: Columns) -> tuple[Any, list[str]]:
    """Return the features as one column of lists, and the names of the columns that they come from."""
    from pyspark.sql import functions as F

    types = {f.name: f.dataType for f in nodes.schema.fields}
    own = (columns.id, columns.label, columns.split)
    names = list(columns.features) or [name for name in nodes.columns if name not in own]
    if not names:
        raise Error("the table of nodes has no column of features, want at least one of numbers or lists of numbers")
    parts = []
    for name in names:
        _column(nodes, name, "features", "the table of nodes")
        of, kind = types[name], types[name].typeName()
        if kind == "array" and of.elementType.typeName() in _NUMBERS:
            parts.append(F.col(f"`{name}`").cast("array<float>"))
        elif kind in _NUMBERS:
            parts.append(F.array(F.col(f"`{name}`").cast("float")))
        else:
            raise Error(
                f"column {name} of the table of nodes has the type {of.simpleString()}, want numbers or lists of "
                "numbers (--features names the columns to take)"
            )
    if all(types[name].typeName() != "array" for name in names):
        return F.array(*[F.col(f"`{name}`").cast("float") for name in names]), names
    return (parts[0] if len(parts) == 1 else F.concat(*parts)), names


def _check_features(plain: Any, names: list[str]) -> int:
    """Return the number of features. Each is a finite number, and there is no id twice."""
    from pyspark.sql import functions as F

    odd = F.exists("x", lambda v: v.isNull() | F.isnan(v) | (F.abs(v) == float("inf")))
    facts = plain.agg(
        F.count("*").alias("rows"), F.count("id").alias("ids"), F.max(F.size("x")).alias("most"),
        F.min(F.size("x")).alias("fewest"), F.max(odd | F.col("x").isNull()).alias("odd"),
        F.sum((~F.col("split").isin(*_SPLITS)).cast("long")).alias("strange"),
        F.sum(((F.col("split") == "train") & F.col("label").isNull()).cast("long")).alias("bare"),
    ).first()  # fmt: skip
    if facts.rows == 0:
        raise Error("the table of nodes has 0 rows, want at least 1")
    if facts.rows > _MAX_NODES:
        raise Error(f"the table of nodes has {facts.rows:,} rows, want at most {_MAX_NODES:,}")
    if facts.ids < facts.rows:
        raise Error(f"the table of nodes has {facts.rows - facts.ids:,} rows without an id, want 0")
    if facts.odd:
        bad = plain.where(odd | F.col("x").isNull()).orderBy("id").first()
        if bad.x is None:
            raise Error(f"the features of node {bad.id} are null, want a list of numbers")
        k = next(i for i, v in enumerate(bad.x) if v is None or v != v or abs(v) == float("inf"))
        name = f"column {names[k]}" if len(names) == len(bad.x) else f"feature {k}"
        value = "null" if bad.x[k] is None else str(bad.x[k])
        raise Error(f"{name} of node {bad.id} is {value}, want a finite number")
    if facts.most != facts.fewest or facts.most < 1:
        raise Error(f"nodes have from {facts.fewest} to {facts.most} features, want the same number, at least 1")
    if facts.strange:
        bad = plain.where(~F.col("split").isin(*_SPLITS)).orderBy("id").first()
        raise Error(f"the split of node {bad.id} is {bad.split!r}, want train, val, test or nothing")
    if facts.bare:
        bad = plain.where((F.col("split") == "train") & F.col("label").isNull()).orderBy("id").first()
        raise Error(f"the split of node {bad.id} is train, and it has no label")
    return int(facts.most)


def _classes(session: Any, plain: Any) -> tuple[int, Optional[list[str]], Any]:
    """Return the number of classes, their names, and a table from label to place.

    Labels that are whole numbers are the classes, -1 is none. Other labels are numbered in the order of their names.
    """
    from pyspark.sql import functions as F

    counts: dict[str, dict[str, int]] = {}
    found = plain.where(F.col("label").isNotNull()).groupBy("label", "split").count().limit(4 * _MAX_CLASSES).collect()
    for row in found:
        counts.setdefault(row.label, {})[_SPLITS[row.split]] = row["count"]
    if len(counts) > _MAX_CLASSES + 1:
        raise Error(f"the table of nodes has more than {_MAX_CLASSES:,} labels, want at most as many")
    whole = {text: _whole(text) for text in counts}
    names = None
    if counts and all(v is not None for v in whole.values()):
        places = {text: v for text, v in whole.items() if v is not None}
        for text, v in sorted(places.items(), key=lambda item: item[1]):
            if not -1 <= v < _MAX_CLASSES:
                bad = plain.where(F.col("label") == text).orderBy("id").first()
                raise Error(f"the label of node {bad.id} is {v}, want 0 to {_MAX_CLASSES - 1}, or -1 for none")
        size = max(places.values(), default=-1) + 1
    elif any(v is not None for v in whole.values()):
        number_, word = (next(t for t, v in whole.items() if (v is None) == none) for none in (False, True))
        raise Error(f"labels are numbers and words, such as {number_} and {word!r}, want only one kind")
    else:
        names = sorted(counts, key=str.encode)
        places, size = {text: i for i, text in enumerate(names)}, len(names)
    train = {places[t] for t, parts in counts.items() if parts.get("train") and places[t] >= 0}
    if not train:
        raise Error("the table of nodes has 0 rows with the split train and a label, want at least 1")
    for text, parts in sorted(counts.items()):
        rest = parts.get("val", 0) + parts.get("test", 0)
        if places[text] >= 0 and places[text] not in train and rest:
            raise Error(
                f"class {text} has 0 training nodes and {rest:,} for validation and test, want at least 1 for training"
            )
    for text, place in places.items():
        if place < 0 and counts[text].get("train"):
            bad = plain.where((F.col("label") == text) & (F.col("split") == "train")).orderBy("id").first()
            raise Error(f"the split of node {bad.id} is train, and it has no label")
    table = session.createDataFrame(sorted(places.items()), "label string, place int")
    return size, names, table


def _whole(text: str) -> Optional[int]:
    """Return a whole number that a text is, as 7, -1 or 7.0, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if value.is_integer() and abs(value) < 1 << 53 else None


def _ranks(session: Any, plain: Any) -> tuple[Any, int, list[Any]]:
    """Return the rows with the rank of their id as number, the number of rows, and what is persisted.

    The rank does not depend on how rows are cut into partitions. What is persisted is one plan, so a partition that is
    lost is made again as it was.
    """
    from pyspark.sql import functions as F

    parts = max(1, int(session.conf.get("spark.sql.shuffle.partitions")))
    ordered = plain.repartitionByRange(parts, "id").sortWithinPartitions("id")
    ordered = ordered.withColumn("place", F.monotonically_increasing_id()).persist(_disk())
    sizes = ordered.groupBy(F.shiftright("place", 33).alias("part")).agg(
        F.count("*").alias("rows"), F.count_distinct("id").alias("ids")
    )
    before, count, twice = [], 0, False
    for row in sorted(sizes.collect(), key=lambda row: row.part):
        before.append((row.part, count))
        count, twice = count + row.rows, twice or row.ids < row.rows
    if twice:
        bad = ordered.groupBy("id").count().where("count > 1").orderBy("id").first()
        raise Error(f"the id {bad.id} is of {bad['count']} nodes, want each id once")
    offsets = F.broadcast(session.createDataFrame(before, "part long, before long"))
    ranked = ordered.join(offsets, F.shiftright("place", 33) == F.col("part")).select(
        (F.col("before") + F.col("place").bitwiseAND((1 << 33) - 1)).cast("int").alias("number"), "id", "label", "split"
    )
    return ranked, count, [ordered]


def _edges(edges: Any, keys: Any, columns: Columns, weighted: bool) -> tuple[Any, int, list[Any]]:
    """Return the edges by numbers, how many there are, and what is persisted."""
    from pyspark.sql import functions as F

    def end(name: str, number: str) -> Any:
        return keys.select(F.col("id").alias(name), F.col("number").alias(number))

    want = [F.col(f"`{columns.source}`").alias("source"), F.col(f"`{columns.target}`").alias("target")]
    if weighted:
        want.append(F.col(f"`{columns.weight}`").cast("float").alias("w"))
    ends = edges.select(*want)
    for name in ("source", "target"):
        own = keys.schema["id"].dataType.typeName()
        have = ends.schema[name].dataType.typeName()
        if (own == "string") != (have == "string"):
            raise Error(f"ids of nodes have the type {own}, and column {name} of the edges has {have}: want one type")
    joined = ends.join(end("source", "a"), "source", "left").join(end("target", "b"), "target", "left")
    joined = joined.persist(_disk())
    wrong = F.col("a").isNull() | F.col("b").isNull()
    if weighted:
        w = F.col("w")
        wrong = wrong | w.isNull() | F.isnan(w) | (w <= 0) | (w == float("inf"))
    bad = joined.where(wrong).first()
    if bad is not None:
        joined.unpersist()
        for name, found in (("source", bad.a), ("target", bad.b)):
            if found is None:
                raise Error(f"the edge from {bad.source} to {bad.target} has the {name} {bad[name]}, which no node has")
        raise Error(f"the edge from {bad.source} to {bad.target} has the weight {bad.w}, want a finite one above 0")
    pairs = joined.where("a <> b").select(
        F.least("a", "b").alias("u"), F.greatest("a", "b").alias("v"), *(["w"] if weighted else [])
    )
    pairs = pairs.groupBy("u", "v").agg(F.max("w").alias("w")) if weighted else pairs.distinct()
    pairs = pairs.persist(_disk())
    count = pairs.count()
    joined.unpersist()
    return pairs, count, [pairs]

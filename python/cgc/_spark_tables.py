"""The node table on Spark: its columns, their checks, and its conversion to blocks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from ._error import Error
from ._names import SPLITS
from ._spark_blocks import BLOCKS, Map, blocks_of
from ._spark_files import groups_of, of_nodes, read_by

__all__ = ["WHOLE", "Again", "Columns", "Table", "check", "column", "disk", "key_of", "load", "read"]

_MAX_CLASSES = 1 << 16
_MAX_NODES = (1 << 31) - 1
WHOLE = ("byte", "short", "integer", "long")
_NUMBERS = ("byte", "short", "integer", "long", "float", "double", "boolean", "decimal")


Again = Callable[[Map, str], Any]  # applies a function to the rows of files, and returns a table with a schema


@dataclass
class Columns:
    """The names of columns."""

    id: str = "id"
    label: str = "label"
    split: str = "split"
    features: Sequence[str] = ()  # if empty, all other columns
    source: str = "source"
    target: str = "target"
    weight: str = "weight"


@dataclass
class Table:
    """A node table whose rows were checked and converted to blocks."""

    plain: Any  # id, label, split, optionally name, and x, a list of floats
    blocks: Any
    count: int
    width: int
    classes: int
    class_names: Optional[list[str]]
    feature_names: Optional[list[str]]
    places: dict[str, int]  # maps labels to classes
    whole: bool  # whether ids are integers
    low: int
    high: int
    size: int  # total bytes of the ids
    again: Optional[Again] = None  # set if blocks have no features


def read(session: Any, place: str, what: str) -> Any:
    """Return the table at a path of Parquet files, or the session's table of that name."""
    path = "/" in place or place.endswith(".parquet") or os.path.exists(place)
    try:
        return session.read.parquet(place) if path else session.table(place)
    except Exception as e:
        why = str(getattr(e, "desc", None) or e).splitlines()[0]
        raise Error(f"--{what}-table {place}: {why}") from None


def column(frame: Any, name: str, flag: str, table: str) -> None:
    if name not in frame.columns:
        raise Error(
            f"{table} has no column {name} (--{flag} names another), must have one of {', '.join(frame.columns)}"
        )


def load(nodes: Any, columns: Columns, kept: list[Any]) -> Table:
    """Read the node table once and check it. Persisted tables are appended to kept."""
    from pyspark.sql import functions as F

    for name, flag in ((columns.id, "id"), (columns.label, "label"), (columns.split, "split")):
        column(nodes, name, flag, "the table of nodes")
    x, names = _features(nodes, columns)
    split = F.lower(F.coalesce(F.col(f"`{columns.split}`").cast("string"), F.lit("")))
    label = F.col(f"`{columns.label}`").cast("string")
    key = key_of(nodes, columns.id)
    plain_ids = nodes.schema[columns.id].dataType.typeName() in (*WHOLE, "string")
    plain = nodes.select(
        key.alias("id"), F.when(label != "", label).alias("label"), split.alias("split"), x.alias("x"),
        *([] if plain_ids else [key.cast("string").alias("name")]),
    )  # fmt: skip
    own = [columns.id, columns.label, columns.split]
    groups = groups_of(nodes, [*own, *names], own)
    if groups is None:
        return check(plain, names, kept)
    session = nodes.sparkSession

    def run(take: Map, schema: str) -> Any:
        read_ = of_nodes(take, groups, columns.id, columns.label, columns.split, names)
        return read_by(session, groups, read_, schema)

    return check(plain, names, kept, run)


def check(plain: Any, names: Sequence[str], kept: list[Any], run: Optional[Again] = None) -> Table:
    """Convert a table to blocks, and check the facts found in them.

    run, if given, applies a function to rows that Arrow reads from files. It can read them again later, so blocks then
    need no features.
    """
    from pyspark.sql import functions as F

    whole = plain.schema["id"].dataType.typeName() in WHOLE
    take = blocks_of(list(SPLITS), whole, run is None)
    blocks = (run(take, BLOCKS) if run else plain.mapInArrow(take, BLOCKS)).persist(disk())
    kept.append(blocks)
    found = [json.loads(row.facts) for row in blocks.select("facts").where(F.col("facts").isNotNull()).collect()]
    width = _check_facts(plain, names, found)
    classes, class_names, places = _classes(plain, found)
    return Table(
        plain, blocks, sum(f["rows"] for f in found), width, classes, class_names,
        list(names) if len(names) == width else None, places, whole,
        min(f["low"] for f in found), max(f["high"] for f in found), sum(f["bytes"] for f in found), run,
    )  # fmt: skip


def key_of(table: Any, name: str) -> Any:
    """Return a column of ids, with integers as long, so that the ids of two tables have the same type."""
    from pyspark.sql import functions as F

    found = F.col(f"`{name}`")
    return found.cast("long") if table.schema[name].dataType.typeName() in WHOLE else found


def disk() -> Any:
    """Return the storage level of persisted tables: the executors' disks, which saves their memory."""
    from pyspark import StorageLevel

    return StorageLevel.DISK_ONLY


def _features(nodes: Any, columns: Columns) -> tuple[Any, list[str]]:
    """Return the features as one column of lists, and the names of the columns that they come from."""
    from pyspark.sql import functions as F

    types = {f.name: f.dataType for f in nodes.schema.fields}
    own = (columns.id, columns.label, columns.split)
    names = list(columns.features) or [name for name in nodes.columns if name not in own]
    if not names:
        raise Error(
            "the table of nodes has no column of features, must have at least one of numbers or lists of numbers"
        )
    parts = []
    for name in names:
        column(nodes, name, "features", "the table of nodes")
        of, kind = types[name], types[name].typeName()
        if kind == "array" and of.elementType.typeName() in _NUMBERS:
            parts.append(F.col(f"`{name}`").cast("array<float>"))
        elif kind in _NUMBERS:
            parts.append(F.array(F.col(f"`{name}`").cast("float")))
        else:
            raise Error(
                f"column {name} of the table of nodes has the type {of.simpleString()}, must have numbers or lists of "
                "numbers (--features names the columns to take)"
            )
    if all(types[name].typeName() != "array" for name in names):
        return F.array(*[F.col(f"`{name}`").cast("float") for name in names]), names
    return (parts[0] if len(parts) == 1 else F.concat(*parts)), names


def _check_facts(plain: Any, names: Sequence[str], found: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of features. Raise Error if a row is invalid."""
    from pyspark.sql import functions as F

    rows, nulls = sum(f["rows"] for f in found), sum(f["nulls"] for f in found)
    if rows == 0:
        raise Error("the table of nodes has 0 rows, must have at least 1")
    if rows > _MAX_NODES:
        raise Error(f"the table of nodes has {rows:,} rows, must be at most {_MAX_NODES:,}")
    if nulls:
        raise Error(f"the table of nodes has {nulls:,} rows without an id, must be 0")
    most, fewest = max(f["most"] for f in found), min(f["fewest"] for f in found)
    if any(f["odd"] for f in found):
        odd = F.exists("x", lambda v: v.isNull() | F.isnan(v) | (F.abs(v) == float("inf")))
        bad = plain.where(odd | F.col("x").isNull()).orderBy("id").first()
        if bad.x is None:
            raise Error(f"the features of node {bad.id} are null, must be a list of numbers")
        k = next(i for i, v in enumerate(bad.x) if v is None or v != v or abs(v) == float("inf"))
        name = f"column {names[k]}" if len(names) == len(bad.x) else f"feature {k}"
        value = "null" if bad.x[k] is None else str(bad.x[k])
        raise Error(f"{name} of node {bad.id} is {value}, expected a finite number")
    if most != fewest or most < 1:
        raise Error(f"nodes have from {fewest} to {most} features, must have the same number, at least 1")
    if any(f["strange"] for f in found):
        bad = plain.where(~F.col("split").isin(*SPLITS)).orderBy("id").first()
        raise Error(f"the split of node {bad.id} is {bad.split!r}, must be train, val, test or nothing")
    if any(f["bare"] for f in found):
        bad = plain.where((F.col("split") == "train") & F.col("label").isNull()).orderBy("id").first()
        raise Error(f"the split of node {bad.id} is train, and it has no label")
    return int(most)


def _classes(plain: Any, found: Sequence[Mapping[str, Any]]) -> tuple[int, Optional[list[str]], dict[str, int]]:
    """Return the number of classes, their names, and the class of each label.

    Integer labels are the classes, and -1 means no label. Other labels are numbered in the order of their names.
    """
    from pyspark.sql import functions as F

    counts: dict[str, dict[str, int]] = {}
    for facts in found:
        for label, split, count in facts["labels"]:
            if label is not None:
                own = counts.setdefault(label, {})
                own[SPLITS[split]] = own.get(SPLITS[split], 0) + count
    if len(counts) > _MAX_CLASSES + 1:
        raise Error(f"the table of nodes has more than {_MAX_CLASSES:,} labels, must be at most as many")
    whole = {text: _whole(text) for text in counts}
    names = None
    if counts and all(v is not None for v in whole.values()):
        places = {text: v for text, v in whole.items() if v is not None}
        for text, v in sorted(places.items(), key=lambda item: item[1]):
            if not -1 <= v < _MAX_CLASSES:
                bad = plain.where(F.col("label") == text).orderBy("id").first()
                raise Error(f"the label of node {bad.id} is {v}, must be 0 to {_MAX_CLASSES - 1}, or -1 for none")
        size = max(places.values(), default=-1) + 1
    elif any(v is not None for v in whole.values()):
        number_, word = (next(t for t, v in whole.items() if (v is None) == none) for none in (False, True))
        raise Error(f"labels are numbers and words, such as {number_} and {word!r}, expected only one kind")
    else:
        names = sorted(counts, key=str.encode)
        places, size = {text: i for i, text in enumerate(names)}, len(names)
    train = {places[t] for t, parts in counts.items() if parts.get("train") and places[t] >= 0}
    if not train:
        raise Error("the table of nodes has 0 rows with the split train and a label, must have at least 1")
    for text, parts in sorted(counts.items()):
        rest = parts.get("val", 0) + parts.get("test", 0)
        if places[text] >= 0 and places[text] not in train and rest:
            raise Error(
                f"class {text} has 0 training nodes and {rest:,} for validation and test, "
                "must be at least 1 for training"
            )
    for text, place in places.items():
        if place < 0 and counts[text].get("train"):
            bad = plain.where((F.col("label") == text) & (F.col("split") == "train")).orderBy("id").first()
            raise Error(f"the split of node {bad.id} is train, and it has no label")
    return size, names, places


def _whole(text: str) -> Optional[int]:
    """Return the integer that a string such as 7, -1 or 7.0 stands for, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if value.is_integer() and abs(value) < 1 << 53 else None

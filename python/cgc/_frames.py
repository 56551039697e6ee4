"""Graphs given as two tables: one of nodes and one of edges."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from ._error import Error, unknown, warn
from ._graph import PARTS, Parts, array
from ._names import class_numbers, identity, in_mask, missing, part_of
from ._safetensors import Array

__all__ = ["Tables", "parts_of_tables", "tables"]

# The column names for each role, case-insensitive, as in the command's tables.
_NAMES = {
    "id": ("id", "node_id", "node"), "label": ("label", "class", "y", "target"), "split": ("split", "part"),
    "source": ("source", "src_id", "src", "from", "id_1"), "target": ("target", "dst_id", "dst", "to", "id_2"),
    "weight": ("weight",), "train_mask": ("train_mask",), "val_mask": ("val_mask", "valid_mask"),
    "test_mask": ("test_mask",),
}  # fmt: skip

# Names of features that may hold the split.
_PARTS = ("train", "is_train", "val", "is_val", "valid", "is_valid", "test", "is_test", "fold")

_OF_NODES = ("id", "label", "split", *PARTS)

# The name of an index column that pandas wrote: "__index_level_0__" in Parquet, and "" in CSV files, which becomes
# "Unnamed: 0" in pandas' read_csv. A first column named "index", as to_sql and reset_index write it, is also an index.
_INDEX = re.compile(r"(Unnamed: \d+(\.\d+)?|__index_level_\d+__)?")


@dataclass(frozen=True, eq=False)
class Tables:
    """A graph in two tables, made by the function tables. condense, tune and evaluate accept it as their graph.

    Attributes:
        nodes: The table of nodes.
        edges: The table of edges.
        columns: The columns that the caller named, by role.
        name: The name of the graph.

    Example:
        >>> people = {"id": ["ann", "bob"], "label": [0, 1], "age": [31, 42]}
        >>> cgc.tables(people, {"source": ["ann"], "target": ["bob"]})
        Tables(graph: 2 nodes, 1 edges)
    """

    nodes: Any
    edges: Any
    columns: Mapping[str, Any]
    name: str

    def __repr__(self) -> str:
        """Return the sizes of the tables."""
        nodes, edges = (
            len(next(iter(_columns(t, t_).values()), ())) for t, t_ in ((self.nodes, "nodes"), (self.edges, "edges"))
        )
        return f"Tables({self.name}: {nodes} nodes, {edges} edges)"


def tables(nodes: Any, edges: Any, name: str = "graph", **columns: Union[str, int, Sequence[Any]]) -> Tables:
    """Make a graph from a table of nodes and a table of edges.

    A table is a pandas or polars DataFrame, a pyarrow Table, or a dictionary of columns. Columns are found by the names
    in quotes below, in any case, or by keyword arguments.

    Args:
        nodes: A row for each node. All columns without a role are features. A pandas index column is left out with
            a GraphWarning: a column named "Unnamed: 0", "__index_level_0__" or "", or a first column named "index".
        edges: A row for each edge. A GraphWarning lists the columns that are not read.
        name: The name of the graph in the result.
        **columns: The column for each role. The roles are: id ("id", "node_id", "node"; without it, the index of a
            DataFrame), label ("label", "class", "y", "target"), split ("split", "part"; train, val, test or empty) or
            train_mask, val_mask (or "valid_mask") and test_mask (booleans), features (columns of numbers or lists),
            source ("source", "src", "src_id", "from", "id_1"), target ("target", "dst", "dst_id", "to", "id_2") and
            weight ("weight"). Labels are integers or names; None, NaN and "" mean no label.

    Returns:
        A Tables, which condense, tune and evaluate accept as their graph.

    Raises:
        Error: A column is missing, or two columns have the same name. The rest is checked when the graph is used.
        UnknownArgument: There is no such role.

    Example:
        >>> people = {"id": ["ann", "bob", "cy", "di"], "team": ["red", "red", "blue", "blue"], "age": [31, 42, 5, 7]}
        >>> people["split"] = ["train", "test", "train", "test"]
        >>> friends = {"source": ["ann", "cy"], "target": ["bob", "di"]}
        >>> small = cgc.condense(cgc.tables(people, friends, label="team"), nodes=2)
        >>> small.class_names, small.members(0)[0]
        (['blue', 'red'], ['cy'])
    """
    for role in columns:
        if role not in (*_NAMES, "features"):
            raise unknown("tables", role, ["nodes", "edges", "name", *_NAMES, "features"])
    found = Tables(nodes, edges, columns, name)
    _roles(found)
    return found


def _columns(table: Any, argument: str) -> dict[str, Any]:
    """Return the columns of a table by name."""
    if isinstance(table, Mapping):
        names = list(table)
    elif hasattr(table, "column_names"):  # pyarrow
        names = list(table.column_names)
    elif hasattr(table, "columns"):
        names = list(table.columns)
    else:
        raise Error(f"{argument} is a {type(table).__name__}, must be a DataFrame, or a dictionary of columns")
    if len({str(n) for n in names}) < len(names):
        raise Error(f"{argument} has two columns of the same name, expected different names")
    columns = {str(n): table[n] for n in names}
    return {n: array(f"{argument}[{n!r}]", c) if hasattr(c, "detach") else c for n, c in columns.items()}


def _roles(given: Tables) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """Return the columns of both tables, and the column of each role."""
    nodes, edges = _columns(given.nodes, "nodes"), _columns(given.edges, "edges")
    roles = {}
    for role, names in _NAMES.items():
        argument, table = ("nodes", nodes) if role in _OF_NODES else ("edges", edges)
        asked = given.columns.get(role)
        if asked is not None:
            if str(asked) not in table:
                raise Error(f"{argument} has no column {asked!r} for {role}, its columns are {', '.join(table)}")
            roles[role] = str(asked)
            continue
        lower = {c.lower(): c for c in table}
        place = next((lower[n] for n in names if n in lower), None)
        if place is not None:
            roles[role] = place
        elif role in ("source", "target"):
            raise Error(
                f"{argument} has no column {role}, its columns are {', '.join(table)}: {role}=… names another one"
            )
    return nodes, edges, roles


def _indexes(names: Sequence[str]) -> list[str]:
    """Return the columns that look like an index that pandas wrote."""
    return [n for i, n in enumerate(names) if _INDEX.fullmatch(n) or (i == 0 and n == "index")]


def parts_of_tables(given: Tables) -> Parts:
    """Return the parts of a graph given as two tables. Nodes and classes keep their names."""
    nodes, edges, roles = _roles(given)
    read = {roles[r] for r in ("source", "target", "weight") if r in roles}.union(_indexes(list(edges)))
    unread = [n for n in edges if n not in read]
    if unread:
        hint = "" if "weight" in roles else " (edge weights must be in a column called weight, or weight=… names it)"
        warn(f"edges: columns that are not read: {', '.join(unread):.200}{hint}")
    rows = len(_values(next(iter(nodes.values()))))
    ids = _ids(given.nodes, nodes, roles, rows)
    called = {role: f"nodes[{roles[role]!r}]" for role in ("id", "label", "split") if role in roles}
    parts = Parts(name=given.name, ids=None if identity(ids) else ids)
    if "label" in roles:
        parts.y, parts.class_names = class_numbers(called["label"], _values(nodes[roles["label"]]), numbers_too=True)
    parts.names = {
        "y": called.get("label", f"the column label of nodes, whose columns are {', '.join(nodes)},"),
        "x": "features of nodes",
        "edge_index": "edges",
        **dict.fromkeys(PARTS, "split"),
    }
    parts.x, parts.feature_names = _features(given, nodes, roles, rows)
    place = _places(called.get("id", "the index of nodes"), ids)
    ends = [place(f"edges[{roles[end]!r}]", _values(edges[roles[end]])) for end in ("source", "target")]
    if len(ends[0]) != len(ends[1]):
        raise Error(f"edges has {len(ends[0])} sources and {len(ends[1])} targets, must be equal numbers")
    parts.edge_index = np.stack(ends)
    if "weight" in roles:
        parts.edge_weight = _numbers("edges", roles["weight"], edges[roles["weight"]])
        parts.names["edge_weight"] = f"edges[{roles['weight']!r}]"
    if "split" in roles:
        split = [part_of(f"{called['split']} of row {i}", s) for i, s in enumerate(_values(nodes[roles["split"]]))]
        for part in PARTS:
            setattr(parts, part, np.array([s == part[: -len("_mask")] for s in split], bool))
            parts.names[part] = f"{part[: -len('_mask')]} in {called['split']}"
    for part in PARTS:
        if part in roles:
            parts.names[part] = f"nodes[{roles[part]!r}]"
            if "split" in roles:
                raise Error(f"{called['split']} and {parts.names[part]} are given, must be one of them")
            cells = enumerate(_values(nodes[roles[part]]))
            setattr(parts, part, np.array([in_mask(f"{parts.names[part]} of row {i}", v) for i, v in cells], bool))
    return parts


def _values(column: Any) -> Any:
    """Return a column as a numpy array, or as a list of Python values."""
    found = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(_list(column))
    if found.ndim > 1 or found.dtype.kind in "OUST":
        return [v.item() if isinstance(v, np.generic) else v for v in found.tolist()]
    return found


def _list(column: Any) -> Any:
    """Return values with their types. Mixed types get an object array, because numpy would convert them to strings."""
    if isinstance(column, np.ndarray):
        return column
    values = list(column)
    if len({type(v) for v in values}) > 1:
        mixed = np.empty(len(values), object)
        mixed[:] = values
        return mixed
    return values


def _ids(table: Any, nodes: Mapping[str, Any], roles: Mapping[str, str], count: int) -> Sequence[Any]:
    """Return the id of each node: from its column, the index of a DataFrame, or the number of the row."""
    if "id" in roles:
        ids = _exact(f"nodes[{roles['id']!r}]", _values(nodes[roles["id"]]))
        if len(ids) != count:
            raise Error(f"nodes has {len(ids)} ids and {count} labels, must be equal numbers")
        return ids  # type: ignore[no-any-return]
    index = getattr(table, "index", None)
    found: Any = _exact("the index of nodes", _values(index)) if hasattr(index, "to_numpy") else np.arange(count)
    return found  # type: ignore[no-any-return]


def _exact(called: str, values: Any) -> Any:
    """Return ids, unsigned ones as int64 if they fit. Raise Error for floats so large that they may be rounded."""
    is_array = isinstance(values, np.ndarray)
    if is_array and values.dtype.kind == "u":
        return values.astype(np.int64) if values.max(initial=0) < 2**63 else values.tolist()
    floats = values if is_array else np.array([v if isinstance(v, float) else 0.0 for v in values])
    if floats.dtype.kind == "f":
        bound = 2 ** (np.finfo(floats.dtype).nmant + 1)
        large = np.flatnonzero(np.abs(floats) >= bound)
        if large.size:
            raise Error(
                f"{called} of row {large[0]} is the {floats.dtype} {floats[large[0]]:.0f}, must be an integer or a "
                f"string, because {floats.dtype} does not hold all integers from {bound}"
            )
    return values


def _places(called: str, ids: Sequence[Any]) -> Any:
    """Return a function that finds nodes by their ids. Raise Error for duplicate, missing or mixed ids."""
    order, sorted_ids = np.zeros(0, np.int64), np.zeros(0, np.int64)
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
        order = np.argsort(ids, kind="stable")
        sorted_ids = ids[order]
        twice = np.flatnonzero(sorted_ids[1:] == sorted_ids[:-1])
        if twice.size:
            first, again = order[twice[0]], order[twice[0] + 1]
            raise Error(f"{called} is {ids[first]} in row {first} and in row {again}, expected different ids")
    kinds: dict[type, int] = {}
    place: dict[Any, int] = {}
    if not isinstance(ids, np.ndarray) or ids.dtype.kind not in "iu":
        for i, value in enumerate(ids):
            if missing(value):
                raise Error(f"{called} is missing in row {i}, must be an id for each node")
            kinds.setdefault(type(value), i)
            if len(kinds) > 1:
                (one, j), (other, k) = list(kinds.items())[:2]
                raise Error(
                    f"{called} is {ids[j]!r} ({one.__name__}) in row {j} and {ids[k]!r} ({other.__name__}) in row {k}, "
                    "expected ids of one type"
                )
            try:
                if place.setdefault(value, i) != i:
                    raise Error(f"{called} is {value!r} in row {place[value]} and in row {i}, expected different ids")
            except TypeError:
                raise Error(f"{called} is a {type(value).__name__} in row {i}, must be a number or a string") from None

    def find(end: str, values: Any) -> Array:
        values = _exact(end, values)
        if not place and isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
            at = np.minimum(np.searchsorted(sorted_ids, values), len(ids) - 1)
            wrong = np.flatnonzero(sorted_ids[at] != values)
            if wrong.size:
                raise Error(f"{end} of row {wrong[0]} is {values[wrong[0]]}, which is not in {called}")
            return np.asarray(order[at])
        lookup = place or {v: i for i, v in enumerate(np.asarray(ids).tolist())}
        listed = values.tolist() if isinstance(values, np.ndarray) else values
        places = [lookup.get(v, -1) for v in listed]
        if -1 in places:
            row = places.index(-1)
            of = type(ids[0]).__name__ if len(ids) else "none"
            hint = "" if type(listed[row]).__name__ == of else f" (ids are {of})"
            raise Error(f"{end} of row {row} is {listed[row]!r}, which is not in {called}{hint}")
        return np.array(places, np.int64)

    return find


def _features(
    given: Tables, nodes: Mapping[str, Any], roles: Mapping[str, str], count: int
) -> tuple[Array, Optional[list[str]]]:
    """Return the features and their names.

    Feature i of a column c of lists is called c[i]. If c is the only column of features, they have no names.
    """
    asked = given.columns.get("features")
    taken = {roles[r] for r in _OF_NODES if r in roles}
    if asked is None:
        index = [n for n in _indexes(list(nodes)) if n not in taken]
        for n in index:
            warn(
                f"nodes: the column {n!r} is left out of the features, because it looks like an index that pandas "
                "wrote: rename it to keep it"
            )
        names = [n for n in nodes if n not in taken and n not in index]
        for n in names:
            for role in ("id", "label"):
                if role in roles and n.lower() in _NAMES[role] and n.lower() != "y":  # y is often a coordinate
                    warn(
                        f"nodes: the {role} is in column {roles[role]}, and column {n} is a feature: leave it out if "
                        f"it holds the {role} too"
                    )
            if n.lower() in _PARTS and not {"split", *PARTS} & set(roles):
                warn(
                    f"nodes: there is no split, and column {n} is a feature: if it holds the split, leave it out or "
                    "rename it (split; or train_mask, val_mask and test_mask)"
                )
    else:
        names = [str(n) for n in ([asked] if np.ndim(asked) == 0 else asked)]
    for n in names:
        if n not in nodes:
            raise Error(f"nodes has no column {n!r} for features, its columns are {', '.join(nodes)}")
    if not names:
        raise Error("nodes has no column of features, expected at least one besides id, label and split")
    blocks, of_features = [], []
    for n in names:
        block = _lists(n, nodes[n])
        if block is None:
            block = _numbers("nodes", n, nodes[n])
            bare = np.flatnonzero(np.isnan(block))
            if bare.size:
                raise Error(f"nodes[{n!r}] of row {bare[0]} is missing, must be a number")
            block = block[:, None]
        if len(block) != count:
            raise Error(f"nodes[{n!r}] has {len(block)} rows, expected {count}")
        blocks.append(block)
        of_features += [n] if block.shape[1] == 1 else [f"{n}[{i}]" for i in range(block.shape[1])]
    if len(blocks) == 1 and blocks[0].shape[1] != 1:
        return blocks[0], None
    return np.concatenate(blocks, axis=1), of_features


def _lists(name: str, column: Any) -> Optional[Array]:
    """Return a column of lists of numbers as a matrix, or None if it is no column of lists."""
    called = f"nodes[{name!r}]"
    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    if not len(values) or isinstance(values[0], (str, bytes)) or np.ndim(values[0]) != 1:
        return None
    if getattr(values, "ndim", 1) == 1:
        for i, row in enumerate(values):
            if np.shape(row) != np.shape(values[0]):
                raise Error(f"{called} of row {i} has {np.size(row)} numbers, expected {len(values[0])}")
        values = np.stack([array(called, row) for row in values])
    return _float32(called, array(called, values))


def _numbers(table: str, name: str, column: Any) -> Array:
    """Return a column of numbers as float32."""
    values = _values(column)
    if isinstance(values, list):
        numbers = np.empty(len(values))
        for i, v in enumerate(values):
            try:
                numbers[i] = _number(v)
            except (TypeError, ValueError):
                raise Error(
                    f"{table}[{name!r}] of row {i} is {v!r}, must be a number"
                    + (": features=[…] lists the columns to take" if table == "nodes" else "")
                ) from None
        values = numbers
    return _float32(f"{table}[{name!r}]", values)


def _number(value: Any) -> float:
    """Return a value as a number. Text with underscores, such as 2020_01, is a code."""
    if isinstance(value, (str, bytes)) and "_" in str(value):
        raise ValueError(value)
    return math.nan if missing(value) else float(value)


def _float32(called: str, values: Array) -> Array:
    """Return numbers as float32."""
    if values.dtype.kind not in "fiub":
        raise Error(f"{called} has elements of type {values.dtype}, must have numbers")
    with np.errstate(over="ignore"):  # the command reports numbers that are too large
        return np.asarray(values.astype(np.float32, copy=False))

"""Parquet files that the machines of a Spark cluster read with Arrow, by columns. Spark would convert them to rows.

This requires files with the same path on each machine (file:) and columns of simple types. Spark reads all other
tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Optional
from urllib.parse import unquote, urlparse

import numpy as np

from ._spark_blocks import Map

__all__ = ["groups_of", "of_edges", "of_nodes", "read_by"]

_ROWS = 1 << 14  # rows of a batch


def groups_of(table: Any, names: Sequence[str], plain: Sequence[str]) -> Optional[list[tuple[str, int]]]:
    """Return the path and the number of each row group of a table, or None if Spark has to read the table.

    names lists the columns to read. Columns in plain must have integers or strings. Other columns must have
    floating-point numbers or lists of them.
    """
    import pyarrow.parquet as pq
    from pyarrow import types

    if not str(table._jdf.queryExecution().analyzed().toString()).startswith("Relation "):
        return None  # a query, not only the files of a table
    groups: list[tuple[str, int]] = []
    for place in table.inputFiles():
        if not place.startswith("file:"):
            return None
        path = unquote(urlparse(place).path)
        try:
            file = pq.ParquetFile(path)
        except (OSError, ValueError):
            return None
        schema = file.schema_arrow
        for name in names:
            if schema.names.count(name) != 1:
                return None
            kind = schema.field(name).type
            if name in plain:
                if not (types.is_signed_integer(kind) or types.is_string(kind)):
                    return None
                continue
            if types.is_list(kind) or types.is_fixed_size_list(kind):
                kind = kind.value_type
            if not (types.is_float32(kind) or types.is_float64(kind)):
                return None
        if len(names) > len(plain) + 1 and any(types.is_nested(schema.field(name).type) for name in names):
            return None
        groups += [(path, i) for i in range(file.num_row_groups)]
    return groups or None


def read_by(session: Any, groups: Sequence[tuple[str, int]], take: Map, schema: str) -> Any:
    """Return a table of what take returns for the indices of row groups, with at most 8 tasks per core."""
    parts = min(len(groups), 8 * session.sparkContext.defaultParallelism)
    return session.range(0, len(groups), 1, parts).mapInArrow(take, schema)


def _batches(places: Iterable[Any], groups: Sequence[tuple[str, int]], names: Sequence[str]) -> Iterator[Any]:
    """Yield the batches of row groups."""
    import pyarrow.parquet as pq

    for batch in places:
        for place in batch.column("id").to_pylist():
            path, group = groups[place]
            with pq.ParquetFile(path, memory_map=True) as file:
                yield from file.iter_batches(_ROWS, [group], list(names), use_threads=False)


def _key(column: Any) -> Any:
    """Return a column of ids, with integers as long."""
    import pyarrow as pa

    return column if pa.types.is_string(column.type) else column.cast(pa.int64())


def of_nodes(
    take: Map, groups: Sequence[tuple[str, int]], key: str, label: str, split: str, features: Sequence[str]
) -> Map:
    """Return a function that reads row groups of nodes, and calls take with the columns id, label, split and x."""

    def read(places: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        def rows() -> Iterator[Any]:
            for batch in _batches(places, groups, [key, label, split, *features]):
                text = batch.column(label).cast(pa.string())
                parts = [batch.column(name) for name in features]
                if len(parts) == 1 and not pa.types.is_floating(parts[0].type):
                    x = parts[0].cast(pa.list_(pa.float32()), safe=False)
                else:
                    x = _rows_of([part.cast(pa.float32(), safe=False) for part in parts])
                columns = {
                    "id": _key(batch.column(key)),
                    "label": pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text),
                    "split": pc.utf8_lower(batch.column(split).cast(pa.string()).fill_null("")), "x": x,
                }  # fmt: skip
                yield pa.RecordBatch.from_arrays(list(columns.values()), list(columns))

        return take(rows())

    return read


def _rows_of(parts: Sequence[Any]) -> Any:
    """Combine columns of numbers into one column of lists."""
    import pyarrow as pa

    n, width = len(parts[0]), len(parts)
    order = np.arange(n)[:, None] + n * np.arange(width)
    flat = pa.chunked_array(parts).combine_chunks().take(pa.array(order.reshape(-1)))
    return pa.ListArray.from_arrays(pa.array(np.arange(0, n * width + 1, width, dtype="i4")), flat)


def of_edges(
    take: Map, groups: Sequence[tuple[str, int]], source: str, target: str, weight: Optional[str]
) -> Map:  # fmt: skip
    """Return a function that reads row groups of edges, and calls take with the columns source, target and w."""

    def read(places: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        def rows() -> Iterator[Any]:
            for batch in _batches(places, groups, [source, target, *([weight] if weight else [])]):
                columns = {"source": _key(batch.column(source)), "target": _key(batch.column(target))}
                if weight:
                    columns["w"] = batch.column(weight).cast(pa.float32(), safe=False)
                yield pa.RecordBatch.from_arrays(list(columns.values()), list(columns))

        return take(rows())

    return read

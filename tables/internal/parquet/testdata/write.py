"""Write the folders beside this file: python3 write.py, with pyarrow, pandas, fastparquet, polars and duckdb.

All folders except bad-… hold one graph: ann, bob, zoë, dan, eve, with the edges ann–bob, zoë–bob, dan–eve.
"""

import decimal
import pathlib
import shutil
import uuid

import duckdb
import fastparquet
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
NAMES = ["ann", "bob", "zoë", "dan", "eve"]
LABELS = ["red", "blue", "red", None, "blue"]
SPLIT = ["train", "train", "val", None, "test"]
X = np.array([[1, 2], [3, 4], [5, 6], [7, 8], [9.5, -0.25]])
SOURCE, TARGET, WEIGHT = ["ann", "zoë", "dan"], ["bob", "bob", "eve"], [1.0, 2.5, 1.0]


def folder(name: str) -> pathlib.Path:
    shutil.rmtree(HERE / name, ignore_errors=True)
    (HERE / name).mkdir()
    return HERE / name


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    nodes = pd.DataFrame({"f0": X[:, 0], "id": NAMES, "label": LABELS, "split": SPLIT, "f1": X[:, 1]})
    edges = pd.DataFrame({"since": [1, 2, 3], "target": TARGET, "source": SOURCE, "weight": WEIGHT})
    return nodes, edges


nodes, edges = frames()
for codec in ["snappy", "zstd", "gzip", "lz4", "brotli"]:
    out = folder(f"pandas-{codec}")
    nodes.set_index(np.array([9, 8, 7, 6, 5])).to_parquet(out / "nodes.parquet", compression=codec)
    edges.to_parquet(out / "edges.parquet", compression=codec)

out = folder("fastparquet")
fastparquet.write(str(out / "nodes.parquet"), nodes, row_group_offsets=[0, 2])
fastparquet.write(str(out / "edges.parquet"), edges, compression="GZIP")

out = folder("polars")
pl.from_pandas(nodes[["id", "label", "split"]]).with_columns(
    pl.Series("x", X.astype(np.float32), dtype=pl.Array(pl.Float32, 2)), pl.col("split").cast(pl.Categorical)
).write_parquet(out / "nodes.parquet")
pl.from_pandas(edges).write_parquet(out / "edges.parquet", row_group_size=1)

out = folder("duckdb")
base = duckdb.connect()
base.execute("create table n (id varchar, label varchar, split varchar, f0 decimal(6,2), f1 decimal(30,3))")
base.executemany("insert into n values (?, ?, ?, ?, ?)", [
    (i, l, s, *map(float, x)) for i, l, s, x in zip(NAMES, LABELS, SPLIT, X)])  # fmt: skip
base.execute("create table e as select unnest(?) as source, unnest(?) as target, unnest(?) as weight",
             [SOURCE, TARGET, WEIGHT])  # fmt: skip
base.execute(f"copy n to '{out}/nodes.parquet' (format parquet, parquet_version v2)")
base.execute(f"copy e to '{out}/edges.parquet' (format parquet, compression zstd)")

lists = pa.table({
    "id": pa.array(NAMES).dictionary_encode(), "label": LABELS, "split": SPLIT,
    "x": pa.array(X.tolist(), pa.list_(pa.float64())),
})  # fmt: skip
plain = pa.table({"source": SOURCE, "target": TARGET, "weight": pa.array(WEIGHT, pa.float32())})
out = folder("pyarrow-lists")
pq.write_table(lists, out / "nodes.parquet", row_group_size=2, data_page_version="2.0")
pq.write_table(plain, out / "edges.parquet", compression="none", data_page_size=1)
out = folder("pyarrow-encodings")
fixed = lists.set_column(3, "x", pa.array(X.tolist(), pa.list_(pa.float32(), 2)))
pq.write_table(fixed, out / "nodes.parquet", use_dictionary=False, compression="lz4",
               column_encoding={"id": "DELTA_BYTE_ARRAY", "label": "DELTA_LENGTH_BYTE_ARRAY"})  # fmt: skip
pq.write_table(plain, out / "edges.parquet", use_dictionary=False, column_encoding={"weight": "BYTE_STREAM_SPLIT"})

out = folder("spark")  # what Spark leaves: a folder for each table
for name, table in [("nodes", lists), ("edges", plain)]:
    parts = out / f"{name}.parquet"
    parts.mkdir()
    (parts / "_SUCCESS").touch()
    pq.write_table(table.slice(0, 2), parts / "part-00000-c000.snappy.parquet")
    pq.write_table(table.slice(2), parts / "part-00001-c000.snappy.parquet", flavor="spark")

out = folder("integers")  # ids and labels are numbers, of several widths
pq.write_table(pa.table({
    "id": pa.array([40, 7, 3_000_000_000], pa.uint32()), "label": pa.array([1, 2, 1], pa.int8()),
    "split": ["train", "train", "test"], "a": pa.array([True, False, True]), "b": pa.array([1, 2, 3], pa.uint16()),
    "c": pa.array([decimal.Decimal("-1.5"), decimal.Decimal("0.25"), decimal.Decimal("7")], pa.decimal128(5, 2)),
    "d": pa.array(np.array([0.5, -2, 65504], np.float16)),
}), out / "nodes.parquet", store_decimal_as_integer=True)  # fmt: skip
pq.write_table(pa.table({"source": [40.0, 7.0], "target": pa.array([7, 3_000_000_000], pa.int64())}),
               out / "edges.parquet")  # fmt: skip

UUIDS = [uuid.UUID(int=i << 64) for i in range(1, 3)]
out = folder("uuids")
base.execute("create table u as select unnest(?) as id, unnest(['a', 'b']) as label, unnest([1.0, 2.0]) as x", [UUIDS])
base.execute(f"copy u to '{out}/nodes.parquet' (format parquet)")
pq.write_table(pa.table({"source": [str(UUIDS[0])], "target": [str(UUIDS[1])]}), out / "edges.parquet")

out = folder("typeless")
pq.write_table(pa.table({"id": [0, 1], "label": [0, 1], "split": pa.nulls(2), "x": [1.0, 2.0]}), out / "nodes.parquet")
pq.write_table(pa.table({"source": [0], "target": [1]}), out / "edges.parquet")


def bad(name: str, nodes: pa.Table = lists, edges: pa.Table = plain, **options: object) -> pathlib.Path:
    out = folder(f"bad-{name}")
    pq.write_table(nodes, out / "nodes.parquet", **options)
    pq.write_table(edges, out / "edges.parquet")
    return out


bad("null", lists.set_column(3, "x", pa.array([1.0, 2.0, 3.0, None, 5.0])), row_group_size=2)
bad("nan", lists.set_column(3, "x", pa.array([1.0, np.nan, 3.0, 4.0, 5.0])))
bad("list", lists.set_column(3, "x", pa.array([[1.0], [2.0], [3.0, 4.0], [5.0], [6.0]])))
bad("element", lists.set_column(3, "x", pa.array([[1.0, 1.0], [2.0, None], [3.0, 4.0], [5.0, 1.0], [6.0, 1.0]])))
bad("nulls", lists.set_column(3, "x", pa.array([[1.0], None, [3.0], [5.0], [6.0]])))
bad("texts", lists.set_column(3, "x", pa.array([["a"]] * 5)))
bad("records", lists.set_column(3, "x", pa.array([{"a": 1, "b": 2}] * 5)))
bad("nested", lists.set_column(3, "x", pa.array([[[1.0]]] * 5)))
bad("times", lists.set_column(3, "x", pa.array([1, 2, 3, 4, 5], pa.timestamp("us"))))
bad("words", lists.set_column(3, "x", pa.array(["a", "b", "c", "d", "e"])))
bad("empty", lists.slice(0, 0))
bad("column", lists.drop_columns(["label"]))
bad("again", lists.set_column(0, "id", pa.array(["ann", "bob", "zoë", "bob", "eve"])), row_group_size=2)
bad("dangling", edges=pa.table({"source": ["ann", "bob"], "target": ["bob", "Bob"]}))
bad("nobody", edges=pa.table({"source": ["ann", None], "target": ["bob", "bob"]}))

"""Write a graph of cgc as tables for Spark: python tables.py GRAPH.safetensors FOLDER.

FOLDER gets nodes.parquet (id, label, split, x) and edges.parquet (source, target), each edge once. Only some rows are
in memory at a time.
"""

import json
import mmap
import struct
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 1 << 18  # nodes per row group
TYPES = {"I32": "<i4", "I64": "<i8", "F32": "<f4"}


def arrays(path: str) -> dict[str, np.ndarray]:
    """Return the memory-mapped tensors of a safetensors file."""
    with open(path, "rb") as file:
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    size = struct.unpack("<Q", whole[:8])[0]
    header = json.loads(whole[8 : 8 + size])
    header.pop("__metadata__", None)
    found = {}
    for name, t in header.items():
        first, end = t["data_offsets"]
        flat = np.frombuffer(
            whole, TYPES[t["dtype"]], (end - first) // np.dtype(TYPES[t["dtype"]]).itemsize, 8 + size + first
        )
        found[name] = flat.reshape(t["shape"])
    return found


def main(graph: str, folder: str) -> None:
    """Write both tables."""
    t, out = arrays(graph), Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    n, width = t["x"].shape
    split = np.zeros(n, np.int8)
    for code, name in enumerate(("train", "val", "test"), 1):
        split[t[name]] = code
    words = pa.array(["", "train", "val", "test"])
    schema = pa.schema(
        [("id", pa.int64()), ("label", pa.int32()), ("split", pa.string()), ("x", pa.list_(pa.float32(), width))]
    )
    with pq.ParquetWriter(out / "nodes.parquet", schema, use_dictionary=["split"]) as writer:
        for lo in range(0, n, ROWS):
            hi = min(n, lo + ROWS)
            x = pa.FixedSizeListArray.from_arrays(pa.array(t["x"][lo:hi].reshape(-1)), width)
            columns = [np.arange(lo, hi), pa.array(t["y"][lo:hi]), words.take(pa.array(split[lo:hi])), x]
            writer.write_table(pa.table(columns, schema=schema))
    indptr, indices = t["adj.indptr"], t["adj.indices"]
    schema = pa.schema([("source", pa.int64()), ("target", pa.int64())])
    with pq.ParquetWriter(out / "edges.parquet", schema) as writer:
        for lo in range(0, n, ROWS):
            hi = min(n, lo + ROWS)
            v = indices[indptr[lo] : indptr[hi]].astype(np.int64)
            u = np.repeat(np.arange(lo, hi), np.diff(indptr[lo : hi + 1]))
            writer.write_table(pa.table([u[u < v], v[u < v]], schema=schema))


if __name__ == "__main__":
    main(*sys.argv[1:])

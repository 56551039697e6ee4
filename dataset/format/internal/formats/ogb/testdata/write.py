"""Write binary.zip.b64 with ogb's DatasetSaver, and text.zip.b64 with pandas, in the form that ogb reads.

Needs ogb, which installs pandas and torch: python3 write.py
"""

import base64
import io
import os
import tempfile
import zipfile

import numpy as np
import pandas as pd
from ogb.io import DatasetSaver
from ogb.io.read_graph_raw import read_csv_graph_raw

HERE = os.path.dirname(os.path.abspath(__file__))
NODES, EDGES, FEATURES, CLASSES = 30, 60, 3, 3

rng = np.random.default_rng(1)
edges = rng.integers(0, NODES, (2, EDGES))
x = rng.normal(size=(NODES, FEATURES)).round(6).astype(np.float32)
y = (np.arange(NODES) % CLASSES).reshape(-1, 1)
parts = {"train": np.arange(0, 10), "valid": np.arange(10, 15), "test": np.arange(15, 25)}


def pack(folder: str, name: str) -> None:
    """Write a folder as a zip file in base 64."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for root, _, files in sorted(os.walk(folder)):
            for file in sorted(files):
                path = os.path.join(root, file)
                z.write(path, os.path.relpath(path, os.path.dirname(folder)))
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(base64.encodebytes(out.getvalue()))


def table(path: str, values: object, header: list[str] | None = None) -> None:
    """Write a table as pandas does."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pd.DataFrame(values).to_csv(path, header=header or False, index=False, compression="gzip")


def splits(folder: str) -> None:
    for part, nodes in parts.items():
        table(f"{folder}/split/time/{part}.csv.gz", nodes)


os.chdir(tempfile.mkdtemp())

saver = DatasetSaver("ogbn-tiny", is_hetero=False, version=1)
labels = y.astype(np.float32)
labels[25:] = np.nan
saver.save_graph_list([{
    "edge_index": edges, "num_nodes": NODES, "node_feat": x, "edge_feat": np.ones((EDGES, 2)),
    "node_year": np.full((NODES, 1), 2015),
}])
saver.save_target_labels(labels)
saver.save_split(parts, "time")
splits(saver.dataset_dir)
pack(os.path.abspath(saver.dataset_dir), "binary.zip.b64")

folder = os.path.abspath("ogbn_tiny")
table(f"{folder}/raw/edge.csv.gz", edges.T)
table(f"{folder}/raw/node-feat.csv.gz", x)
table(f"{folder}/raw/node-label.csv.gz", y)
table(f"{folder}/raw/node_year.csv.gz", np.full(NODES, 2015))
table(f"{folder}/raw/num-node-list.csv.gz", [NODES])
table(f"{folder}/raw/num-edge-list.csv.gz", [EDGES])
splits(folder)
classes = {"label idx": range(CLASSES), "arxiv category": ["arxiv cs na", "Arts, Crafts & Sewing", 'the "third"']}
table(f"{folder}/mapping/labelidx2arxivcategeory.csv.gz", classes, list(classes))
papers = {"node idx": range(NODES), "paper id": range(9657784, 9657784 + NODES)}
table(f"{folder}/mapping/nodeidx2paperid.csv.gz", papers, list(papers))
graph = read_csv_graph_raw(f"{folder}/raw", additional_node_files=["node_year"])[0]
assert (graph["edge_index"] == edges).all() and np.array_equal(graph["node_feat"], x)
pack(folder, "text.zip.b64")

pairs = sorted({(min(e), max(e)) for e in edges.T.tolist() if e[0] != e[1]})
with open(os.path.join(HERE, "want.txt"), "w") as f:
    f.write("edges " + " ".join(f"{u}-{v}" for u, v in pairs))
    f.write("; dense " + ", ".join(" ".join(map(str, row)) for row in x) + "\n")

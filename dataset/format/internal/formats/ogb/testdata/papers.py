"""Write papers.zip.b64, a small folder with the files of MAG240M as OGB-LSC leaves them.

Needs numpy and torch: python3 papers.py
"""

import base64
import io
import os
import zipfile

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
PAPERS, AUTHORS, INSTITUTIONS = 6, 3, 2


def saved(value: object) -> bytes:
    """Return a file of torch.save, or of numpy.save for an array."""
    out = io.BytesIO()
    (np.save if isinstance(value, np.ndarray) else lambda to, v: torch.save(v, to))(out, value)
    return out.getvalue()


labels = np.full(PAPERS, np.nan, np.float32)
labels[[0, 1, 2]] = 0, 2, 1
features = (np.arange(PAPERS * 2) / 4).astype(np.float16).reshape(PAPERS, 2)
parts = {"train": [0, 1], "valid": [2], "test-dev": [4], "test-challenge": [5]}
files = {
    "meta.pt": {"paper": PAPERS, "author": AUTHORS, "institution": INSTITUTIONS},
    "split_dict.pt": {name: np.array(nodes, np.int64) for name, nodes in parts.items()},
    "processed/paper/node_feat.npy": features,
    "processed/paper/node_label.npy": labels,
    "processed/paper/node_year.npy": np.full(PAPERS, 2015, np.int16),
    "processed/paper___cites___paper/edge_index.npy": np.array([[1, 1, 3, 4, 0], [0, 2, 2, 5, 1]], np.int64),
    "processed/author___writes___paper/edge_index.npy": np.array([[0, 1, 2], [0, 1, 5]], np.int64),
    "processed/author___affiliated_with___institution/edge_index.npy": np.array([[0, 1], [0, 1]], np.int64),
}
out = io.BytesIO()
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
    for name, value in files.items():
        z.writestr(f"mag240m_kddcup2021/{name}", saved(value))
with open(os.path.join(HERE, "papers.zip.b64"), "wb") as f:
    f.write(base64.encodebytes(out.getvalue()))

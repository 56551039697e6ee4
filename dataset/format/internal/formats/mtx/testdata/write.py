"""Write folders with scipy.io.mmwrite: the path 0–1–2 with a repeat and a self-loop, and the node 3.

Needs scipy: python3 write.py
"""

import os

import numpy as np
import scipy.sparse as sp
from scipy.io import mmwrite

os.chdir(os.path.dirname(os.path.abspath(__file__)))

entries = [(0, 1), (1, 0), (2, 1), (2, 2)]
a = sp.coo_matrix((np.ones(4), ([u for u, _ in entries], [v for _, v in entries])), (4, 4))
x = np.array([[1, 0.5], [0, -2e-3], [0, 0], [3, 4]], np.float32)
y = np.array([1, 2, -1, 2])

os.makedirs("pattern", exist_ok=True)
mmwrite("pattern/pattern.mtx", a, comment="made", field="pattern")
mmwrite("pattern/features.mtx", sp.csr_matrix(x))
mmwrite("pattern/labels.mtx", y.reshape(-1, 1))

weights = sp.coo_matrix(([2.5, 0.25, 7.0], ([1, 2, 2], [0, 1, 2])), (4, 4))
os.makedirs("symmetric", exist_ok=True)
mmwrite("symmetric/graph.mtx", weights + sp.triu(weights.T, 1), symmetry="symmetric")
mmwrite("symmetric/features.mtx", x)
with open("symmetric/labels.csv", "w") as f:
    f.write("label,part\nblue,train\nred,val\n,\nred,test\n")

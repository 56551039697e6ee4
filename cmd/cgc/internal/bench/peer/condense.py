#!/usr/bin/env python3
"""Class-partitioned graph condensation as a Python user would write it, to be compared with cgc in speed.

It computes the steps of the paper (Gao et al., WWW 2025) with the usual Python libraries: PyTorch for sparse products,
least squares and the linear solve, faiss for k-means, scikit-learn for truncated singular vectors. The last hop is
computed only for training nodes. It reads a file written by `cgc data convert`.

    apt-get install python3-torch python3-faiss python3-sklearn
    OMP_NUM_THREADS=2 /usr/bin/python3 condense.py GRAPH.safetensors --nodes 454 --partition kmeans

It prints one JSON object: sizes, seconds of each step and in total (without loading), and the peak memory in bytes.
pairs.py runs it and cgc alternately.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
import warnings
from pathlib import Path
from typing import Any, Optional

import faiss
import numpy as np
import torch
from sklearn.decomposition import TruncatedSVD

Array = np.ndarray[Any, Any]
Graph = dict[str, Array]
TYPES = {"F32": np.float32, "I32": np.int32, "I64": np.int64}


def tensors(path: Path) -> Graph:
    """Return the tensors of a safetensors file, mapped into memory."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    return {
        name: np.memmap(path, TYPES[t["dtype"]], "c", 8 + size + t["data_offsets"][0], tuple(t["shape"]))
        for name, t in header.items()
        if name != "__metadata__" and t["dtype"] in TYPES
    }


def rows(graph: Graph, of: Optional[Array] = None) -> torch.Tensor:
    """Return the given rows of A, or all rows. Indices have 32 bits, because PyTorch multiplies such tensors faster."""
    pointers, columns = graph["adj.indptr"], graph["adj.indices"]
    width = len(pointers) - 1
    if of is not None:
        counts = np.diff(pointers)[of]
        ends = np.concatenate([[0], np.cumsum(counts)])
        columns = columns[np.arange(ends[-1]) + np.repeat(pointers[of] - ends[:-1], counts)]
        pointers = ends
    index = torch.from_numpy(pointers.astype(np.int32)), torch.from_numpy(columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns that sparse CSR tensors are in beta
        return torch.sparse_csr_tensor(*index, torch.ones(len(columns)), (len(pointers) - 1, width))


def propagate(graph: Graph, hops: int) -> list[torch.Tensor]:
    """Return H⁽⁰⁾ … H⁽ᴷ⁾ of the training nodes, H⁽ˡ⁾ = D̃^-½(A+I)D̃^-½H⁽ˡ⁻¹⁾ (eq. 12)."""
    train = torch.from_numpy(graph["train"].astype(np.int64))
    scale = torch.from_numpy((np.diff(graph["adj.indptr"]) + 1.0) ** -0.5).float()[:, None]
    h = torch.from_numpy(graph["x"])
    found = [h[train]]
    a = rows(graph) if hops > 1 else None
    for left in reversed(range(hops)):
        h = h * scale
        if left:
            h = (a @ h).add_(h).mul_(scale)
            found.append(h[train])
        else:  # the last hop is needed only for training nodes
            found.append((rows(graph, graph["train"]) @ h).add_(h[train]).mul_(scale[train]))
    return found


def judge(h: torch.Tensor, w: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the confidence of each row, and whether w classifies it correctly (§3.2)."""
    p = (h @ w).softmax(1)
    confidence, right = p.gather(1, y[:, None])[:, 0], p.argmax(1) == y
    confidence[~right] = confidence.min()
    return confidence, right


def class_errors(right: torch.Tensor, y: torch.Tensor, classes: int) -> torch.Tensor:
    """Return the misclassified share of each class; 0 for a class without rows."""
    wrong = torch.zeros(classes).index_add(0, y, (~right).float())
    return wrong / torch.bincount(y, minlength=classes).clamp(min=1)


def budgets(y: torch.Tensor, classes: int, nodes: int) -> list[int]:
    """Return the number of condensed nodes of each class, proportional to its rows. The largest class gets the rest."""
    count = torch.bincount(y, minlength=classes).tolist()
    budget = [max(1, nodes * n // len(y)) if n else 0 for n in count]
    budget[int(np.argmax(count))] += nodes - sum(budget)
    return budget


def spectral(h: Array, k: int) -> Array:
    """Return the spectral embedding of rows in the degree-2 kernel (u·v + 2^-½)² of their singular vectors."""
    h = h - h.mean(0)
    u = TruncatedSVD(min(k, min(h.shape) - 1), random_state=0).fit(h.T).components_.T
    i, j = np.triu_indices(u.shape[1])
    pairs = np.where(i == j, 1, 2**0.5) * u[:, i] * u[:, j]
    z = np.hstack([np.full((len(u), 1), 2**-0.5), 2**0.25 * u, pairs])
    z /= np.sqrt(z @ z.sum(0))[:, None]
    return TruncatedSVD(min(k + 1, min(z.shape) - 1), random_state=0).fit(z.T).components_.T[:, 1:]


def groups(h: Array, k: int, partition: str, seed: int) -> Array:
    """Return the group of each row, 0 to k−1 (§3.4)."""
    if k >= len(h):
        return np.arange(len(h))
    if partition == "spectral":
        h = spectral(h, k)
    h = np.ascontiguousarray(h, np.float32)
    means = faiss.Kmeans(h.shape[1], k, seed=seed, min_points_per_centroid=1)
    means.train(h)
    return means.index.search(h, 1)[1][:, 0]


def generate(h: torch.Tensor, threshold: float, alpha: float, hops: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return A′ by cosine similarity and X′ = (QᵀQ + αL′)⁻¹QᵀH′ (eqs. 16, 17)."""
    unit = torch.nn.functional.normalize(h)
    a = (unit @ unit.T > threshold).float().fill_diagonal_(0)
    degree = a.sum(1)
    scale = (degree + 1) ** -0.5
    q = torch.linalg.matrix_power(scale[:, None] * (a + torch.eye(len(a))) * scale, hops)
    return a, torch.linalg.solve(q.T @ q + alpha * (torch.diag(degree) - a), q.T @ h)


def condense(graph: Graph, o: argparse.Namespace) -> dict[str, object]:
    """Condense a graph, and return the sizes and the seconds of each step."""
    torch.manual_seed(o.seed)
    seconds: dict[str, float] = {}
    began = last = time.perf_counter()

    def lap(step: str) -> None:
        nonlocal last
        now = time.perf_counter()
        seconds[step], last = now - last, now

    y = torch.from_numpy(graph["y"].astype(np.int64))[torch.from_numpy(graph["train"].astype(np.int64))]
    classes = int(y.max()) + 1
    hops = propagate(graph, o.hops)
    lap("propagate")
    target = torch.nn.functional.one_hot(y, classes).float()
    w = torch.linalg.lstsq(sum(hops) / len(hops), target, driver="gelsd").solution
    confidence, right = judge(hops[-1], w, y)
    lap("assess")
    h = hops[-1]
    if o.augment > 0 and o.hops > 0:
        weight = class_errors(right, y, classes)[y] + 1e-20
        pick = torch.multinomial(weight / weight.sum(), int(o.augment * len(y)), replacement=True)
        depth = torch.randint(o.hops, (len(pick),))
        extra = torch.stack(hops[:-1])[depth, pick] if o.hops > 1 else hops[0][pick]
        more, _ = judge(extra, w, y[pick])
        h, confidence, y = torch.cat([h, extra]), torch.cat([confidence, more]), torch.cat([y, y[pick]])
    lap("augment")
    means = []
    for c, k in enumerate(budgets(y, classes, o.nodes)):
        if k == 0:
            continue
        own = (y == c).nonzero()[:, 0]
        rows = h[own]
        group = torch.from_numpy(groups(rows.numpy(), k, o.partition, o.seed))
        share = (confidence[own] / o.temperature).exp()
        total = torch.zeros(k).index_add(0, group, share)
        sums = torch.zeros(k, h.shape[1]).index_add(0, group, share[:, None] * rows)
        means.append((sums / total[:, None])[total > 0])
    small, edges = torch.cat(means), 0
    lap("partition")
    if o.method == "cgc":
        a, small = generate(small, o.threshold, o.alpha, o.hops)
        edges = int(a.sum()) // 2
        lap("generate")
    seconds["condense"] = time.perf_counter() - began
    return {"nodes": len(small), "edges": edges, "train": len(graph["train"]), "seconds": seconds}


def main(line: Optional[list[str]] = None) -> None:
    """Read the command line, condense, and print sizes, seconds and memory."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("graph", type=Path)
    p.add_argument("--nodes", type=int, required=True)
    p.add_argument("--method", default="cgc", choices=["cgc", "cgc-x"])
    p.add_argument("--partition", default="kmeans", choices=["kmeans", "spectral"])
    p.add_argument("--hops", type=int, default=2)
    p.add_argument("--augment", type=float, default=0)
    p.add_argument("--temperature", type=float, default=1)
    p.add_argument("--threshold", type=float, default=0.92)
    p.add_argument("--alpha", type=float, default=1)
    p.add_argument("--seed", type=int, default=0)
    o = p.parse_args(line)
    found = condense(tensors(o.graph), o)
    found["peak_rss_bytes"] = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps(found))


if __name__ == "__main__":
    main()

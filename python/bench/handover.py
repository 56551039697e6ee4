"""Measure the cost of passing a graph of numpy arrays to the command, compared with the condensation itself.

python handover.py GRAPH.safetensors [--nodes 2000] [--runs 3] [--cases ordered shuffled one-way]

GRAPH is a file written by `cgc data make --like products -o GRAPH.safetensors`. Its edges become an int64 edge_index:
ordered by rows (ordered), in random order (shuffled), or each in one direction and in random order (one-way). The
features are float32. For each run, it prints the time of cgc.condense, the time of the condensation within it, and the
difference. The difference is the cost of the hand-over: the checks, writing and reading the file, the start of the
command, and the result.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import cgc
from cgc import _safetensors


def ordered(edges: np.ndarray) -> np.ndarray:
    """Return the edges as they are."""
    return edges


def shuffled(edges: np.ndarray) -> np.ndarray:
    """Return the edges in random order."""
    order = np.random.default_rng(0).permutation(edges.shape[1])
    return np.stack([edges[0][order], edges[1][order]])


def one_way(edges: np.ndarray) -> np.ndarray:
    """Return each edge once, in random order."""
    return shuffled(edges[:, edges[0] < edges[1]])


CASES: dict[str, Callable[[np.ndarray], np.ndarray]] = {"ordered": ordered, "shuffled": shuffled, "one-way": one_way}


def main() -> None:
    """Read the graph, and condense it with the edges of each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    options = parser.parse_args()
    t, _ = _safetensors.read(options.graph)
    rows = np.repeat(np.arange(len(t["y"]), dtype=np.int64), np.diff(t["adj.indptr"]))
    edges = np.stack([rows, t.pop("adj.indices").astype(np.int64)])
    del rows
    masks = {f"{part}_mask": np.isin(np.arange(len(t["y"])), t[part]) for part in ("train", "val", "test")}
    print("case      edges   condense()  condensation  hand-over  share")
    for case in options.cases:
        given = CASES[case](edges)
        for _ in range(options.runs):
            begin = time.perf_counter()
            small = cgc.condense(
                edge_index=given, x=t["x"], y=t["y"], nodes=options.nodes, name="graph", timings=True, **masks
            )  # fmt: skip
            total = time.perf_counter() - begin
            inner = small.origin.account["seconds"]["condense"]
            print(
                f"{case:9} {given.shape[1] / 1e6:5.1f}M {total:9.2f} s {inner:11.2f} s {total - inner:8.2f} s "
                f"{(total - inner) / inner:6.0%}",
                flush=True,
            )


if __name__ == "__main__":
    main()

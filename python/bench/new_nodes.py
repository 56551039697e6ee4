"""Measure how much accuracy new nodes lose if they are predicted without the graph.

python new_nodes.py GRAPH RECORDS [--nodes 454] [--models gcn …] [--groups 1000 …] appends a line of JSON to RECORDS for
each model and number of groups. The known nodes are the training nodes and the edges between them. Each test node is
predicted alone, with its edges to known nodes. With a group for each known node, nothing is lost.

It requires cgc and scipy, and the graph.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
import scipy.sparse as sp

import cgc
from cgc._run import binary

MOST = 20_000  # test nodes
BATCH = 500


def accuracy(model: cgc.Model, x: np.ndarray, edges: sp.csr_matrix, y: np.ndarray) -> float:
    """Return the accuracy in percent on new nodes. Row i of edges joins new node i with known nodes."""
    right = 0
    for lo in range(0, len(y), BATCH):
        some = edges[lo : lo + BATCH].tocoo()
        p = model.predict_new(x[lo : lo + BATCH], (some.col, some.row))
        right += int((p.argmax(1) == y[lo : lo + BATCH]).sum())
    return 100 * right / len(y)


def seconds(*arguments: str) -> float:
    """Return the median seconds of five predictions by the command, without reading and writing."""
    with tempfile.TemporaryDirectory() as home:
        line = [binary(), "predict", *arguments, "--output", f"{home}/p.csv", "--force", "--json", "--quiet"]
        return median(json.loads(subprocess.check_output(line))["seconds"] for _ in range(5))


def main() -> None:
    """Measure one graph."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("records", type=Path)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--models", nargs="+", default=["gcn"])
    parser.add_argument("--groups", type=int, nargs="+", default=[1000])
    parser.add_argument("--epochs", type=int, default=300)
    options = parser.parse_args()
    g = cgc.load_dataset(options.graph)
    n = len(g.y)
    weight = np.ones(g.edge_index.shape[1]) if g.edge_weight is None else g.edge_weight
    adj = sp.csr_matrix((weight, tuple(g.edge_index)), shape=(n, n))
    known = np.flatnonzero(g.train_mask)
    new = np.random.default_rng(0).permutation(np.flatnonzero(g.test_mask))[:MOST]
    among = adj[known][:, known].tocoo()
    edges, x, y = adj[new][:, known].tocsr(), g.x[new], g.y[new]
    small = cgc.condense(options.graph, nodes=options.nodes, inductive=True)
    with tempfile.TemporaryDirectory() as home:
        graph, arrival = f"{home}/known.npz", Path(home, "new")
        np.savez(graph, x=g.x[known], y=g.y[known], edge_index=np.stack([among.row, among.col]))
        arrival.mkdir()
        fields = [f"f{k}" for k in range(x.shape[1])]
        (arrival / "nodes.csv").write_text(f"id,{','.join(fields)}\nnew,{','.join(map(repr, map(float, x[0])))}\n")
        ends = "".join(f"new,{u}\n" for u in edges[0].indices)
        (arrival / "edges.csv").write_text(f"source,target\n{ends}")
        for name in options.models:
            model = cgc.train(small, options.graph, models=name, seeds=1, epochs=options.epochs)
            model.save(f"{home}/model.safetensors")
            whole = accuracy(cgc.summarize(model, graph, groups=len(known)), x, edges, y)
            slow = seconds(f"{home}/model.safetensors", "--on", graph)
            for groups in options.groups:
                cgc.summarize(model, graph, groups=groups).save(f"{home}/summary.safetensors")
                record = {
                    "graph": g.name, "known": len(known), "new": len(new), "model": name, "nodes": options.nodes,
                    "method": small.origin.method, "groups": groups, "whole": whole,
                    "summary": accuracy(cgc.load_model(f"{home}/summary.safetensors"), x, edges, y),
                    "graph_bytes": 4 * g.x[known].size + 4 * among.nnz + 8 * (len(known) + 1),
                    "bytes": os.path.getsize(f"{home}/summary.safetensors"), "whole_seconds": slow,
                    "seconds": seconds(f"{home}/summary.safetensors", "--new", str(arrival)),
                }  # fmt: skip
                print(json.dumps(record), flush=True)
                with options.records.open("a") as file:
                    file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()

"""Compare methods on random splits of a graph.

python random_splits.py GRAPH RECORDS --nodes 70 [--splits 20] [--methods auto cgc] [--normalize-features] appends a
line of JSON to RECORDS for each split: the test accuracy of a GCN for each method, with the number of the split as
seed. A part of the graph's own split that has equally many nodes of each class is drawn class by class, and any other
part uniformly from the nodes that are left. Sizes are those of the graph's own split.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

import numpy as np

import cgc


def draw(g: cgc.Graph, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return masks of a random split with the sizes of the graph's own."""
    left = g.y >= 0
    masks = {}
    for part in ("train_mask", "val_mask", "test_mask"):
        counts = np.bincount(g.y[getattr(g, part)], minlength=g.y.max() + 1)
        if counts.min() == counts.max():
            drawn = [rng.choice(np.flatnonzero(left & (g.y == c)), n, replace=False) for c, n in enumerate(counts)]
        else:
            drawn = [rng.choice(np.flatnonzero(left), counts.sum(), replace=False)]
        masks[part] = np.zeros(len(g.y), dtype=bool)
        masks[part][np.concatenate(drawn)] = True
        left &= ~masks[part]
    return masks


def main() -> None:
    """Measure one graph."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("records", type=Path)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--methods", nargs="+", default=["auto", "cgc"])
    parser.add_argument("--normalize-features", action="store_true")
    options = parser.parse_args()
    own = cgc.load_dataset(options.graph)
    for split in range(options.splits):
        g = dataclasses.replace(own, **draw(own, np.random.default_rng(split)))
        scale = {"normalize_features": options.normalize_features}
        record = {"graph": own.name, "of": len(g.y), "nodes": options.nodes, **scale, "split": split}
        for method in options.methods:
            small = cgc.condense(g, nodes=options.nodes, method=method, seed=split, **scale)
            record[method] = cgc.evaluate(small, on=g, seeds=1, seed=split)[0].test_mean
        print(json.dumps(record), flush=True)
        with options.records.open("a") as file:
            file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()

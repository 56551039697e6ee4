"""Compare condensed graphs that are cut from a larger one with graphs condensed to the same size.

python cuts.py GRAPH RECORDS --nodes 7 14 35 70 140 [--method auto] appends a line of JSON to RECORDS for each seed and
size: the test accuracy of a GCN on the original graph for both. The largest size is condensed once for each seed. With
auto, all cuts use the method chosen for the largest size.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import cgc


def main() -> None:
    """Measure one graph."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("records", type=Path)
    parser.add_argument("--nodes", type=int, nargs="+", required=True)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    training = {"models": "gcn", "epochs": 300, "validate_every": 10}
    *smaller, largest = sorted(options.nodes)
    for seed in range(1, options.seeds + 1):
        begun = time.perf_counter()
        large = cgc.condense(options.graph, nodes=largest, method=options.method, seed=seed)
        seconds = time.perf_counter() - begun
        for nodes in smaller:
            begun = time.perf_counter()
            cut = cgc.cut(large, nodes=nodes)
            took = time.perf_counter() - begun
            own = cgc.condense(options.graph, nodes=nodes, method=options.method, seed=seed)
            scores = [cgc.evaluate(s, on=options.graph, seeds=1, seed=seed, **training)[0] for s in (cut, own)]
            record = {
                "graph": large.origin.metadata["graph"], "of": int(large.origin.metadata["graph_nodes"]), "seed": seed,
                "largest": largest, "nodes": nodes, "method": large.origin.method, "own_method": own.origin.method,
                "cut": scores[0].test_mean, "own": scores[1].test_mean, "condense_seconds": seconds,
                "cut_seconds": took,
            }  # fmt: skip
            print(json.dumps(record), flush=True)
            with options.records.open("a") as file:
                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()

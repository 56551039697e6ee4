#!/usr/bin/env python3
"""Time cgc and condense.py alternately on the same graphs, and print how many times faster cgc is.

    apt-get install python3-torch python3-faiss python3-sklearn
    /usr/bin/python3 cmd/cgc/internal/bench/peer/pairs.py arxiv flickr reddit products --runs 3 --partition kmeans

The graphs are synthetic, with the sizes of the paper's data sets (`cgc data make --like NAME`), and are condensed to
the paper's numbers of nodes. The seconds cover only condensation, from the graph in memory to the condensed graph in
memory. Each row has the median of each program, and the median ratio of the pairs. Run it on an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

NODES = {"arxiv": 454, "flickr": 223, "reddit": 153, "products": 1238}
PEER = Path(__file__).with_name("condense.py")


def run(line: list[str], threads: int) -> dict[str, Any]:
    """Run a program that prints one JSON object, and return the object."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(line, stdout=subprocess.PIPE, env=environment, check=True, text=True)
    return dict(json.loads(done.stdout))


def record(size: str, auto: dict[str, Any], peer: dict[str, Any], ours: dict[str, Any]) -> str:
    """Return three runs as a line of JSON."""
    graph = {key: ours[key] for key in ("nodes", "edges", "features")}
    sides = {
        name: {"seconds": side["seconds"], "peak_rss_bytes": side["peak_rss_bytes"]}
        for name, side in (("cgc", ours), ("python", peer), ("auto", auto))
    }
    return json.dumps({"graph": size, **graph, "condensed": NODES[size], **sides})


def main() -> None:
    """Read the command line, time the pairs, and print a table."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("sizes", nargs="*", default=["arxiv", "flickr"], help=f"some of {', '.join(NODES)}")
    p.add_argument("--cgc", default="cgc", help="the command (default: cgc on the path)")
    p.add_argument("--folder", type=Path, help="where synthetic graphs are kept (default: a temporary folder)")
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    p.add_argument("--method", default="cgc", choices=["cgc", "cgc-x"])
    p.add_argument("--partition", default="kmeans", choices=["kmeans", "spectral"])
    p.add_argument("--augment", type=float, default=0.0)
    p.add_argument("--record", type=Path, help="add every run to this file, a JSON object a line (results/README.md)")
    o = p.parse_args()
    for size in o.sizes:
        if size not in NODES:
            p.error(f"size is {size}, must be one of {', '.join(NODES)}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = o.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        print("| | cgc, s | Python, s | times faster | auto, s | cgc, GB | Python, GB | auto, GB |")
        print("|---|--:|--:|--:|--:|--:|--:|--:|")
        for size in o.sizes:
            graph = folder / f"{size}.safetensors"
            if not graph.exists():
                subprocess.run([o.cgc, "data", "make", "--like", size, "-o", graph, "--quiet"], check=True)
            nodes, out = f"--nodes={NODES[size]}", f"--output={scratch}/small.safetensors"
            same = [f"--method={o.method}", f"--partition={o.partition}", f"--augment={o.augment}"]
            ours = [o.cgc, "condense", str(graph), out, "--force", "--quiet", "--json", f"--threads={o.threads}", nodes]
            peer = [sys.executable, str(PEER), str(graph), nodes, *same]
            lines = [[*ours, "--method=auto"], peer, [*ours, *same]]
            runs = [[run(line, o.threads) for line in lines] for _ in range(o.runs)]
            if o.record:
                with o.record.open("a") as records:
                    records.writelines(record(size, *one) + "\n" for one in runs)
            auto, python, cgc = ([one["seconds"]["condense"] for one in side] for side in zip(*runs))
            memory = [statistics.median(one["peak_rss_bytes"] for one in side) / 1e9 for side in zip(*runs)]
            times = statistics.median(y / x for x, y in zip(cgc, python))
            row = f"{statistics.median(cgc):.3g} | {statistics.median(python):.3g} | {times:.1f}"
            row += f" | {statistics.median(auto):.3g} | {memory[2]:.1f} | {memory[1]:.1f} | {memory[0]:.1f}"
            print(f"| {size} | {row} |", flush=True)


if __name__ == "__main__":
    main()

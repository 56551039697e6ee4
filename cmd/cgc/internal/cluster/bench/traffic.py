"""Count the bytes of partial sums when Spark divides a graph by rows: python traffic.py GRAPH.safetensors [HOPS].

For 2, 4, 8 and 16 blocks, it prints the MB of the sums that workers send in each hop, counted from the graph, and the
MB that the formula of docs/how-to/several-machines.md predicts. No cluster is needed: a row is sent once by each block
that contains one of its columns or the row itself.
"""

import sys

import numpy as np
from tables import arrays

PIECE = 1 << 24  # entries per step


def by_row(indptr: np.ndarray, indices: np.ndarray, value, rows: np.ndarray) -> np.ndarray:
    """Return the bitwise or of value(columns) for each of the given rows, and 0 for other rows."""
    out = np.zeros(len(indptr) - 1, np.uint16)
    first = 0
    while first < len(out):
        end = max(first + 1, int(np.searchsorted(indptr, indptr[first] + PIECE, "right")) - 1)
        full = np.flatnonzero((np.diff(indptr[first : end + 1]) > 0) & rows[first:end])
        if len(full):
            bits = value(indices[indptr[first] : indptr[end]]).astype(np.uint16)
            starts = indptr[first + full] - indptr[first]
            ends = indptr[first + full + 1] - indptr[first]
            pairs = np.stack([starts, np.minimum(ends, len(bits) - 1)], 1).reshape(-1)
            found = np.bitwise_or.reduceat(bits, pairs)[::2]
            if ends[-1] == len(bits):
                found[-1] |= bits[-1]
            out[first + full] = found
        first = end
    return out


def main(graph: str, hops: str = "2") -> None:
    """Count and print."""
    t = arrays(graph)
    indptr, indices, width = t["adj.indptr"], t["adj.indices"], t["x"].shape[1]
    n, k = len(indptr) - 1, int(hops)
    within = [np.zeros(n, bool)]
    within[0][t["train"]] = True
    for _ in range(k):
        near = within[-1]
        within.append(near | (by_row(indptr, indices, lambda c, near=near: near[c], np.ones(n, bool)) > 0))
    degree = np.diff(indptr)[within[k - 1]].mean()
    print(f"{n:,} nodes, {len(indices):,} entries, {width} features; needed {int(within[k].sum()):,} nodes")
    for blocks in (2, 4, 8, 16):
        bits = by_row(indptr, indices, lambda c, p=blocks: 1 << (c % p), within[k - 1])
        bits |= (1 << (np.arange(n) % blocks)).astype(np.uint16)
        sums = np.unpackbits(bits.view(np.uint8).reshape(n, 2), axis=1).sum(1)
        for hop in range(1, k + 1):
            rows = within[k - hop]
            sent = int(sums[rows].sum()) * (4 * width + 4)
            model = int(rows.sum()) * blocks * (1 - (1 - 1 / blocks) ** (degree + 1)) * (4 * width + 4)
            print(f"{blocks} blocks, hop {hop}: {sent / 1e6:,.1f} MB, formula {model / 1e6:,.1f}, {sent / model:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])

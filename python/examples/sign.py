"""Propagate features once, then train SIGN on batches of their rows, which are read from disk."""

import numpy as np
import torch
from torch.nn.functional import cross_entropy, dropout

import cgc

found = cgc.propagate("demo", "propagated", hops=3, part=["train", "test"])  # or a file larger than memory
torch.manual_seed(0)
width, classes = found.hops[0].shape[1], int(found.y.max()) + 1
inner = torch.nn.ModuleList(torch.nn.Linear(width, 64) for _ in found.hops)
outer = torch.nn.Linear(64 * len(inner), classes)


def sign(rows, training=False):
    """Return the outputs for some rows. Indexing copies them, because torch has no read-only tensors."""
    hops = [torch.from_numpy(np.asarray(hop[rows], np.float32)) for hop in found.hops]
    hidden = torch.cat([linear(hop).relu() for linear, hop in zip(inner, hops)], dim=1)
    return outer(dropout(hidden, training=training))


optimizer = torch.optim.Adam([*inner.parameters(), *outer.parameters()], lr=0.01, weight_decay=5e-4)
for epoch in range(30):
    for rows in np.array_split(np.random.default_rng(epoch).permutation(found.train), 4):
        optimizer.zero_grad()
        cross_entropy(sign(rows, training=True), torch.from_numpy(found.y[rows])).backward()
        optimizer.step()
correct = sign(found.test).argmax(dim=1).numpy() == found.y[found.test]
print(f"test accuracy: {correct.mean():.1%}")

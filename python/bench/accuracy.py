"""Train PyTorch Geometric's own models on condensed graphs, and compare them with cgc.evaluate.

python accuracy.py RECORDS [--seeds 5] [--graphs cora amazon …] appends a line of JSON to RECORDS for each training
run. It continues an interrupted measurement. python accuracy.py RECORDS --table prints the results as Markdown.

It requires cgc, torch and torch_geometric, and cora, citeseer and amazon_photo.npz in the folders of $CGC_DATA.
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import APPNP, ChebConv, GATConv, GCNConv, SAGEConv, SGConv
from torch_geometric.utils import add_self_loops, to_torch_csr_tensor

import cgc
from cgc._layers import LoopedCheb

# Maps names of condensed graphs to the original graph and the arguments of condense.
GRAPHS = {
    "cora 35": ("cora", dict(nodes=35)),
    "cora 70": ("cora", dict(nodes=70)),
    "cora 140": ("cora", dict(nodes=140)),
    "cora 70, cgc-x": ("cora", dict(nodes=70, method="cgc-x")),
    "cora 70, soft labels": ("cora", dict(nodes=70, method="cgc-d")),
    "citeseer 30": ("citeseer", dict(nodes=30)),
    "citeseer 60": ("citeseer", dict(nodes=60)),
    "amazon photo 80": ("amazon_photo.npz", dict(nodes=80)),
    "amazon photo 80, standardized": ("amazon_photo.npz", dict(nodes=80, standardize=True)),
}
TRAINING = dict(epochs=400, hidden=256, dropout=0.5, lr=0.01, weight_decay=5e-4, validate_every=10)
MODELS = ("sgc", "gcn", "sage", "appnp", "cheby", "gat")
VARIANTS = ("sage plain", "cheby plain", "gat narrow")  # additional models of PyTorch Geometric; see build


class Cheb(ChebConv):
    """ChebConv with a sparse product for inference: it computes the same sums ten times as fast here."""

    def propagate(self, edge_index: Tensor, size: None = None, *, x: Tensor, norm: Tensor) -> Tensor:
        if self.training:
            return super().propagate(edge_index, size, x=x, norm=norm)
        return to_torch_csr_tensor(edge_index, norm, (len(x), len(x))) @ x


class FastLoopedCheb(Cheb, LoopedCheb):
    """Cheb on the graph with self-loops, as in cgc."""


class Layers(nn.Module):
    """One or two layers, with dropout between them. weighted says whether layers use edge weights."""

    def __init__(self, *layers: nn.Module, activation: Callable = F.relu, weighted: bool = True):
        super().__init__()
        self.layers, self.activation, self.weighted = nn.ModuleList(layers), activation, weighted

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
        for i, layer in enumerate(self.layers):
            if i > 0:
                x = F.dropout(self.activation(x), TRAINING["dropout"], self.training)
            x = layer(x, edge_index, edge_weight) if self.weighted else layer(x, edge_index)
        return x


class Predict(nn.Module):
    """Two linear layers, then personalised PageRank."""

    def __init__(self, d: int, hidden: int, c: int):
        super().__init__()
        self.first, self.last, self.propagate = nn.Linear(d, hidden), nn.Linear(hidden, c), APPNP(K=10, alpha=0.1)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
        x = F.dropout(self.first(x).relu(), TRAINING["dropout"], self.training)
        return self.propagate(self.last(x), edge_index, edge_weight)


def build(model: str, d: int, hidden: int, c: int) -> nn.Module:
    """Return a model of PyTorch Geometric's layers.

    On a condensed graph without edges, sage and cheby train all their weights only if a node is its own neighbour. They
    therefore add self-loops, as in cgc; "sage plain" and "cheby plain" do not. The attention parameters of gat have the
    initial range of PyTorch Geometric. In "gat narrow", the first layer has cgc's narrower range.
    """
    if model == "sgc":
        return Layers(SGConv(d, c, K=2))
    if model == "gcn":
        return Layers(GCNConv(d, hidden), GCNConv(hidden, c))
    if model.startswith("sage"):
        return Layers(SAGEConv(d, hidden), SAGEConv(hidden, c), weighted=False)
    if model == "appnp":
        return Predict(d, hidden, c)
    if model.startswith("cheby"):
        kind = FastLoopedCheb if model == "cheby" else Cheb
        return Layers(kind(d, hidden, K=3), kind(hidden, c, K=3))
    width = hidden // 8
    first, last = GATConv(d, width, heads=8, dropout=0.6), GATConv(hidden, c, heads=1, dropout=0.6)
    if model == "gat narrow":  # Glorot's bound for 8 × width parameters is wider than for hidden × 1
        with torch.no_grad():
            for scores in (first.att_src, first.att_dst):
                scores *= math.sqrt((8 + width) / (hidden + 1))
    return Layers(first, last, activation=F.elu, weighted=False)


def edges(model: str, graph: Data, inference: bool) -> tuple[Tensor, Tensor | None]:
    """Return the edges in the form that a model accepts: for inference a sparse matrix, if the layers support it."""
    edge_index, edge_weight = graph.edge_index, graph.edge_weight
    if model == "sage":  # the mean includes the node itself
        edge_index, edge_weight = add_self_loops(edge_index, num_nodes=graph.num_nodes)[0], None
    if not inference or model.startswith(("gat", "cheby")):
        return edge_index, edge_weight
    return to_torch_csr_tensor(edge_index, edge_weight, (graph.num_nodes,) * 2), None


def train(model: str, small: Data, data: Data, seed: int) -> dict[str, float]:
    """Train a model on small as cgc does.

    The validation nodes of data determine the epoch. Labels of test nodes are read only after that.
    """
    torch.manual_seed(seed)
    x = data.x
    if "scaling_mean" in small:  # the original features must be scaled like the condensed ones
        x = (x - small.scaling_mean) / small.scaling_std
    classes = int(data.y.max()) + 1
    net = build(model, x.size(1), TRAINING["hidden"], classes)
    steps = torch.optim.Adam(net.parameters(), lr=TRAINING["lr"], weight_decay=TRAINING["weight_decay"])
    target = small.y_soft if "y_soft" in small else F.one_hot(small.y, classes).float()
    weight = small.weight / small.weight.mean()
    best, chosen = (-1.0, 0.0), None
    small_edges, all_edges = edges(model, small, False), edges(model, data, True)
    for epoch in range(1, TRAINING["epochs"] + 1):
        net.train()
        steps.param_groups[0]["lr"] = TRAINING["lr"] * (0.1 if epoch > TRAINING["epochs"] // 2 else 1)
        steps.zero_grad()
        out = net(small.x, *small_edges)
        (F.cross_entropy(out, target, reduction="none") * weight).mean().backward()
        steps.step()
        if epoch % TRAINING["validate_every"] == 0:
            net.eval()
            with torch.no_grad():
                out = net(x, *all_edges)
            val = out[data.val_mask], data.y[data.val_mask]
            score = accuracy(*val), -F.cross_entropy(*val).item()
            if score > best:
                best, chosen = score, out[data.test_mask]
    return {"val": best[0], "test": accuracy(chosen, data.y[data.test_mask])}


def accuracy(out: Tensor, y: Tensor) -> float:
    """Return the percentage of rows whose largest logit is at the true class."""
    return 100 * (out.argmax(1) == y).double().mean().item()


def measure(file: Path, names: list[str], models: list[str], seeds: int) -> None:
    """Append missing measurements to file, seed by seed. Each seed condenses once and trains each model once."""
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = {(r["graph"], r["model"], r["by"], r["seed"]) for r in rows}
    originals: dict[str, Data] = {}
    with file.open("a", buffering=1) as out:
        for seed in range(seeds):
            for name in names:
                origin, how = GRAPHS[name]
                missing = [m for m in models if (name, m, "pyg", seed) not in done]
                ours = [m for m in models if m in MODELS and (name, m, "cgc", seed) not in done]
                if not missing and not ours:
                    continue
                if origin not in originals:
                    originals[origin] = cgc.load_dataset(origin).to_pyg()
                data = originals[origin]
                small = cgc.condense(data, **how, seed=seed)
                row = {"graph": name, "seed": seed}
                if ours:
                    for s in cgc.evaluate(small, on=data, models=ours, seeds=1, seed=seed, threads=1, **TRAINING):
                        score = {"val": s.val_mean, "test": s.test_mean}
                        out.write(json.dumps({**row, "model": s.model, "by": "cgc", **score}) + "\n")
                for model in missing:
                    score = train(model, small, data, seed)
                    out.write(json.dumps({**row, "model": model, "by": "pyg", **score}) + "\n")
                print(name, "seed", seed, flush=True)


def interval(values: list[float]) -> tuple[float, float]:
    """Return the mean of values and half the width of its 95% interval, by Student's t."""
    quantiles = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]
    t = quantiles[len(values) - 2] if len(values) <= 10 else 1.96 + 2.5 / (len(values) - 1)
    return mean(values), t * stdev(values) / math.sqrt(len(values))


def table(file: Path) -> str:
    """Return Markdown: accuracies of cgc and of PyTorch Geometric, and the difference of each model over all graphs.

    An accuracy is the mean ± standard deviation over the condensation seeds that both programs have used. A difference
    is the mean over graphs of the means over seeds.
    """
    found: dict[tuple[str, str, str], dict[int, float]] = {}
    for line in file.read_text().splitlines():
        r = json.loads(line)
        found.setdefault((r["graph"], r["model"], r["by"]), {})[r["seed"]] = r["test"]
    models = [m for m in (*MODELS, *VARIANTS) if any(model == m for _, model, _ in found)]
    lines = [f"| condensed graph | {' | '.join(models)} |", "|---|" + "---|" * len(models)]
    differences: dict[str, list[float]] = {m: [] for m in models}
    for name in GRAPHS:
        cells = []
        for model in models:
            ours, theirs = (found.get((name, m, by), {}) for m, by in ((model.split()[0], "cgc"), (model, "pyg")))
            both = sorted(ours.keys() & theirs.keys())
            a, b = [ours[s] for s in both], [theirs[s] for s in both]
            cells.append(f"{spread(a)}, {spread(b)} ({len(both)})" if both else "")
            if both:
                differences[model].append(mean(b) - mean(a))
        if any(cells):
            lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "| model | PyTorch Geometric − cgc, points | 95% interval | graphs |", "|---|---|---|---|"]
    for model, those in differences.items():
        if len(those) > 1:
            middle, half = interval(those)
            lines.append(f"| {model} | {middle:+.2f} | {middle - half:+.2f} to {middle + half:+.2f} | {len(those)} |")
    return "\n".join(lines)


def spread(values: list[float]) -> str:
    """Format a mean, with the standard deviation if there are several values."""
    return f"{mean(values):.1f} ± {stdev(values):.1f}" if len(values) > 1 else f"{mean(values):.1f}"


def main() -> None:
    """Measure, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--graphs", nargs="*", default=[""], help="the beginnings of names of condensed graphs")
    parser.add_argument("--models", nargs="*", default=[*MODELS, *VARIANTS])
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.table:
        print(table(given.records))
        return
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", category=UserWarning)
    names = [n for n in GRAPHS if n.startswith(tuple(given.graphs))]
    measure(given.records, names, given.models, given.seeds)


if __name__ == "__main__":
    main()

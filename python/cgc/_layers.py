"""The models of cgc, built from PyTorch Geometric's layers. Parameters have the names that cgc train writes."""

from __future__ import annotations

from typing import Any, Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import APPNP, ChebConv, GATConv, GCNConv, SAGEConv, SGConv
from torch_geometric.utils import add_self_loops

from ._new import structure

__all__ = ["build"]


class LoopedCheb(ChebConv):  # type: ignore[misc]
    """ChebConv on the graph with self-loops: L = −D^-½(A + I)D^-½."""

    def __norm__(
        self, edge_index: Tensor, num_nodes: int, edge_weight: Optional[Tensor] = None, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """Return the entries of L."""
        if edge_weight is None:
            edge_weight = torch.ones(edge_index.size(1), device=edge_index.device)
        edge_index, edge_weight = add_self_loops(edge_index, edge_weight, 1.0, num_nodes)
        root = edge_weight.new_zeros(num_nodes).scatter_add_(0, edge_index[0], edge_weight).rsqrt()
        return edge_index, -root[edge_index[0]] * edge_weight * root[edge_index[1]]


class Layers(nn.Module):
    """Layers of one kind, with dropout between them."""

    def __init__(self, *convs: nn.Module, activation: Any = F.relu, weighted: bool = True, loops: bool = False) -> None:
        """Store the layers.

        weighted says whether they use edge weights. loops says whether the graph needs self-loops.
        """
        super().__init__()
        self.convs, self.activation, self.weighted, self.loops = nn.ModuleList(convs), activation, weighted, loops

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Optional[Tensor] = None) -> Tensor:
        """Return the logits."""
        if self.loops:
            edge_index = add_self_loops(edge_index, num_nodes=len(x))[0]
        for i, conv in enumerate(self.convs):
            if i > 0:
                x = F.dropout(self.activation(x), training=self.training)
            x = conv(x, edge_index, edge_weight) if self.weighted else conv(x, edge_index)
        return x


class Predict(nn.Module):
    """Two linear layers, then personalised PageRank, then the bias."""

    def __init__(self, features: int, hidden: int, classes: int, hops: int, alpha: float) -> None:
        """Make the layers."""
        super().__init__()
        self.lins = nn.ModuleList([nn.Linear(features, hidden), nn.Linear(hidden, classes, bias=False)])
        self.bias = nn.Parameter(torch.zeros(classes))
        self.propagate = APPNP(K=hops, alpha=alpha)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Optional[Tensor] = None) -> Tensor:
        """Return the logits."""
        x = F.dropout(self.lins[0](x).relu(), training=self.training)
        out: Tensor = self.propagate(self.lins[1](x), edge_index, edge_weight) + self.bias
        return out


def build(model: str, features: int, hidden: int, classes: int) -> nn.Module:
    """Return a model with PyTorch Geometric's initial weights."""
    model, own = structure(model)
    if model == "sgc":
        return Layers(SGConv(features, classes, K=int(own["hops"])))
    if model == "appnp":
        return Predict(features, hidden, classes, int(own["hops"]), own["alpha"])
    if model == "gat":
        heads = int(own["heads"])
        width = -(-hidden // heads)
        first = GATConv(features, width, heads=heads, dropout=0.6)
        last = GATConv(heads * width, classes, heads=1, dropout=0.6)
        return Layers(first, last, activation=F.elu, weighted=False)
    sizes = [features, *[hidden] * (int(own["layers"]) - 1), classes]
    pairs = list(zip(sizes, sizes[1:]))
    if model == "gcn":
        return Layers(*(GCNConv(*pair) for pair in pairs))
    if model == "sage":
        return Layers(*(SAGEConv(*pair) for pair in pairs), weighted=False, loops=True)
    return Layers(*(LoopedCheb(*pair, K=int(own["order"]) + 1) for pair in pairs))

"""Predictions for new nodes by a model with a summary, in numpy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ._error import Error
from ._graph import whole_numbers
from ._names import text, text_of
from ._parameters import MODELS
from ._safetensors import Array

__all__ = ["Known", "logits_of_new", "structure"]


def structure(name: str) -> tuple[str, dict[str, float]]:
    """Return the model of a name such as gcn:layers=3, and all its parameters."""
    model, *settings = name.split(":")
    own = dict(MODELS[model])
    for key, value in (setting.split("=") for setting in settings):
        own[key] = float(value)
    return model, own


# A layer is a list of filters and the name of its bias. A filter has the coefficients of the powers of P, whether P
# averages over neighbours, and the name of its weight.
_Layer = tuple[list[tuple[list[float], bool, str]], str]


def _layers(model: str, own: Mapping[str, float]) -> list[_Layer]:
    """Return the layers of a model with the given parameters."""
    if model == "sgc":
        return [([([0.0] * int(own["hops"]) + [1.0], False, "convs.0.lin.weight")], "convs.0.lin.bias")]
    if model == "appnp":
        hops, alpha = int(own["hops"]), own["alpha"]
        pagerank = [alpha * (1 - alpha) ** j for j in range(hops)] + [(1 - alpha) ** hops]
        return [([([1], False, "lins.0.weight")], "lins.0.bias"), ([(pagerank, False, "lins.1.weight")], "bias")]
    convs = [f"convs.{k}" for k in range(int(own["layers"]))]
    if model == "gcn":
        return [([([0, 1], False, f"{c}.lin.weight")], f"{c}.bias") for c in convs]
    if model == "sage":
        return [
            ([([1], False, f"{c}.lin_r.weight"), ([0, 1], True, f"{c}.lin_l.weight")], f"{c}.lin_l.bias") for c in convs
        ]
    chebyshev: list[list[float]] = [[1], [0, -1]]
    while len(chebyshev) <= own["order"]:
        last, before = [0.0, *chebyshev[-1]], [*chebyshev[-2], 0.0, 0.0]
        chebyshev.append([-2 * u - v for u, v in zip(last, before)])
    return [([(t, False, f"{c}.lins.{j}.weight") for j, t in enumerate(chebyshev)], f"{c}.bias") for c in convs]


class Known:
    """A summary: what a model needs from the known nodes of a graph to predict new nodes."""

    def __init__(self, tensors: Mapping[str, Array]) -> None:
        """Store the tensors of a file. Their names begin with "known."."""
        self.tensors = dict(tensors)
        self.group = tensors["known.group"].astype(np.int64)
        degree = tensors.get("known.degree")  # only models that propagate by D^-½(A+I)D^-½ need it
        self.degree = None if degree is None else degree.astype(np.float64)
        names = (f"known.means.{k}" for k in range(len(tensors)))
        self.means = [tensors[name].astype(np.float32) for name in names if name in tensors]
        self._numbers: dict[str, int] | None = None

    def numbers(self, ids: Any) -> Array:
        """Return the numbers of known nodes. They are given by id if nodes have ids, else by number.

        Raises:
            ValueError: A node is not known.
        """
        if "known.ids" not in self.tensors:
            numbers = whole_numbers("edge_index[0]", ids)
            wrong = (numbers < 0) | (numbers >= len(self.group))
            if wrong.any():
                raise ValueError(f"node {numbers[wrong][0]} is not known, must be 0 to {len(self.group) - 1}")
            return numbers
        if self._numbers is None:
            self._numbers = {name: i for i, name in enumerate(text_of("known.ids", self.tensors) or [])}
        try:
            # Tuples may be ids, as in networkx's grids.
            values = ids.tolist() if hasattr(ids, "tolist") else [v.item() if hasattr(v, "item") else v for v in ids]
            return np.array([self._numbers[text(name)] for name in values], dtype=np.int64)
        except KeyError as missing:
            raise ValueError(f"node {missing} is not known") from None


class _Propagation:
    """The propagations of a model for new nodes, in order."""

    def __init__(self, known: Known, nodes: int, new: Array, neighbours: Array, weight: Array) -> None:
        self.means: Iterator[Array] = iter(known.means)
        self.new, self.weight, self.group = new, weight, known.group[neighbours]
        self.total = 1 + np.bincount(new, weight, nodes)
        self.other: Array | None = None
        if known.degree is not None:  # the new edge adds to the degree of the known node
            self.other = 1 + known.degree[neighbours] + weight

    def apply(self, x: Array, mean: bool) -> Array:
        """Return P·x for new nodes, using the next means of known nodes."""
        total = self.total[self.new]
        if not mean:
            if self.other is None:
                raise Error("the summary is not of this model: it has no degrees")
            total = np.sqrt(total * self.other)
        share = self.weight / total
        z = x / self.total[:, None].astype(np.float32)
        np.add.at(z, self.new, share[:, None].astype(np.float32) * next(self.means)[self.group])
        return z

    def filter(self, coefficients: list[float], mean: bool, x: Array) -> Array:
        """Return Σ_j c_j·Pʲ·x by Horner's rule."""
        z = coefficients[-1] * x
        for c in reversed(coefficients[:-1]):
            z = self.apply(z, mean) + c * x
        return z

    def attend(self, own: Array, other: Array, x: Array) -> Array:
        """Return the attention of the new nodes over themselves and their neighbours."""
        heads, (others, rows) = own.shape[1], (next(self.means)[self.group], next(self.means)[self.group])
        n = len(x)
        at = np.concatenate([np.arange(n), self.new])
        scores = np.concatenate([own + other, own[self.new] + others])
        scores = np.where(scores < 0, 0.2 * scores, scores)
        largest = np.full((n, heads), -np.inf, np.float32)
        np.maximum.at(largest, at, scores)
        scores = np.exp(scores - largest[at])  # this cannot overflow
        sums = np.zeros((n, heads), np.float32)
        np.add.at(sums, at, scores)
        values = np.concatenate([x, rows]).reshape(len(at), heads, -1)
        z = np.zeros((n, *values.shape[1:]), np.float32)
        np.add.at(z, at, (scores / sums[at])[:, :, None] * values)
        return z.reshape(n, -1)


def logits_of_new(
    model: str, weights: Mapping[str, Array], known: Known, x: Array, new: Array, neighbours: Array, weight: Array
) -> Array:
    """Return the logits of new nodes with features x; edge e joins new[e] with the known node neighbours[e]."""
    p = _Propagation(known, len(x), new, neighbours, weight)
    model, own = structure(model)
    if model == "gat":
        for k in range(2):
            x = x @ weights[f"convs.{k}.lin.weight"].T
            to, of = (weights[f"convs.{k}.att_{side}"] for side in ("dst", "src"))
            heads = x.reshape(len(x), *to.shape[1:])
            x = p.attend((heads * to).sum(2), (heads * of).sum(2), x) + weights[f"convs.{k}.bias"]
            if k == 0:
                x = np.where(x < 0, np.expm1(x), x)
        return x
    layers = _layers(model, own)
    for k, (filters, bias) in enumerate(layers):
        z = np.zeros((), np.float32)
        for coefficients, mean, name in filters:
            w = weights[name].T
            if k == 0 and w.shape[0] <= w.shape[1]:  # the summary was computed in this order too
                z = z + p.filter(coefficients, mean, x) @ w
            else:
                z = z + p.filter(coefficients, mean, x @ w)
        x = z + weights[bias]
        if k < len(layers) - 1:
            x = np.maximum(x, 0)
    return x

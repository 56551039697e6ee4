"""A trained model, its file, and its conversion to PyTorch Geometric's layers."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import _safetensors
from ._condensed import whole
from ._error import Error, path_text
from ._graph import array, whole_numbers
from ._names import columns
from ._new import Known, logits_of_new
from ._safetensors import Array, Tensor

__all__ = ["Model", "Predictions", "load_model"]


class Predictions(NamedTuple):
    """The predictions for some nodes of a graph.

    Attributes:
        nodes: The nodes, n integers, ascending.
        y: The class of each node, n integers.
        probabilities: The probability of each class, n × classes, float32.

    Example:
        >>> model = cgc.train(cgc.condense("demo", nodes=70), "demo", seeds=1, epochs=50)
        >>> found = cgc.predict(model, "demo", part="val")
        >>> len(found.nodes), bool(found.y[0] == found.probabilities[0].argmax())
        (500, True)
    """

    nodes: Array
    y: Array
    probabilities: Array


class Model:
    """A trained GNN, as train returns it.

    Attributes:
        state_dict: The weights as numpy arrays, under the names of PyTorch Geometric's layers.
        metadata: The strings of the file.
        known: The summary of a graph that summarize added and predict_new needs, or None.

    Example:
        >>> small = cgc.condense("demo", nodes=70)
        >>> model = cgc.train(small, "demo", seeds=1, epochs=50)
        >>> sorted(model.state_dict)
        ['convs.0.bias', 'convs.0.lin.weight', 'convs.1.bias', 'convs.1.lin.weight']
    """

    def __init__(self, state_dict: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
        """Store the contents of a file."""
        known = {name: a for name, a in state_dict.items() if name.startswith("known.")}
        self.state_dict = {name: a for name, a in state_dict.items() if name not in known}
        self.metadata = dict(metadata)
        self.known = Known(known) if known else None

    @property
    def description(self) -> dict[str, Any]:
        """The description of the model in the metadata.

        Its keys are model, features, hidden, classes, graph and validation; class_names and feature_names if
        classes and features have names; normalize_features, scaling_mean and scaling_std, which say how features must
        be prepared; and causal, which says that edges must be: see to_pyg.
        """
        return dict(json.loads(self.metadata["model"]))

    @property
    def name(self) -> str:
        """The name of the model, such as gcn."""
        return str(self.description["model"])

    def __repr__(self) -> str:
        """Return the name, the sizes and the validation accuracy."""
        d = self.description
        return (
            f"Model({d['model']}: {d['features']:,} features, {d['hidden']} hidden units, {d['classes']} classes, "
            f"trained for {d['graph']}, validation accuracy {d['validation']:.1f}%)"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a .safetensors file, which cgc predict and load_model read.

        Raises:
            Error: The file cannot be written, or its name has another extension.
        """
        if Path(path_text(path)).suffix != ".safetensors":
            raise Error(f"path is {os.fspath(path)}, must end in .safetensors")
        tensors = {**self.state_dict, **(self.known.tensors if self.known else {})}
        with whole(path) as fresh:
            _safetensors.write(fresh, [Tensor(name, a) for name, a in tensors.items()], self.metadata)

    def predict_new(self, x: Any, edge_index: Any, edge_weight: Any = None) -> Array:
        """Predict new nodes without the graph, in numpy. The model must have a summary, which summarize adds.

        The result equals that of `cgc predict --new FOLDER` up to rounding. New nodes do not change the values of known
        nodes.

        Args:
            x: The features of B new nodes, B × d, before any preparation. predict_new prepares them as description
                says. The columns of a DataFrame are found by name if the model has feature_names.
            edge_index: The edges, 2 × E. The first row has known nodes: ids if nodes have ids, else numbers. The second
                row has new nodes, numbered from 0.
            edge_weight: The weights of the edges, E numbers above 0. All are 1 by default. Of repeated edges, the
                largest weight counts.

        Returns:
            The probability of each class, B × classes, float32.

        Raises:
            Error: The model has no summary, or an argument is wrong. The message names it.

        Example:
            >>> model = cgc.train(cgc.condense("demo", nodes=70), "demo", seeds=1, epochs=50)
            >>> served = cgc.summarize(model, "demo", groups=100)
            >>> served.predict_new(cgc.load_dataset("demo").x[:2], [[10, 20, 30], [0, 0, 1]]).shape
            (2, 7)
        """
        if self.known is None:
            raise Error("the model has no summary of a graph, which cgc.summarize adds")
        d = self.description
        names, own = d.get("feature_names"), columns(x)
        if names and own:
            missing = [n for n in names if n not in own]
            if missing:
                raise Error(f"x has no column {', '.join(missing)}, its columns are {', '.join(own)}")
            x = np.column_stack([array(f"x[{n!r}]", x[n]) for n in names])
        x = array("x", x)
        if x.dtype.kind not in "fiub":
            raise Error(f"x has elements of type {x.dtype}, must have numbers")
        x = x.astype(np.float32)
        if x.ndim != 2 or x.shape[1] != d["features"]:
            raise Error(f"x has the shape {x.shape}, must be (new nodes, {d['features']}), as in training")
        wrong = np.argwhere(~np.isfinite(x))
        if len(wrong):
            i, j = wrong[0]
            raise Error(f"x[{i}, {j}] is {x[i, j]}, must be a finite number")
        try:
            fits = len(edge_index) == 2 and len(edge_index[0]) == len(edge_index[1])
        except TypeError:  # no lists
            fits = False
        if not fits:
            raise Error("edge_index must be 2 × E: known nodes and new nodes")
        new = whole_numbers("edge_index[1]", edge_index[1])
        if len(new) and not 0 <= new.min() <= new.max() < len(x):
            raise Error(f"edge_index has new nodes from {new.min()} to {new.max()}, must be 0 to {len(x) - 1}")
        weight = np.ones(len(new)) if edge_weight is None else array("edge_weight", edge_weight)
        if weight.shape != new.shape:
            raise Error(f"edge_weight has shape {weight.shape}, must be {new.shape}: one weight for each edge")
        if weight.dtype.kind not in "fiub":
            raise Error(f"edge_weight has elements of type {weight.dtype}, must have numbers")
        wrong = np.flatnonzero(~((weight > 0) & (weight <= np.finfo(np.float32).max)))
        if wrong.size:
            raise Error(f"edge_weight of edge {wrong[0]} is {weight[wrong[0]]}, must be a positive finite number")
        try:
            known = self.known.numbers(edge_index[0])
        except ValueError as unknown:
            raise Error(f"edge_index: {unknown}") from None
        pairs, edge = np.unique(new * len(self.known.group) + known, return_inverse=True)
        new, known = pairs // len(self.known.group), pairs % len(self.known.group)
        largest = np.zeros(len(pairs))
        np.maximum.at(largest, edge, weight)
        if d.get("normalize_features"):
            sums = np.abs(x).sum(1, keepdims=True)
            x = x / np.where(sums > 0, sums, 1)
        if "scaling_mean" in d:
            x = (x - np.float32(d["scaling_mean"])) / np.float32(d["scaling_std"])
        z = logits_of_new(self.name, self.state_dict, self.known, x, new, known, largest)
        e = np.exp(z - z.max(1, keepdims=True))
        return np.asarray(e / e.sum(1, keepdims=True), dtype=np.float32)

    def to_pyg(self) -> Any:
        """Return the model as a torch.nn.Module with PyTorch Geometric's layers, in evaluation mode.

        Its forward takes x, edge_index and optional edge_weight, and returns the logits. Pass edges as cgc uses them:
        to_undirected(edge_index) without self-loops; for a causal model other than cheby, those of them with
        edge_index[0] < edge_index[1]. ChebConv divides by the degrees of outgoing edges, so a causal cheby differs.
        Features must be prepared as description says; without normalize_features and scaling_mean, they are used as
        they are. gat and sage do not use edge weights here.

        Raises:
            ImportError: torch or torch_geometric is missing.

        Example:
            >>> model = cgc.train(cgc.condense("demo", nodes=70), "demo", seeds=1, epochs=50)
            >>> net = model.to_pyg()  # doctest: +SKIP
        """
        import torch

        from ._layers import build

        d = self.description
        net = build(d["model"], d["features"], d["hidden"], d["classes"])
        net.load_state_dict({name: torch.from_numpy(a.copy()) for name, a in self.state_dict.items()})
        return net.eval()


def load_model(path: str | os.PathLike[str]) -> Model:
    """Load a model that train or `cgc train` wrote.

    Args:
        path: The .safetensors file.

    Returns:
        The Model.

    Raises:
        Error: The file is not a model.

    Example:
        >>> cgc.train(cgc.condense("demo", nodes=70), "demo", seeds=1, epochs=50).save("demo-gcn.safetensors")
        >>> cgc.load_model("demo-gcn.safetensors").name
        'gcn'
    """
    tensors, metadata = _safetensors.read(path_text(path))
    if metadata.get("format") != "cgc-model":
        raise Error(f"{os.fspath(path)}: not a trained model")
    return Model(tensors, metadata)

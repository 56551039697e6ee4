"""A trained model, its file, and the same model of PyTorch Geometric's layers."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from . import _safetensors
from ._error import Error
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
        >>> len(found.nodes), found.y[0] == found.probabilities[0].argmax()
        (500, True)
    """

    nodes: Array
    y: Array
    probabilities: Array


class Model:
    """A GNN that train trained.

    Attributes:
        state_dict: The weights as numpy arrays, under the names of PyTorch Geometric's layers.
        metadata: The strings of the file.

    Example:
        >>> small = cgc.condense("demo", nodes=70)
        >>> model = cgc.train(small, "demo", seeds=1, epochs=50)
        >>> sorted(model.state_dict)
        ['convs.0.bias', 'convs.0.lin.weight', 'convs.1.bias', 'convs.1.lin.weight']
    """

    def __init__(self, state_dict: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
        """Store the contents of a file."""
        self.state_dict, self.metadata = dict(state_dict), dict(metadata)

    @property
    def description(self) -> dict[str, Any]:
        """What the model is, as in the metadata.

        model, features, hidden, classes, graph and validation; class_names if classes have names; and how features
        must be prepared: normalize_features, scaling_mean and scaling_std.
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
            Error: The name has another extension.
        """
        if Path(path).suffix != ".safetensors":
            raise Error(f"path is {os.fspath(path)}, must end in .safetensors")
        _safetensors.write(path, [Tensor(name, a) for name, a in self.state_dict.items()], self.metadata)

    def to_pyg(self) -> Any:
        """Return the model as a torch.nn.Module of PyTorch Geometric's layers, in evaluation mode.

        Its forward takes x, edge_index and optional edge_weight, and returns the logits. Features must be prepared as
        description says; without normalize_features and scaling_mean, they are used as they are. gat and sage do not
        use edge weights here.

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
    tensors, metadata = _safetensors.read(path)
    if metadata.get("format") != "cgc-model":
        raise Error(f"{os.fspath(path)}: not a trained model")
    return Model(tensors, metadata)

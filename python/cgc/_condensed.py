"""A condensed graph, and its file."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

import numpy as np

from . import _names, _safetensors
from ._error import Error
from ._graph import array, dgl, pyg
from ._run import run
from ._safetensors import Array, Tensor
from ._scratch import beside, folder

__all__ = ["Condensed", "Origin", "load", "of_pyg", "save", "whole"]

# The tensors of a file by their fields, in the order of the command.
_TENSORS = {
    "x": "x", "y": "y", "edge_index": "edge_index", "edge_weight": "edge_weight",
    "members_indptr": "members.indptr", "members_indices": "members.indices", "members_weights": "members.weights",
    "y_soft": "y_soft", "scaling_mean": "scaling.mean", "scaling_std": "scaling.std",
}  # fmt: skip


_OWN = ".safetensors"  # the end of the names of files that need no command


class Origin:
    """How a condensed graph came about: metadata of its file, and the two JSON objects in it."""

    def __init__(self, metadata: Mapping[str, str]) -> None:
        """Take the metadata of a file."""
        self.metadata = dict(metadata)

    @property
    def config(self) -> dict[str, Any]:
        """The configuration it was made with, which condense takes as config."""
        return dict(json.loads(self.metadata.get("config", "{}")))

    @property
    def account(self) -> dict[str, Any]:
        """What the condensation found: seconds of each step, nodes of each class, warnings."""
        return dict(json.loads(self.metadata.get("account", "{}")))

    def __repr__(self) -> str:
        """Return the graph and the method."""
        nodes = self.metadata.get("graph_nodes")
        return f"Origin({self.metadata.get('graph')}: {nodes} nodes, by {self.config.get('method')})"


@dataclass(frozen=True, eq=False)
class Condensed:
    """A condensed graph with N′ nodes as numpy arrays, under the names of torch_geometric.

    x (N′ × d, float32), y (N′, int64), edge_index (2 × E, int64, each edge in both directions), edge_weight (E).
    The rows of a CSR matrix say which original nodes condensed node i stands for:
    members_indices[members_indptr[i]:members_indptr[i+1]], with members_weights that sum to 1. members_ids names
    members_indices, if the nodes of the graph have names; a file keeps them as text. y_soft (N′ × classes) is there
    with soft labels, scaling_mean and scaling_std (d) if features were standardised; else they are None. class_names
    holds the name of each class, or None. origin.config is the configuration, origin.account what was found.
    """

    x: Array
    y: Array
    edge_index: Array
    edge_weight: Array
    members_indptr: Optional[Array] = None
    members_indices: Optional[Array] = None
    members_weights: Optional[Array] = None
    y_soft: Optional[Array] = None
    scaling_mean: Optional[Array] = None
    scaling_std: Optional[Array] = None
    members_ids: Optional[Sequence[Any]] = None
    origin: Origin = field(default_factory=lambda: Origin({}))

    @property
    def weight(self) -> Array:
        """How many nodes each condensed node stands for (N′, float32): its weight in the loss."""
        if self.members_indptr is None:
            return np.ones(len(self.y), np.float32)
        return np.diff(self.members_indptr).astype(np.float32)

    @property
    def class_names(self) -> Optional[list[str]]:
        """The name of each class, of which y holds the places; None if classes are numbered."""
        names = self.origin.metadata.get("class_names")
        return None if names is None else list(json.loads(names))

    def members(self, node: int) -> tuple[Sequence[Any], Array]:
        """Return the original nodes that a condensed node stands for, and their weights.

        The nodes are ids where the graph has ids, else numbers. Raises Error if the method keeps no members.
        """
        if self.members_indptr is None or self.members_indices is None or self.members_weights is None:
            raise Error("the condensed graph has no members: its method keeps none")
        if not -len(self.y) <= node < len(self.y):
            raise Error(f"node is {node}, want 0 to {len(self.y) - 1}")
        node %= len(self.y)
        row = slice(*self.members_indptr[[node, node + 1]].tolist())
        named: Sequence[Any] = self.members_indices if self.members_ids is None else self.members_ids  # type: ignore[assignment]
        return named[row], self.members_weights[row]

    def to_pyg(self) -> Any:
        """Return a torch_geometric Data with the same names, and weight. It wants torch and torch_geometric."""
        data = pyg({**self._arrays(), "weight": self.weight})
        data.origin = self.origin
        if self.members_ids is not None:
            data.members_ids = list(self.members_ids)
        if self.class_names is not None:
            data.class_names = self.class_names
        return data

    def to_dgl(self) -> Any:
        """Return a DGLGraph with node data feat, label and weight, and edge data weight. It wants torch and dgl.

        Members, the configuration and the scaling of features stay here.
        """
        nodes = {"feat": self.x, "label": self.y, "weight": self.weight}
        if self.y_soft is not None:
            nodes["soft_label"] = self.y_soft
        return dgl(self.edge_index, nodes, {"weight": self.edge_weight})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `cgc condense` writes, whole or not at all. load and `cgc evaluate` read it."""
        save(self, path)

    def _arrays(self) -> dict[str, Array]:
        """Return the arrays that are there, by field."""
        return {k: v for k in _TENSORS if (v := getattr(self, k)) is not None}

    def __repr__(self) -> str:
        """Return the sizes of the condensed graph."""
        nodes, features = self.x.shape
        edges, graph = self.edge_index.shape[1], self.origin.metadata.get("graph", "a graph")
        return f"Condensed({graph}: {nodes} nodes, {edges} directed edges, {features} features)"


def load(path: str | os.PathLike[str]) -> Condensed:
    """Read a condensed graph that condense, save or the command wrote, in any format of the command.

    Raises Error if the file cannot be read, or is something else.

    >>> small = cgc.load("cora-70.safetensors")  # doctest: +SKIP
    >>> small = cgc.load("cora-70.pt")  # doctest: +SKIP
    """
    if Path(path).suffix == _OWN or not os.path.exists(path):
        return _read(path, path)
    with folder(0) as home:
        own, given = home / f"small{_OWN}", os.path.abspath(path)
        run(["convert", given, str(own)], {given: os.fspath(path)})
        return _read(own, path)


def _read(file: str | os.PathLike[str], path: str | os.PathLike[str]) -> Condensed:
    """Read a safetensors file. path is what the caller calls it."""
    tensors, metadata = _safetensors.read(file)
    if metadata.get("format") != "cgc-condensed":
        raise Error(f"{path} has the format {metadata.get('format')!r}, want a condensed graph ('cgc-condensed')")
    if metadata.get("format_version") not in ("1", "2", "3"):
        raise Error(f"{path} has the version {metadata.get('format_version')!r}, want 1 to 3: update cgc")
    fields = {k: tensors[name] for k, name in _TENSORS.items() if name in tensors}
    try:
        return Condensed(**fields, members_ids=_names.text_of("members.ids", tensors), origin=Origin(metadata))
    except TypeError as e:
        raise Error(f"{path} lacks a tensor: {e}") from None


def save(small: Any, path: str | os.PathLike[str]) -> None:
    """Write a Condensed, or the Data that condense returned, whole or not at all.

    The end of the name tells the format, as for the command: .safetensors, .pt, .npz, … The bytes are those of
    `cgc condense`. Raises Error if the file cannot be written.

    >>> cgc.save(small, "cora-70.safetensors")  # doctest: +SKIP
    >>> cgc.save(small, "cora-70.pt")  # doctest: +SKIP
    """
    small = small if isinstance(small, Condensed) else of_pyg(small)
    if Path(path).suffix == _OWN:
        _write(small, path)
        return
    with folder(0) as home:
        own, given = home / f"small{_OWN}", os.path.abspath(path)
        _write(small, own)
        run(["convert", str(own), given, "--force"], {f"TO {given}": f"path {os.fspath(path)}", given: os.fspath(path)})


def _write(small: Condensed, path: str | os.PathLike[str]) -> None:
    """Write a safetensors file."""
    tensors = [Tensor(name, getattr(small, k)) for k, name in _TENSORS.items() if getattr(small, k) is not None]
    if small.members_ids is not None:
        tensors += _names.strings("members.ids", [str(v) for v in small.members_ids])
    with whole(path) as fresh:
        _safetensors.write(fresh, tensors, small.origin.metadata)


@contextlib.contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a file to be written, which becomes path at the end: whole or not at all."""
    path = Path(path)
    try:
        with beside(path) as home:
            yield home / "whole"
            os.replace(home / "whole", path)
    except OSError as e:
        raise Error(f"writing {path}: {e.strerror or e}") from None


def of_pyg(data: Any) -> Condensed:
    """Return the Condensed that a Data of condense holds."""
    origin = getattr(data, "origin", None)
    if not isinstance(origin, Origin):
        raise Error(f"small is a {type(data).__qualname__} that cgc.condense did not make, want what it returns")
    ids = getattr(data, "members_ids", None)
    return Condensed(**{k: array(k, data[k]) for k in _TENSORS if k in data}, members_ids=ids, origin=origin)

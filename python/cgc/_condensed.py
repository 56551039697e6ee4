"""A condensed graph, and its file."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _names, _safetensors
from ._error import Error, path_text, reason
from ._graph import array, dgl, pyg
from ._run import run
from ._safetensors import Array, Tensor
from ._scratch import beside, folder
from ._take import edges_of_matrix

__all__ = ["Condensed", "Origin", "load", "of_pyg", "save", "whole", "write"]

# Maps fields to tensors of a file, in the command's order.
_TENSORS = {
    "x": "x", "y": "y", "edge_index": "edge_index", "edge_weight": "edge_weight",
    "members_indptr": "members.indptr", "members_indices": "members.indices", "members_weights": "members.weights",
    "y_soft": "y_soft", "scaling_mean": "scaling.mean", "scaling_std": "scaling.std",
}  # fmt: skip


_OWN = ".safetensors"  # the extension of files that are read and written without the command


class Origin:
    """How a condensed graph was made: the metadata of its file, which includes config and account.

    Attributes:
        metadata: Strings by name, such as graph and graph_nodes, the name and the size of the original graph.

    Example:
        >>> small = cgc.condense("demo", nodes=70)
        >>> small.origin.method, small.origin.account["budget"]
        ('cgc-d unsmoothed', [10, 10, 10, 10, 10, 10, 10])
    """

    def __init__(self, metadata: Mapping[str, str]) -> None:
        """Store the metadata of a file."""
        self.metadata = dict(metadata)

    @property
    def config(self) -> dict[str, Any]:
        """The configuration of the condensation, which condense accepts as config."""
        return dict(json.loads(self.metadata.get("config", "{}")))

    @property
    def method(self) -> str:
        """The name of the method. For auto, it is the method that auto chose, and account["why"] gives the reason."""
        return str(self.account.get("chosen") or self.config.get("method", "unknown"))

    @property
    def account(self) -> dict[str, Any]:
        """The run metadata: the number of nodes of each class (budget), warnings, and more, depending on the method."""
        return dict(json.loads(self.metadata.get("account", "{}")))

    def __repr__(self) -> str:
        """Return the name of the graph, the sizes and the method."""
        budget = self.account.get("budget")
        share = self.metadata.get("graph", "a graph") if budget is None else self._share(sum(budget))
        return f"Origin({share}, method {self.method})"

    def _share(self, nodes: int) -> str:
        """Return the name of the graph and the share of nodes, as in "demo: 70 of 4,000 nodes (1.8%)"."""
        graph, whole = self.metadata.get("graph", "a graph"), int(self.metadata.get("graph_nodes", 0))
        if not whole:
            return f"{graph}: {nodes:,} nodes"
        percent = 100 * nodes / whole
        return f"{graph}: {nodes:,} of {whole:,} nodes ({percent:{'.2g' if percent < 10 else '.0f'}}%)"


@dataclass(frozen=True, eq=False)
class Condensed:
    """A condensed graph with N′ nodes as numpy arrays, under the names of torch_geometric.

    The source nodes of a condensed node are the original nodes it was made from. They are row i of a CSR matrix:
    members_indices[members_indptr[i]:members_indptr[i+1]].

    A condensed graph of another program needs only x and y, as arrays, tensors or lists; evaluate, train, search, save
    and report accept it. If a class has no condensed node, origin=cgc.Origin({"classes": "7"}) gives the number of
    classes.

    Attributes:
        x: The features, N′ × d, float32.
        y: The labels, N′, int64.
        edge_index: The edges, 2 × E, int64, each in both directions, in any order. None means no edges.
        edge_weight: The weights of the edges, E, float32. None means weights of 1.
        members_indptr: Where the source nodes of each condensed node begin, N′ + 1.
        members_indices: The source nodes of all condensed nodes. None if the method keeps none. With the option
            without, nodes are numbered as if those left out did not exist, and members_ids has their numbers in the
            graph.
        members_weights: The weights of the source nodes, which sum to 1 for each condensed node.
        y_soft: The soft labels: a distribution over the classes for each node, N′ × classes. None if the method makes
            none.
        scaling_mean: With standardize, the mean that was subtracted from each feature, d.
        scaling_std: With standardize, the standard deviation by which each feature was divided, d.
        members_ids: The ids of members_indices, if nodes have ids; else, with the option without, their numbers in the
            graph. A file keeps them as strings.
        origin: How the graph was made: origin.config and origin.account.

    Example:
        >>> small = cgc.condense("demo", nodes=70)
        >>> small
        Condensed(demo: 70 of 4,000 nodes (1.8%), 0 edges, 96 features, 7 classes, method cgc-d unsmoothed)
        >>> nodes, weights = small.members(0)
        >>> len(nodes) == int(small.weight[0])
        True
    """

    x: Array
    y: Array
    edge_index: Array = None  # type: ignore[assignment]
    edge_weight: Array = None  # type: ignore[assignment]
    members_indptr: Optional[Array] = None
    members_indices: Optional[Array] = None
    members_weights: Optional[Array] = None
    y_soft: Optional[Array] = None
    scaling_mean: Optional[Array] = None
    scaling_std: Optional[Array] = None
    members_ids: Optional[Sequence[Any]] = None
    origin: Origin = field(default_factory=lambda: Origin({}))

    if TYPE_CHECKING:  # the fields are arrays, but tensors and lists may be passed

        def __init__(
            self,
            x: Any,
            y: Any,
            edge_index: Any = None,
            edge_weight: Any = None,
            members_indptr: Any = None,
            members_indices: Any = None,
            members_weights: Any = None,
            y_soft: Any = None,
            scaling_mean: Any = None,
            scaling_std: Any = None,
            members_ids: Optional[Sequence[Any]] = None,
            origin: Origin = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        """Convert the arrays of another program. Raise Error for other types or sizes."""
        put = object.__setattr__  # the fields are frozen
        if self.edge_index is None:
            put(self, "edge_index", np.zeros((2, 0), np.int64))
        for name, dimensions, type_ in (
            ("x", 2, np.float32), ("y", 1, np.int64), ("edge_index", 2, np.int64), ("edge_weight", 1, np.float32),
            ("y_soft", 2, np.float32), ("members_indptr", 1, np.int64), ("members_indices", 1, np.int64),
            ("members_weights", 1, np.float32), ("scaling_mean", 1, np.float32), ("scaling_std", 1, np.float32),
        ):  # fmt: skip
            value = getattr(self, name)
            if value is not None:
                put(self, name, _converted(name, value, dimensions, type_))
        edges = self.edge_index.shape[1]
        if self.edge_weight is None:
            put(self, "edge_weight", np.ones(edges, np.float32))
        wanted = {"x": (len(self.y), self.x.shape[1]), "edge_index": (2, edges), "edge_weight": (edges,)}
        for name, shape in wanted.items():
            if getattr(self, name).shape != shape:
                raise Error(f"{name} has shape {getattr(self, name).shape}, must have {shape}")
        order = np.lexsort(self.edge_index[::-1])  # files keep the edges ordered by their first node
        put(self, "edge_index", self.edge_index[:, order])
        put(self, "edge_weight", self.edge_weight[order])

    @property
    def target(self) -> Array:
        """The training target for cross_entropy: y_soft if the method gives it, else y."""
        return self.y if self.y_soft is None else self.y_soft

    @property
    def weight(self) -> Array:
        """The number of source nodes of each condensed node (N′, float32): its weight in the loss."""
        if self.members_indptr is None:
            return np.ones(len(self.y), np.float32)
        return np.diff(self.members_indptr).astype(np.float32)

    @property
    def class_names(self) -> Optional[list[str]]:
        """The names of the classes: y[i] is the class class_names[y[i]]. None if classes are numbered."""
        return _names.listed(self.origin.metadata, "class_names")

    @property
    def feature_names(self) -> Optional[list[str]]:
        """The names of the features. None if they have none."""
        return _names.listed(self.origin.metadata, "feature_names")

    def members(self, node: int) -> tuple[Sequence[Any], Array]:
        """Return the source nodes of a condensed node, and their weights.

        The nodes are ids if the graph has ids, else numbers. Raises Error if the method keeps no source nodes.
        """
        if self.members_indptr is None or self.members_indices is None or self.members_weights is None:
            raise Error("the condensed graph has no members: its method keeps none")
        if not isinstance(node, (int, np.integer)) or not -len(self.y) <= node < len(self.y):
            raise Error(f"node is {node!r}, must be an integer from 0 to {len(self.y) - 1}")
        node = int(node) % len(self.y)
        row = slice(*self.members_indptr[[node, node + 1]].tolist())
        named: Any = self.members_indices if self.members_ids is None else self.members_ids
        return named[row], self.members_weights[row]

    def to_pyg(self) -> Any:
        """Return a torch_geometric Data with these names. This needs torch and torch_geometric."""
        data = pyg({**self._arrays(), "weight": self.weight, "target": self.target})
        data.origin = self.origin
        if self.members_ids is not None:
            data.members_ids = list(self.members_ids)
        for name in ("class_names", "feature_names"):
            if getattr(self, name) is not None:
                data[name] = getattr(self, name)
        return data

    def to_dgl(self) -> Any:
        """Return a DGLGraph with node data feat, label and weight, and edge data weight. This needs torch and dgl.

        Source nodes, the configuration and the scaling of features are left out.
        """
        nodes = {"feat": self.x, "label": self.y, "weight": self.weight}
        if self.y_soft is not None:
            nodes["soft_label"] = self.y_soft
        return dgl(self.edge_index, nodes, {"weight": self.edge_weight})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `cgc condense` writes. See save."""
        save(self, path)

    def _arrays(self) -> dict[str, Array]:
        """Return the arrays that are not None, by field."""
        return {k: v for k in _TENSORS if (v := getattr(self, k)) is not None}

    def __repr__(self) -> str:
        """Return the name of the graph, the sizes and the method."""
        nodes, features = self.x.shape
        loops = int(np.count_nonzero(self.edge_index[0] == self.edge_index[1]))
        edges = (self.edge_index.shape[1] + loops) // 2
        classes = self.origin.metadata.get("classes", "?")
        return (
            f"Condensed({self.origin._share(nodes)}, {edges:,} edges, {features:,} features, {classes} classes, "
            f"method {self.origin.method})"
        )


def load(path: str | os.PathLike[str]) -> Condensed:
    """Read a condensed graph that save or the command wrote.

    Args:
        path: The file, in any format of the command: .safetensors, .pt, .npz, …

    Returns:
        A Condensed.

    Raises:
        Error: The file cannot be read, or holds no condensed graph.

    Example:
        >>> cgc.save(cgc.condense("demo", nodes=70), "demo-70.npz")
        >>> cgc.load("demo-70.npz").x.shape
        (70, 96)
    """
    if Path(path_text(path)).suffix == _OWN or not os.path.exists(path):
        return _read(path, path)
    with folder(0) as home:
        own, given = home / f"small{_OWN}", os.path.abspath(path)
        run(["convert", given, str(own)], {given: os.fspath(path)})
        return _read(own, path)


def _read(file: str | os.PathLike[str], path: str | os.PathLike[str]) -> Condensed:
    """Read a safetensors file. path is its name in errors."""
    tensors, metadata = _safetensors.read(file)
    if metadata.get("format") != "cgc-condensed":
        raise Error(f"{path} has the format {metadata.get('format')!r}, must have a condensed graph ('cgc-condensed')")
    if metadata.get("format_version") not in ("1", "2", "3"):
        raise Error(f"{path} has the version {metadata.get('format_version')!r}, must have 1 to 3: update cgc")
    fields = {k: tensors[name] for k, name in _TENSORS.items() if name in tensors}
    try:
        return Condensed(**fields, members_ids=_names.text_of("members.ids", tensors), origin=Origin(metadata))
    except TypeError as e:
        raise Error(f"{path} lacks a tensor: {e}") from None


def save(small: Any, path: str | os.PathLike[str]) -> None:
    """Write a condensed graph to a file, completely or not at all. `cgc condense` writes the same bytes.

    Args:
        small: A Condensed, or the Data that condense returned.
        path: The file. Its extension determines the format, as for the command: .safetensors, .pt, .npz, …

    Raises:
        Error: The file cannot be written, or the extension is unknown.

    Example:
        >>> small = cgc.condense("demo", nodes=70)
        >>> cgc.save(small, "demo-70.safetensors")
        >>> cgc.save(small, "demo-70.pt")
    """
    if Path(path_text(path)).suffix == _OWN:
        write(small, path)
        return
    with folder(0) as home:
        own, given = home / f"small{_OWN}", os.path.abspath(path)
        write(small, own)
        spoken = {f"TO {given}": f"path {os.fspath(path)}", given: os.fspath(path)}
        try:
            run(["convert", str(own), given, "--force"], spoken)
        except Error as e:
            raise Error(str(e).removesuffix(", or format")) from None


def write(small: Any, path: str | os.PathLike[str], argument: str = "small") -> None:
    """Write a Condensed, or the Data that condense returned, as a safetensors file. Errors name the argument."""
    small = small if isinstance(small, Condensed) else of_pyg(small, argument)
    tensors = [Tensor(name, getattr(small, k)) for k, name in _TENSORS.items() if getattr(small, k) is not None]
    if small.members_ids is not None:
        tensors += _names.strings("members.ids", [str(v) for v in small.members_ids])
    with whole(path) as fresh:
        _safetensors.write(fresh, tensors, _metadata(small))


def _converted(name: str, value: Any, dimensions: int, type_: Any) -> Array:
    """Return a value as an array. Raise Error for other dimensions, and for numbers that the type cannot hold."""
    found = array(name, value)
    if found.ndim != dimensions:
        raise Error(f"{name} has shape {found.shape}, must have {dimensions} dimension{'s' if dimensions > 1 else ''}")
    kinds, wanted = ("iub", "integers") if issubclass(type_, np.integer) else ("fiub", "numbers")
    if found.size and found.dtype.kind not in kinds:
        raise Error(f"{name} has elements of type {found.dtype}, must have {wanted}")
    return found.astype(type_, copy=False)


def _metadata(small: Condensed) -> Mapping[str, str]:
    """Return the metadata of the file. A graph of another program has none."""
    if "format" in small.origin.metadata:
        named = small.feature_names is None or len(small.feature_names) == small.x.shape[1]
        return {k: v for k, v in small.origin.metadata.items() if named or k != "feature_names"}
    if small.members_indices is not None and "graph_nodes" not in small.origin.metadata:
        raise Error(
            "members_indices are given and origin has no graph_nodes, expected the number of nodes of the original "
            'graph: origin=cgc.Origin({"graph_nodes": "2708"})'
        )
    classes = int(small.y.max(initial=0)) + 1 if small.y_soft is None else small.y_soft.shape[1]
    made = {"format": "cgc-condensed", "format_version": "3", "graph": "graph", "graph_nodes": "0"}
    return {
        **made, "classes": str(classes), "config": '{"method":"unknown"}', "account": "{}", **small.origin.metadata
    }  # fmt: skip


@contextlib.contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a file to write. On success, it atomically replaces path."""
    path = Path(path)
    try:
        with beside(path) as home:
            yield home / "whole"
            os.replace(home / "whole", path)
    except OSError as e:
        raise Error(f"writing {path}: {reason(e)}") from None


def of_pyg(data: Any, argument: str = "small") -> Condensed:
    """Return the Condensed with the contents of a Data that condense returned, or of the dictionary in its .pt file.

    Without edge_weight, all weights are 1. Errors name the argument.
    """
    origin, meta = getattr(data, "origin", None), getattr(data, "cgc", None)
    if isinstance(meta, list) and len(meta) == 1:
        origin = Origin(json.loads(meta[0]))
    if not isinstance(origin, Origin):
        raise Error(
            f"{argument} is a {type(data).__qualname__} that cgc.condense did not make, expected what it returns, or "
            "cgc.Condensed(x, y, edge_index, edge_weight)"
        )
    arrays = {k: array(k, data[k]) for k in _TENSORS if k in data}
    if "edge_index" not in arrays and "adj_t" in data:
        arrays["edge_index"], arrays["edge_weight"], _ = edges_of_matrix(data["adj_t"], "adj_t")
    for k in ("x", "y", "edge_index"):
        if k not in arrays:
            raise Error(f"{argument} has no {k}, expected what cgc.condense returns")
    nodes, rows = len(arrays["y"]), len(arrays.get("members_indptr", arrays["y"])) - 1
    if "members_indptr" in arrays and rows != nodes:
        raise Error(f"{argument} has {nodes} nodes and the source nodes of {rows}, expected what cgc.condense returns")
    if arrays.get("edge_weight") is None:
        arrays["edge_weight"] = np.ones(arrays["edge_index"].shape[1], np.float32)
    names = _names.of_features(getattr(data, "feature_names", None))
    if names is not None and names != _names.listed(origin.metadata, "feature_names"):
        origin = Origin({**origin.metadata, "feature_names": json.dumps(names)})
    small = Condensed(**arrays, members_ids=getattr(data, "members_ids", None), origin=origin)
    for k, source in (("weight", "members_indptr"), ("target", "y" if small.y_soft is None else "y_soft")):
        given, own = array(k, data[k]) if k in data else getattr(small, k), getattr(small, k)
        tolerance = 0.01 if own.dtype.kind == "f" else 0  # floats may have been converted to fewer bits
        if given.shape != own.shape or not np.allclose(given, own, rtol=tolerance, atol=tolerance):
            raise Error(f"{argument}.{k} was changed, must be what {argument}.{source} gives, which is what cgc reads")
    return small

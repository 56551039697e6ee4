"""A graph as arrays, the checks of its parts, and the file in which it is passed to the command."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

import numpy as np

from . import _names, _safetensors
from ._error import Error, warn
from ._safetensors import Array, Tensor

__all__ = ["NAMES", "PARTS", "Graph", "Parts", "Sparse", "array", "read_graph", "whole_numbers"]

PARTS = ("train_mask", "val_mask", "test_mask")
NAMES = ("ids", "class_names", "feature_names")


@dataclass(frozen=True, eq=False)
class Sparse:
    """A matrix in CSR form. data is None if all entries are 1."""

    indptr: Array
    indices: Array
    data: Optional[Array]
    shape: tuple[int, int]

    def toarray(self) -> Array:
        """Return the matrix as a dense float32 array."""
        dense = np.zeros(self.shape, np.float32)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        np.add.at(dense, (rows, self.indices), 1 if self.data is None else self.data)
        return dense


@dataclass(frozen=True, eq=False)
class Graph:
    """A labelled graph with N nodes, d features and a split, as numpy arrays.

    Attributes:
        x: The features, N × d, float32.
        y: The labels, N, int64, -1 for none.
        edge_index: The edges, 2 × E, int64, each in both directions.
        edge_weight: The weights of the edges, E, float32. None if all are 1.
        train_mask: The training nodes, N, bool. val_mask and test_mask are the other parts of the split. None if there
            is no split.
        name: The name of the graph.
        classes: The number of classes. None means the largest label plus 1.
        ids: The ids of the nodes. None if they are numbered.
        class_names: The names of the classes. None if they are numbered.
        feature_names: The names of the features. None if they have none.

    Example:
        >>> graph = cgc.load_dataset("demo")
        >>> graph.x.shape, int(graph.train_mask.sum())
        ((4000, 96), 140)
    """

    x: Array
    y: Array
    edge_index: Array
    edge_weight: Optional[Array] = None
    train_mask: Optional[Array] = None
    val_mask: Optional[Array] = None
    test_mask: Optional[Array] = None
    name: str = "graph"
    classes: Optional[int] = None
    ids: Optional[Sequence[Any]] = None
    class_names: Optional[list[str]] = None
    feature_names: Optional[list[str]] = None
    _sparse: Optional[tuple[Array, Sparse]] = field(default=None, repr=False)  # x, and its sparse form

    def to_pyg(self) -> Any:
        """Return the graph as a torch_geometric Data. This needs torch and torch_geometric."""
        names = ("x", "y", "edge_index", "edge_weight", *PARTS)
        data = pyg({n: getattr(self, n) for n in names if getattr(self, n) is not None})
        data.name = self.name
        for name in NAMES:
            if getattr(self, name) is not None:
                data[name] = list(getattr(self, name))
        return data

    def to_dgl(self) -> Any:
        """Return the graph as a DGLGraph with node data feat, label and masks. This needs torch and dgl."""
        rest = {n: getattr(self, n) for n in PARTS}
        return dgl(self.edge_index, {"feat": self.x, "label": self.y, **rest}, {"weight": self.edge_weight})

    def __repr__(self) -> str:
        """Return the sizes of the graph."""
        nodes, features = self.x.shape
        classes = "" if self.classes is None else f", {self.classes} classes"
        edges = self.edge_index.shape[1]
        return f"Graph({self.name}: {nodes} nodes, {edges} directed edges, {features} features{classes})"


def pyg(arrays: Mapping[str, Array]) -> Any:
    """Return a torch_geometric Data with the arrays as tensors. They share memory with writable arrays."""
    try:
        import torch
        from torch_geometric.data import Data
    except ImportError as e:
        raise Error(f"a torch_geometric Data needs torch and torch_geometric: {e}") from None
    return Data(**{k: torch.from_numpy(v if v.flags.writeable else v.copy()) for k, v in arrays.items()})


def dgl(edge_index: Array, nodes: Mapping[str, Optional[Array]], edges: Mapping[str, Optional[Array]]) -> Any:
    """Return a DGLGraph with data of nodes and edges. Its tensors share memory with writable arrays."""
    try:
        import torch
        from dgl import graph
    except ImportError as e:
        raise Error(f"a DGLGraph needs torch and dgl: {e}") from None

    def tensor(v: Array) -> Any:
        return torch.from_numpy(v if v.flags.writeable else v.copy())

    of_nodes = {k: tensor(v) for k, v in nodes.items() if v is not None}
    made = graph((tensor(edge_index[0]), tensor(edge_index[1])), num_nodes=len(of_nodes["label"]))
    made.ndata.update(of_nodes)
    made.edata.update({k: tensor(v) for k, v in edges.items() if v is not None})
    return made


@dataclass
class Parts:
    """The parts of a graph as the caller passed them. names maps parts to the caller's names."""

    edge_index: Any = None
    edge_weight: Any = None
    x: Any = None
    y: Any = None
    train_mask: Any = None
    val_mask: Any = None
    test_mask: Any = None
    name: str = "graph"
    classes: Optional[int] = None
    ids: Optional[Sequence[Any]] = None  # the caller's ids of the nodes; None if they equal the node numbers
    class_names: Optional[list[str]] = None
    feature_names: Optional[list[str]] = None  # not used if x has another number of columns
    names: dict[str, str] = field(default_factory=dict)
    side: Optional[int] = None  # rows of the adjacency matrix, if the edges came from one
    held: Sequence[str] = ()  # the names of all that the caller's object holds for nodes

    def called(self, part: str) -> str:
        """Return the caller's name of a part."""
        return self.names.get(part, part)

    def choose(self, split: str) -> bool:
        """Replace masks of several splits with those of one. Return whether there are any."""
        found = 0
        for part in PARTS:
            mask = None if getattr(self, part) is None else array(self.called(part), getattr(self, part))
            if mask is None or mask.ndim != 2:
                continue
            name, splits = self.called(part), mask.shape[1]
            if not split.isdecimal() or int(split) >= splits:
                raise Error(f"split {split}, must be 0 to {splits - 1}: {name} holds {splits} splits")
            if not found and splits > 1 and int(split) == 0:  # another one was chosen
                warn(f"{name} holds {splits} splits: split {split} of 0 to {splits - 1} is used")
            found = splits
            setattr(self, part, mask[:, int(split)])
        return found > 0

    def tensors(self, unlabelled: bool = False) -> list[Tensor]:
        """Return the tensors of the file. Raise Error for an invalid part.

        If unlabelled is set, y may be missing. If no node has a label, the split is then dropped.
        """
        if unlabelled and self.y is None and self.x is not None:
            nodes = self.x.shape[0] if isinstance(self.x, Sparse) else len(array(self.called("x"), self.x))
            self.y = np.full(nodes, -1, np.int32)
        for part in ("x", "y", "edge_index"):
            if getattr(self, part) is None:
                found = f"; found {', '.join(map(str, self.held))}" if self.held else ""
                raise Error(f"{self.called(part)} is missing, expected {_WANTED[part]}{found}")
        y = self._labels()
        nodes = len(y)
        if unlabelled and (y < 0).all():
            self.train_mask = self.val_mask = self.test_mask = None
        if self.side not in (None, nodes):
            raise Error(
                f"{self.called('edge_index')} has shape {(self.side, self.side)}, "
                f"expected {(nodes, nodes)}: a row for each label of {self.called('y')}"
            )
        tensors = [*self._edges(nodes), *self._features(nodes), Tensor("y", y), *self._split(y)]
        if self.ids is not None:
            if len(self.ids) != nodes:
                raise Error(
                    f"{self.called('ids')} has {len(self.ids)} names, expected {nodes}: one for each label of y"
                )
            tensors += _names.strings("ids", _names.texts(self.ids))
        return tensors

    def metadata(self) -> dict[str, str]:
        """Return the metadata of the file."""
        if not isinstance(self.name, str):
            raise Error(f"name is a {type(self.name).__name__}, must be a string")
        meta = {"name": self.name}
        if self.class_names is not None:
            self.classes = len(self.class_names)
        x = self.x if isinstance(self.x, Sparse) else array("x", self.x)
        if self.feature_names is not None and len(self.feature_names) != x.shape[1]:
            self.feature_names = None  # x was replaced
        for name in ("class_names", "feature_names"):
            if getattr(self, name) is not None:
                meta[name] = json.dumps(getattr(self, name), ensure_ascii=False, separators=(",", ":"))
        if self.classes is not None:
            meta["classes"] = str(self.classes)
        if isinstance(self.x, Sparse):
            meta["features"] = str(self.x.shape[1])
        return meta

    def write(self, path: Path, tensors: list[Tensor]) -> None:
        """Write the file."""
        try:
            _safetensors.write(path, tensors, self.metadata())
        except OSError as e:
            raise Error(f"writing the graph to {path.parent}: {e.strerror or e}") from None

    def named(self, sentence: str) -> str:
        """Replace the names of parts in an error of the command by the caller's names."""
        sentence = re.sub(
            r"^feature (\d+) of node (\d+) is not",
            lambda m: f"{self.called('x')}[{m[2]}, {m[1]}] is not",
            sentence,
        )
        sentence = re.sub(
            r"^(?:the )?graph.* has no \w+ nodes \(0\), must have at least 1: mark .* as (val|test) in its split$",
            lambda m: f"{self.called(m[1] + '_mask')} has no node, must have at least 1",
            sentence,
        )
        sentence = sentence.replace("must be 0: the file holds 1 split", "must be 0: there is only one split")
        return re.sub("^label ", f"{self.called('y')}: label ", sentence)

    def _labels(self) -> Array:
        name = self.called("y")
        y = array(name, self.y, texts=True)
        if y.dtype.kind in "OUS" and y.ndim == 1:
            y, self.class_names = _names.class_numbers(name, y.tolist())
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.ndim != 1 or y.size == 0:
            raise Error(
                f"{name} has shape {y.shape}, expected one label for each node: {name}.argmax(1) if labels are one-hot "
                "(several labels are not supported)"
            )
        if y.dtype.kind == "f":
            known = ~np.isnan(y)
            whole = np.where(known, y, -1)
            if not np.array_equal(whole, np.trunc(whole)):
                at = int(np.flatnonzero(whole != np.trunc(whole))[0])
                raise Error(f"{name} of node {at} is {y[at]}, must be an integer, or -1 for none")
            y = whole
        elif y.dtype.kind not in "iub":
            raise Error(f"{name} has elements of type {y.dtype}, must have integers")
        bad = np.flatnonzero((y < -1) | (y >= 2**31))
        if bad.size:
            raise Error(f"{name} of node {bad[0]} is {y[bad[0]]}, must be a class from 0, or -1 for none")
        return y.astype(np.int32)

    def _edges(self, nodes: int) -> list[Tensor]:
        name, e = self.called("edge_index"), array(self.called("edge_index"), self.edge_index)
        if e.size == 0:
            e = np.zeros((2, 0), np.int32)
        if e.ndim != 2 or e.shape[0] != 2:
            upright = f"{name}.T" if hasattr(self.edge_index, "T") else f"numpy.transpose({name})"
            hint = f"; {upright} has it" if e.ndim == 2 and e.shape[1] == 2 else ""
            raise Error(f"{name} has shape {e.shape}, expected (2, number of edges){hint}")
        if e.dtype.kind not in "iu":
            raise Error(f"{name} has elements of type {e.dtype}, must have integers")

        def check(chunk: Array, before: int) -> None:
            unsigned = chunk.view(chunk.dtype.str.replace("i", "u"))  # as unsigned, negative numbers are large
            if unsigned.max() >= nodes:
                wrong = int(np.flatnonzero((chunk < 0) | (chunk >= nodes))[0])
                node, edge = chunk.reshape(-1)[wrong], (before + wrong) % e.shape[1]
                raise Error(f"{name} has node {node} in edge {edge}, must have 0 to {nodes - 1}")

        tensors = [Tensor("edge_index", e, "<i4", check)]
        if self.edge_weight is not None:
            name, w = self.called("edge_weight"), array(self.called("edge_weight"), self.edge_weight)
            if w.ndim == 2 and w.shape[1] == 1:
                w = w[:, 0]
            if w.shape != (e.shape[1],):
                raise Error(f"{name} has shape {w.shape}, expected ({e.shape[1]},): one weight for each edge")
            if w.dtype.kind not in "iufb":
                raise Error(f"{name} has elements of type {w.dtype}, must have numbers")
            if not bool(np.all(w == 1)):
                tensors.append(Tensor("edge_weight", w, "<f4", self._positive))
        return tensors

    def _positive(self, chunk: Array, low: int) -> None:
        """Raise Error for a weight that is not positive and finite as a float32."""
        wrong = ~((chunk > 0) & (chunk <= np.finfo(np.float32).max))
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            name = self.called("edge_weight")
            raise Error(f"{name} of edge {low + at} is {chunk[at]}, must be a positive finite number")

    def _features(self, nodes: int) -> list[Tensor]:
        name = self.called("x")
        if isinstance(self.x, Sparse):
            rows, columns = self.x.shape
            _feature_shape(name, (rows, columns), nodes)
            tensors = [Tensor("x.indptr", self.x.indptr, "<i8"), Tensor("x.indices", self.x.indices, "<i4")]
            if self.x.data is not None and not bool(np.all(self.x.data == 1)):
                if self.x.data.dtype.kind not in "fiub":
                    raise Error(f"{name} has elements of type {self.x.data.dtype}, must have numbers")
                wrong = np.flatnonzero(~np.isfinite(self.x.data))
                if wrong.size:
                    node = np.searchsorted(self.x.indptr, wrong[0], side="right") - 1
                    raise Error(f"{name}[{node}, {self.x.indices[wrong[0]]}] is not a finite number")
                tensors.append(Tensor("x.data", self.x.data, "<f4"))
            return tensors
        x = array(name, self.x)
        _feature_shape(name, x.shape, nodes)
        if x.dtype.kind not in "fiub":
            raise Error(f"{name} has elements of type {x.dtype}, must have numbers")
        return [Tensor("x", x, "<f4")]  # the command checks that numbers are finite

    def _split(self, y: Array) -> list[Tensor]:
        part_of = np.zeros(len(y), np.int8)
        tensors = []
        for number, part in enumerate(PARTS, 1):
            given = getattr(self, part)
            if given is None:
                continue
            name, nodes = self.called(part), self._nodes(part, len(y))
            twice = nodes[part_of[nodes] != 0]
            if twice.size:
                other = self.called(PARTS[part_of[twice[0]] - 1])
                raise Error(f"{name} has node {twice[0]}, which is in {other} too, must be in one part only")
            part_of[nodes] = number
            bare = nodes[y[nodes] < 0]
            if bare.size:
                raise Error(f"{name} has node {bare[0]}, which has no label in {self.called('y')}")
            tensors.append(Tensor(part[: -len("_mask")], nodes, "<i4"))
        if not part_of.any():
            return []  # the command draws a split
        if self.train_mask is None:
            raise Error(f"{self.called('train_mask')} is missing, and other parts of the split are given")
        if not (part_of == 1).any():
            raise Error(f"{self.called('train_mask')} is empty, must have at least 1 node")
        return tensors

    def _nodes(self, part: str, count: int) -> Array:
        """Return the nodes of a mask or of a list of node numbers, in ascending order."""
        name, mask = self.called(part), array(self.called(part), getattr(self, part))
        if mask.dtype == np.uint8 and mask.shape == (count,):
            mask = mask.astype(bool)
        if mask.dtype == np.bool_:
            if mask.shape != (count,):
                raise Error(f"{name} has shape {mask.shape}, expected ({count},): one for each node")
            return np.flatnonzero(mask)
        if mask.size == 0:
            return np.zeros(0, np.int64)
        if mask.ndim != 1 or mask.dtype.kind not in "iu":
            raise Error(f"{name} has elements of type {mask.dtype}, must have a mask of bool or a list of node numbers")
        nodes = np.sort(mask)
        for node in (nodes[0], nodes[-1]):
            if not 0 <= node < count:
                raise Error(f"{name} has node {node}, must have 0 to {count - 1}")
        again = np.flatnonzero(nodes[1:] == nodes[:-1])
        if again.size:
            raise Error(
                f"{name} has node {nodes[again[0]]} twice, must have a mask of bool or a list of different nodes"
            )
        return nodes


_WANTED = {
    "x": "the features, nodes × features",
    "y": "a label for each node, -1 for none",
    "edge_index": "the edges, 2 × number of edges",
}


def _feature_shape(name: str, shape: tuple[int, ...], nodes: int) -> None:
    if len(shape) != 2 or shape[0] != nodes or shape[1] == 0:
        raise Error(f"{name} has shape {shape}, expected ({nodes}, number of features): a row for each label of y")


def array(name: str, value: Any, texts: bool = False) -> Array:
    """Return a value as an array, without a copy if possible. Tensors of torch are moved to the CPU.

    If texts is set, the result may be an object array.
    """
    if hasattr(value, "detach"):
        if str(getattr(value, "layout", "torch.strided")) != "torch.strided":
            raise Error(f"{name} is a sparse tensor, expected a dense one: {name}.to_dense() makes it")
        if getattr(value, "is_meta", False):
            raise Error(f"{name} is a tensor on the device meta, must hold numbers")
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":
            value = value.float()
        return np.asarray(value.numpy())
    try:
        found = np.asarray(value)
    except ValueError as e:
        raise Error(f"{name} is not an array: {e}") from None
    if texts and found.dtype.kind == "U" and not isinstance(value, np.ndarray):
        found = np.asarray(value, object)  # numpy would convert numbers among strings
    if found.dtype.kind == "O" and not texts:
        numbers = (bool, int, float, np.bool_, np.number)
        for i, v in enumerate(found.reshape(-1)):
            if not isinstance(v, numbers):
                table = found.ndim == 2 and hasattr(value, "columns")
                column = f" in column {list(value.columns)[i % found.shape[1]]!r}" if table else ""
                raise Error(f"{name} holds {type(v).__name__} objects{column}, must hold an array of numbers")
        found = np.asarray(found.tolist())  # a data frame with columns of several types gives objects
    return found


def whole_numbers(name: str, value: Any) -> Array:
    """Return a list of integers as an array. Raise Error for other values."""
    found = array(name, value).reshape(-1)
    if found.size and found.dtype.kind not in "iu":
        raise Error(f"{name} has elements of type {found.dtype}, must have integers")
    return found.astype(np.int64)


def _dense(tensors: Mapping[str, Array]) -> Array:
    """Return x as float32, from the tensor x or from the panels x.0, x.1, …."""
    if "x" in tensors:
        return tensors["x"].astype(np.float32, copy=False)
    panels = [tensors[f"x.{k}"] for k in range(len(tensors)) if f"x.{k}" in tensors]
    return np.concatenate(panels, axis=1, dtype=np.float32)


def read_graph(path: str | os.PathLike[str], called: str) -> Graph:
    """Read a graph that the command wrote as safetensors. called is its name in errors."""
    t, meta = _safetensors.read(path)
    if meta.get("format") == "cgc-condensed":
        raise Error(f"{called} is a condensed graph, must be an original graph: cgc.load reads it")
    try:
        indptr, nodes = t["adj.indptr"], len(t["y"])
        rows = np.repeat(np.arange(nodes, dtype=np.int64), np.diff(indptr))
        masks = {}
        for part in PARTS:
            masks[part] = np.zeros(nodes, bool)
            masks[part][t.get(part[: -len("_mask")], [])] = True
        sparse = None
        if "x" not in t and "x.0" not in t:
            sparse = Sparse(t["x.indptr"], t["x.indices"], t.get("x.data"), (nodes, int(meta["features"])))
        x = _dense(t) if sparse is None else sparse.toarray()
        if sparse is not None:
            x.flags.writeable = False  # read-only, because the graph is written from its sparse form
        edges = np.stack([rows, t["adj.indices"].astype(np.int64)])
        return Graph(
            x=x, y=t["y"].astype(np.int64), edge_index=edges, edge_weight=t.get("adj.data"),
            name=meta["name"], classes=int(meta["classes"]), _sparse=None if sparse is None else (x, sparse),
            ids=_names.text_of("ids", t),
            class_names=_names.listed(meta, "class_names"), feature_names=_names.listed(meta, "feature_names"), **masks,
        )  # fmt: skip
    except KeyError as e:
        raise Error(f"{called} has no tensor {e}, must have a graph that cgc wrote") from None

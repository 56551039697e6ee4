"""Graphs of other libraries. The type of an object determines its library; no other library is imported."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Optional

import numpy as np

from ._error import Error, warn
from ._frames import Tables, parts_of_tables
from ._graph import NAMES, PARTS, Graph, Parts, Sparse, array
from ._names import columns, identity, in_mask, of_features, part_of
from ._safetensors import Array

__all__ = ["GRAPH", "edges_of_matrix", "is_from", "parts_of"]

GRAPH = ("edge_index", "edge_weight", "x", "y", *PARTS, "adj", "name")  # the arguments that are parts of a graph
_FEATURES = ("x", "feat", "features")  # names of node attributes; the first one found is used
_LABELS = ("y", "label", "labels")
_WEIGHTS = ("edge_weight", "weight", "w")
_LISTS = (("train_idx", "idx_train"), ("val_idx", "valid_idx", "idx_val"), ("test_idx", "idx_test"))


def is_from(library: str, value: object) -> bool:
    """Return whether the type of value, or one of its base classes, comes from a library."""
    return any(base.__module__.partition(".")[0] == library for base in type(value).__mro__)


def parts_of(argument: str, data: Any, given: dict[str, Any]) -> Parts:
    """Return the parts of data, which was passed as argument, overridden by the arguments given by name.

    data is a torch_geometric Data, a DGL or networkx graph, a Graph, a dictionary of parts, or None if all parts are
    given by name. The argument adj, an adjacency matrix, replaces edge_index and edge_weight.
    """
    given = {k: v for k, v in given.items() if v is not None}
    if is_from("cgc", getattr(data, "origin", None)) or isinstance(getattr(data, "cgc", None), list):
        raise Error(f"{argument} is a condensed graph, must be an original graph")
    if isinstance(data, Mapping):
        for name in data:
            if name not in GRAPH:
                raise Error(f"{argument} has {name}, must have some of {', '.join(GRAPH)}")
        data, given = None, {**{k: v for k, v in data.items() if v is not None}, **given}
    if data is None:
        parts = Parts()
    elif isinstance(data, Graph):
        x, sparse = data._sparse or (None, None)
        same = data.x is x and not data.x.flags.writeable  # a copied or unpickled graph has a writable x
        parts = Parts(
            data.edge_index, data.edge_weight, sparse if same else data.x, data.y,
            data.train_mask, data.val_mask, data.test_mask, data.name, data.classes,
            data.ids, data.class_names, data.feature_names,
        )  # fmt: skip
        _names_as_lists(parts)
    elif isinstance(data, Tables):
        parts = parts_of_tables(data)
    elif is_from("torch_geometric", data) and (graph := _pyg_graph(argument, data)) is not None:
        parts = _of_pyg(graph)
        weighted = parts.edge_weight is not None or "edge_weight" in given or "adj" in given
        for name in () if weighted else ("edge_attr", "edge_weights", "weight", "weights"):
            shape = getattr(getattr(graph, name, None), "shape", ())
            if tuple(shape) in ((graph.num_edges,), (graph.num_edges, 1)):
                warn(
                    f"{argument}.{name} is not read: if it holds the weights of the edges, set "
                    f"{argument}.edge_weight = {argument}.{name}"
                )
                break
    elif is_from("dgl", data) and hasattr(graph := _dgl_graph(argument, data), "ndata"):
        parts = _of_dgl(graph)
    elif is_from("networkx", data):
        parts = _of_networkx(data)
    else:
        raise Error(
            f"{argument} is a {type(data).__module__}.{type(data).__qualname__}, must be a torch_geometric Data, a DGL "
            "or networkx graph, cgc.tables(…), a cgc.Graph, a dictionary of arrays, or the name or path of a graph"
        )
    adj = given.pop("adj", None)
    if adj is not None:
        if "edge_index" in given:
            raise Error("adj and edge_index are given, must be one of them")
        parts.edge_index, parts.edge_weight, parts.side = edges_of_matrix(adj)
        parts.names |= {"edge_index": "adj", "edge_weight": "adj"}
    if "y" in given:
        parts.classes = parts.class_names = None
    if "x" in given:
        parts.feature_names = None
    if "edge_index" in given:
        parts.side = None
    for name, value in given.items():
        setattr(parts, name, value)
        parts.names.pop(name, None)
    parts.feature_names = columns(parts.x) or parts.feature_names
    if parts.x is not None and is_from("scipy", parts.x):
        parts.x = _sparse(parts.x)
    elif (entries := _entries(parts.called("x"), parts.x)) is not None:
        parts.x = _rows(parts.called("x"), *entries)
    return parts


def _pyg_graph(argument: str, data: Any) -> Any:
    """Return a torch_geometric Data, or the only graph of a data set. Return None for any other object.

    A data set of OGB keeps its split apart from its graph.
    """
    from torch_geometric.data import Data, Dataset, HeteroData

    if isinstance(data, Dataset):
        split: Mapping[str, Any] = getattr(data, "get_idx_split", dict)()
        data = copy.copy(_only(argument, data))
        for part, nodes in split.items() if isinstance(data, Data) else ():
            data[f"{part}_idx"] = nodes
    if isinstance(data, HeteroData):
        raise Error(
            f"{argument} is a HeteroData, expected one type of nodes and edges: {argument}.to_homogeneous() makes it"
        )
    return data if isinstance(data, Data) else None


def _dgl_graph(argument: str, data: Any) -> Any:
    """Return the only graph of a data set of DGL. Return other objects as they are."""
    return _only(argument, data) if hasattr(data, "__getitem__") and not hasattr(data, "ndata") else data


def _only(argument: str, graphs: Any) -> Any:
    """Return the graph of a data set that has one."""
    if len(graphs) != 1:
        raise Error(f"the data set has {len(graphs)} graphs, expected one: {argument}[0] is the first")
    return graphs[0]


def _of_pyg(data: Any) -> Parts:
    """Return x, y, edge_index, edge_weight and the masks of a Data, or else its lists of nodes, such as train_idx."""
    keys = data.keys
    keys = list(keys() if callable(keys) else keys)
    parts = Parts(**{k: data[k] for k in ("edge_index", "edge_weight", "x", "y", *PARTS, *NAMES) if k in keys})
    parts.held = keys
    _names_as_lists(parts)
    if not any(part in keys for part in PARTS):
        for part, lists in zip(PARTS, _LISTS):
            name = next((n for n in lists if n in keys), None)
            if name is not None:
                setattr(parts, part, data[name])
                parts.names[part] = name
    if "name" in keys and isinstance(data["name"], str):
        parts.name = data["name"]
    if "edge_index" not in keys and "adj_t" in keys:  # made by ToSparseTensor
        parts.edge_index, parts.edge_weight, parts.side = edges_of_matrix(data["adj_t"], "adj_t")
        parts.names |= {"edge_index": "adj_t", "edge_weight": "adj_t"}
    return parts


def _names_as_lists(parts: Parts) -> None:
    """Replace arrays and tensors of names with lists."""
    for name in NAMES:
        value = getattr(parts, name)
        if hasattr(value, "tolist"):
            setattr(parts, name, value.tolist())
    parts.feature_names = of_features(parts.feature_names)


def _of_dgl(graph: Any) -> Parts:
    """Return the edges and node data of a homogeneous DGL graph."""
    if not getattr(graph, "is_homogeneous", True):
        raise Error("the DGL graph has several types of nodes or edges, expected one: dgl.to_homogeneous makes it")
    source, target = (array("edges", ends) for ends in graph.edges())
    parts = Parts(np.stack([source, target]), names={"edge_index": "edges", "x": "feat", "y": "label"})
    parts.held = list(graph.ndata)
    for part, names, store in (
        ("x", _FEATURES, graph.ndata), ("y", _LABELS, graph.ndata), ("edge_weight", _WEIGHTS, graph.edata),
        *((p, (p,), graph.ndata) for p in PARTS),
    ):  # fmt: skip
        for name in names:
            if name in store:
                setattr(parts, part, store[name])
                parts.names[part] = name
                break
    return parts


def _of_networkx(graph: Any) -> Parts:
    """Return the nodes in the graph's order, with attributes x, y, and split or the masks, and the edge weights."""
    order = {node: i for i, node in enumerate(graph.nodes)}
    parts = Parts(names={"edge_index": "edges", "edge_weight": "weight"})
    edges = [(order[u], order[v], a.get("weight", 1)) for u, v, a in graph.edges(data=True)]
    parts.edge_index = np.array([e[:2] for e in edges], np.int64).reshape(-1, 2).T
    if any(e[2] != 1 for e in edges):
        parts.edge_weight = np.array([e[2] for e in edges])
    attributes = [a for _, a in graph.nodes(data=True)]
    parts.held = sorted({name for a in attributes for name in a}, key=str)
    nodes = list(order)
    parts.ids = None if identity(nodes) else nodes
    for part, names in (("x", _FEATURES), ("y", _LABELS)):
        name = next((n for n in names if any(n in a for a in attributes)), None)
        if name is None:
            continue
        values = [a.get(name) for a in attributes]
        parts.names[part] = name
        if part == "y" and any(v is None or isinstance(v, str) for v in values):
            parts.y = np.empty(len(values), object)
            parts.y[:] = values
            continue
        bare = next((i for i, v in enumerate(values) if v is None), None)
        if bare is not None:
            raise Error(f"node {nodes[bare]!r} has no attribute {name}, and other nodes have it")
        rows = [array(name, v) for v in values]
        for i, row in enumerate(rows):
            if row.shape != rows[0].shape:
                raise Error(
                    f"{name} of node {nodes[i]!r} has shape {row.shape}, expected {rows[0].shape} as the others"
                )
        setattr(parts, part, np.stack(rows))
    if any("split" in a for a in attributes):
        split = [part_of(f"split of node {v!r}", a.get("split")) for v, a in zip(nodes, attributes)]
        for part in PARTS:
            setattr(parts, part, np.array([s == part[: -len("_mask")] for s in split]))
    else:
        for part in PARTS:
            if any(part in a for a in attributes):
                mask = [in_mask(f"{part} of node {v!r}", a.get(part)) for v, a in graph.nodes(data=True)]
                setattr(parts, part, np.array(mask))
    return parts


def edges_of_matrix(adj: Any, name: str = "adj") -> tuple[Any, Any, int]:
    """Return the positions and values of the nonzero entries, and the number of rows.

    adj is a scipy.sparse matrix, a sparse tensor of torch, or a square array. Values at the same position are added.
    """
    entries = _entries(name, adj)
    if entries is not None:
        shape, ends, weights = entries
    elif hasattr(adj, "tocoo"):
        shape, csr = tuple(adj.shape), _sparse(adj)
        rows = np.repeat(np.arange(len(csr.indptr) - 1, dtype=csr.indices.dtype), np.diff(csr.indptr))
        ends, weights = np.stack([rows, csr.indices]), csr.data
    else:
        dense = array(name, adj)
        shape = dense.shape
        if len(shape) == 2:
            ends = np.stack(np.nonzero(dense))
            weights = dense[ends[0], ends[1]]
    if len(shape) != 2 or shape[0] != shape[1]:
        raise Error(f"{name} has shape {tuple(shape)}, must be a square matrix")
    if weights is None:
        return ends, None, shape[0]
    kept = weights != 0
    if not bool(kept.all()):
        ends, weights = ends[:, kept], weights[kept]
    return ends, weights, shape[0]


def _entries(name: str, matrix: Any) -> Optional[tuple[tuple[int, ...], Array, Optional[Array]]]:
    """Return the shape, the sorted positions and the values of a sparse tensor. Return None for other objects.

    The values are None if all are 1.
    """
    if hasattr(matrix, "sizes") and hasattr(matrix, "coo"):  # SparseTensor of torch_sparse
        row, column, value = matrix.coalesce().coo()
        ends = np.stack([array(name, row), array(name, column)])
        return tuple(matrix.sizes()), ends, None if value is None else array(name, value)
    if str(getattr(matrix, "layout", "torch.strided")) == "torch.strided":
        return None
    shape, matrix = tuple(matrix.shape), matrix.detach().cpu()
    coo = (matrix if matrix.is_sparse else matrix.to_sparse()).coalesce()
    return shape, array(name, coo.indices()), array(name, coo.values())


def _rows(name: str, shape: tuple[int, ...], ends: Array, values: Optional[Array]) -> Sparse:
    """Return the CSR form of the entries of a sparse tensor, without those that are 0."""
    if len(shape) != 2:
        raise Error(f"{name} has shape {shape}, expected (nodes, number of features)")
    if values is not None:
        kept = values != 0
        ends, values = ends[:, kept], values[kept]
    return Sparse(np.searchsorted(ends[0], np.arange(shape[0] + 1)), ends[1], values, (shape[0], shape[1]))


def _sparse(x: Any) -> Sparse:
    """Return a scipy.sparse matrix as the arrays of its CSR form, with ascending columns."""
    csr = x.tocsr()
    if csr is x:
        csr = csr.copy()
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return Sparse(csr.indptr, csr.indices, csr.data, csr.shape)

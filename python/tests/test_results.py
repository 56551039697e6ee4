"""Results equal those of the command, whichever library the graph comes from."""

import copy
import json
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import cgc
from cgc import _options, _run, _safetensors
from cgc._table import Table


def command(*line: str) -> None:
    subprocess.run([_run.binary(), *line, "--quiet"], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    "options",
    [
        {"nodes": 35},
        {"nodes": 70, "standardize": True, "threshold": 0.5},
        {"lossless": 1.0},
    ],
)
def test_bytes_are_those_of_the_command(demo, tmp_path, options):
    ours, theirs = tmp_path / "ours.safetensors", tmp_path / "theirs.safetensors"
    cgc.save(cgc.condense(demo, **options), ours)
    command("condense", "demo", "-o", str(theirs), *_options.flags("condense", options))
    assert ours.read_bytes() == theirs.read_bytes()
    cgc.save(cgc.load(theirs), ours)
    assert ours.read_bytes() == theirs.read_bytes()


def test_sparse_features_stay_sparse(tmp_path):
    file, ours, theirs = (tmp_path / f"{name}.safetensors" for name in ("made", "ours", "theirs"))
    command("data", "make", "--like", "cora", "-o", str(file), "--scale", "0.3")
    graph = cgc.load_dataset(file)
    assert "x.indices" in _safetensors.read(file)[0]
    cgc.condense(graph, nodes=20).save(ours)
    command("condense", str(file), "-o", str(theirs), "--nodes=20")
    assert ours.read_bytes() == theirs.read_bytes()
    assert cgc.condense(replace(graph, x=graph.x[:, :100]), nodes=20).x.shape == (20, 100)
    for copied in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        copied.x[:] += np.arange(len(copied.y))[:, None]
        assert cgc.condense(copied, nodes=20).x.max() > 10


def same(a: cgc.Condensed, b: cgc.Condensed) -> None:
    for name in ("x", "y", "edge_index", "edge_weight", "members_indptr", "members_indices", "members_weights"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def test_arrays_of_other_types_and_layouts(arrays):
    want = cgc.condense(**arrays, nodes=6, method="cgc")
    assert want.x.shape == (6, 8) and want.x.dtype == np.float32 and want.y.tolist() == [0, 0, 1, 1, 2, 2]
    assert want.weight.sum() == 30
    nodes, weights = want.members(0)
    assert set(nodes) <= set(np.flatnonzero(arrays["train_mask"])) and abs(weights.sum() - 1) < 1e-6
    both = np.concatenate([arrays["edge_index"], arrays["edge_index"][::-1]], axis=1)
    other = dict(
        arrays, edge_index=np.asfortranarray(both.astype(np.uint8)), x=arrays["x"].astype(np.float64)[:, ::-1][:, ::-1],
        y=arrays["y"][:, None].astype(np.float32), train_mask=np.flatnonzero(arrays["train_mask"])[::-1],
        val_mask=arrays["val_mask"].tolist(), edge_weight=np.ones(120),
    )  # fmt: skip
    same(want, cgc.condense(**other, nodes=6, method="cgc"))


def test_order_and_direction_of_edges_do_not_matter(arrays):
    want = cgc.condense(**arrays, nodes=6)
    both = np.concatenate([arrays["edge_index"], arrays["edge_index"][::-1]], axis=1)
    ordered = both[:, np.lexsort((both[1], both[0]))]
    loop = np.insert(ordered, 0, 0, axis=1)
    for other in (ordered, both[:, ::-1], ordered[:, 1:], loop, np.repeat(ordered, 2, axis=1), both.T.copy().T):
        same(want, cgc.condense(**{**arrays, "edge_index": other}, nodes=6))
    same(want, cgc.condense(**{**arrays, "edge_index": ordered, "edge_weight": np.ones(120)}, nodes=6))


def test_large_arrays_are_written_in_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(_safetensors, "_CHUNK", 1000)
    monkeypatch.setattr(_safetensors, "_SMALL", 0)
    whole = np.arange(123_456, dtype=np.int64).reshape(2, -1)
    given = {
        "a": whole, "b": np.asfortranarray(whole), "c": whole.T, "d": whole[:, ::-3], "e": whole.astype(">f4"),
        "f": whole.reshape(2, 2, -1)[:, ::-1], "g": whole[:, :0], "h": whole[0, :7],
    }  # fmt: skip
    seen = []

    def see(chunk, at):
        seen.append((at, chunk.reshape(-1)[0]))

    tensors = [_safetensors.Tensor(k, v, "<i4", see) for k, v in given.items()]
    _safetensors.write(tmp_path / "x", tensors, {"of": "me"})
    arrays, metadata = _safetensors.read(tmp_path / "x")
    for name, array in given.items():
        np.testing.assert_array_equal(arrays[name], array.astype(np.int32), err_msg=name)
    assert metadata == {"of": "me"} and len(seen) > 500
    for at, first in seen:
        assert any(v.reshape(-1)[at] == first for v in given.values() if at < v.size)

    def refuse(chunk, at):
        if at >= 50_000:
            raise cgc.Error(str(at))

    for _ in range(20):
        with pytest.raises(cgc.Error, match=r"^50000$"):
            _safetensors.write(tmp_path / "x", [_safetensors.Tensor("a", whole, "", refuse)], {})


def test_nodes_without_label_and_without_split(arrays):
    y = arrays["y"].astype(float)
    y[arrays["test_mask"]] = np.nan
    small = cgc.condense(**{**arrays, "y": y, "test_mask": None}, nodes=6)
    assert len(small.y) == 6
    with pytest.warns(UserWarning, match="without a split"):
        small = cgc.condense(edge_index=arrays["edge_index"], x=arrays["x"], y=arrays["y"], nodes=6, method="cgc")
    with pytest.warns(UserWarning, match="without a split"):
        graph = cgc.load_dataset({name: arrays[name] for name in ("edge_index", "x", "y")})
    assert sorted(small.members_indices) == np.flatnonzero(graph.train_mask).tolist() and graph.test_mask.any()
    assert graph.edge_index.shape == (2, 120) and graph.ids is None


def test_condensed_graphs_of_other_programs(arrays, tmp_path):
    mine = cgc.Condensed(x=arrays["x"][::10].tolist(), y=list(arrays["y"][::10]))
    assert mine.x.dtype == np.float32 and mine.y.dtype == np.int64 and mine.edge_weight.shape == (0,)
    with pytest.warns(cgc.GraphWarning, match="does not say which graph it was made from"):
        assert cgc.evaluate(mine, on=arrays, seeds=1, epochs=5)["gcn"].seeds == 1
    for name in ("mine.safetensors", "mine.npz"):
        cgc.save(mine, tmp_path / name)
        loaded = cgc.load(tmp_path / name)
        np.testing.assert_array_equal(loaded.x, mine.x)
        assert loaded.origin.metadata["classes"] == "3" and loaded.edge_index.shape == (2, 0)
    linked = cgc.Condensed(mine.x, mine.y, [[0, 1], [1, 0]])
    assert linked.edge_weight.tolist() == [1, 1] and "1 edges" in repr(linked) and "method unknown" in repr(linked)
    shuffled = cgc.Condensed(mine.x, mine.y, [[2, 1, 0, 1], [1, 0, 1, 2]], [3, 2, 2, 3])
    assert shuffled.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert shuffled.edge_weight.tolist() == [2, 2, 3, 3]
    rows = {"members_indptr": [*range(7)], "members_indices": [*range(6)], "members_weights": [1] * 6}
    with pytest.raises(cgc.Error, match="members_indices are given and origin has no graph_nodes"):
        cgc.save(cgc.Condensed(mine.x, mine.y, **rows), tmp_path / "listed.npz")
    rows.update(scaling_mean=[0] * 8, scaling_std=(1.0,) * 8, origin=cgc.Origin({"graph_nodes": "60"}))
    listed = cgc.Condensed(mine.x, mine.y, **rows)
    cgc.save(listed, tmp_path / "listed.npz")
    for name, value in cgc.load(tmp_path / "listed.npz")._arrays().items():
        np.testing.assert_array_equal(value, getattr(listed, name))
    few = cgc.Condensed(mine.x[mine.y < 2], mine.y[mine.y < 2], origin=cgc.Origin({"classes": "3"}))
    with pytest.warns(cgc.GraphWarning):
        cgc.evaluate(few, on=arrays, seeds=1, epochs=5)
    with pytest.raises(cgc.Error, match=r'classes \(3 instead of 2\) differ; .* must count it: "classes": "3"'):
        cgc.evaluate(cgc.Condensed(few.x, few.y), on=arrays, seeds=1, epochs=5)
    with pytest.raises(cgc.Error, match=r"features \(8 instead of 5\) differ$"):
        cgc.evaluate(cgc.Condensed(mine.x[:, :5], mine.y), on=arrays, seeds=1, epochs=5)
    for change, sentence in (
        ({"y": [0.5, 1, 0, 1, 0, 1]}, "y has elements of type float64, must have integers"),
        ({"y": list("abcabc")}, "y has elements of type <U1, must have integers"),
        ({"x": mine.x.astype(str)}, "x has elements of type <U"),
        ({"y": mine.y[:5]}, r"x has shape \(6, 8\), must have \(5, 8\)"),
        ({"y": mine.y[:, None]}, r"y has shape \(6, 1\), must have 1 dimension"),
        ({"edge_index": 5}, r"edge_index has shape \(\), must have 2 dimensions"),
        ({"edge_index": [[0], [1], [2]]}, r"edge_index has shape \(3, 1\), must have \(2, 1\)"),
        ({"edge_index": [[0], [1]], "edge_weight": [1.0, 2.0]}, r"edge_weight has shape \(2,\), must have \(1,\)"),
        ({"members_indices": [0.5]}, "members_indices has elements of type float64, must have integers"),
        ({"y_soft": [1.0, 0.0]}, r"y_soft has shape \(2,\), must have 2 dimensions"),
    ):
        with pytest.raises(cgc.Error, match=sentence):
            cgc.Condensed(**{"x": mine.x, "y": mine.y, **change})


def test_arrays_are_a_graph_of_every_function(arrays):
    small = cgc.condense(arrays, nodes=6, threshold=0.2, degree=0)
    same(small, cgc.condense(**arrays, nodes=6, threshold=0.2, degree=0))
    same(small, cgc.condense({**arrays, "x": None}, x=arrays["x"], nodes=6, threshold=0.2, degree=0))
    bare = {name: arrays[name] for name in ("x", "y", "edge_index")}
    graph = cgc.Graph(**arrays)
    assert repr(cgc.Graph(**bare)) == "Graph(graph: 60 nodes, 60 directed edges, 8 features)"
    scores = [cgc.evaluate(small, on=g, seeds=1, epochs=3)[0].test_mean for g in (arrays, graph)]
    assert scores[0] == scores[1]
    model = cgc.train(small, graph, seeds=1, epochs=3)
    assert len(cgc.predict(model, arrays, part="test").nodes) == 15
    with pytest.warns(cgc.GraphWarning, match="comes without a split"):
        same(cgc.condense(bare, nodes=6), cgc.condense(cgc.Graph(**bare), nodes=6))
    with pytest.raises(cgc.Error, match="on has nodes, must have some of edge_index"):
        cgc.evaluate(small, on={**arrays, "nodes": 6})
    with pytest.raises(cgc.Error, match="on is a builtins"):
        cgc.evaluate(small, on=5)


def test_scipy(arrays):
    sparse = pytest.importorskip("scipy.sparse")
    want = cgc.condense(**arrays, nodes=6)
    edges = arrays.pop("edge_index")
    for form in ("csr", "coo", "csc"):
        adj = sparse.coo_matrix((np.ones(60), edges), (60, 60)).asformat(form)
        same(want, cgc.condense(adj=adj, **arrays, nodes=6))
    weighted = cgc.condense(adj=adj * 2.5, **arrays, nodes=6)
    assert not np.array_equal(weighted.x, want.x)
    # A matrix is the sum of its entries: each edge below is given as 1 + 1.5.
    twice = np.tile(edges, 2), np.repeat([1, 1.5], 60)
    indptr, order = np.arange(0, 121, 2), np.argsort(twice[0][0], kind="stable")
    for form in (
        sparse.coo_matrix(twice[::-1], (60, 60)), sparse.csr_matrix((twice[1][order], twice[0][1][order], indptr))
    ):  # fmt: skip
        same(weighted, cgc.condense(adj=form, **arrays, nodes=6))
        assert form.nnz == 120
    x = np.where(arrays["x"] > 1, arrays["x"], 0)
    a = cgc.condense(**{**arrays, "x": x}, adj=adj, nodes=6)
    b = cgc.condense(**{**arrays, "x": sparse.csc_matrix(x)}, adj=adj, nodes=6)
    np.testing.assert_allclose(a.x, b.x, atol=1e-5)


def test_a_missing_part_names_what_there_is(arrays):
    networkx = pytest.importorskip("networkx")
    with pytest.raises(cgc.Error, match=r"x is missing, .*; found club"):
        cgc.condense(networkx.karate_club_graph(), nodes=4)
    geometric = pytest.importorskip("torch_geometric")
    import torch

    data = geometric.data.Data(**{k: torch.from_numpy(v) for k, v in arrays.items() if k != "y"}, target=1)
    with pytest.raises(cgc.Error, match=r"y is missing, .*; found .*target"):
        cgc.condense(data, nodes=6)


def test_networkx(arrays):
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    for i in range(60):
        part = "train" if arrays["train_mask"][i] else "val" if arrays["val_mask"][i] else "test"
        graph.add_node(f"node {i}", x=arrays["x"][i], y=int(arrays["y"][i]), split=part)
    graph.add_edges_from((f"node {i}", f"node {j}") for i, j in arrays["edge_index"].T)
    same(cgc.condense(**arrays, nodes=6), cgc.condense(graph, nodes=6))
    for i, node in enumerate(graph):
        graph.nodes[node].pop("split")
        for part in ("train_mask", "val_mask", "test_mask"):  # a missing value is False, however it is written
            graph.nodes[node][part] = bool(arrays[part][i]) or (False, 0, np.nan, None, "False")[i % 5]
    same(cgc.condense(**arrays, nodes=6), cgc.condense(graph, nodes=6))
    for value in ("maybe", 2):
        graph.nodes["node 7"]["val_mask"] = value
        with pytest.raises(cgc.Error, match=f"val_mask of node 'node 7' is {value!r}, must be True or False"):
            cgc.condense(graph, nodes=6)
    graph.nodes["node 7"].pop("x")
    with pytest.raises(cgc.Error, match="node 'node 7' has no attribute x"):
        cgc.condense(graph, nodes=6)
    graph.nodes["node 7"]["x"] = [1.0]
    with pytest.raises(cgc.Error, match=r"x of node 'node 7' has shape \(1,\), expected \(8,\)"):
        cgc.condense(graph, nodes=6)


def test_torch(arrays):
    torch = pytest.importorskip("torch")
    tensors = {k: torch.from_numpy(v) for k, v in arrays.items()}
    same(cgc.condense(**arrays, nodes=6), cgc.condense(**tensors, nodes=6))
    tensors["x"] = tensors["x"].to(torch.bfloat16).requires_grad_()
    assert len(cgc.condense(**tensors, nodes=6).y) == 6


def test_sparse_tensors_of_torch(arrays):
    torch = pytest.importorskip("torch")
    want = cgc.condense(**arrays, nodes=6)
    edges = torch.from_numpy(arrays.pop("edge_index"))
    adj = torch.sparse_coo_tensor(edges, torch.ones(60), (60, 60))
    same(want, cgc.condense(adj=adj, **arrays, nodes=6))
    same(want, cgc.condense(adj=adj.to_sparse_csr(), **arrays, nodes=6))
    same(want, cgc.condense(adj=adj.to_dense(), **arrays, nodes=6))
    geometric = pytest.importorskip("torch_geometric")
    data = geometric.data.Data(edge_index=edges, **{k: torch.from_numpy(v) for k, v in arrays.items()})
    few = torch.where(data.x > 0.5, data.x, torch.zeros(()))
    fewer = cgc.condense(geometric.data.Data(**{**data.to_dict(), "x": few}), nodes=6)
    for x in (few.to_sparse(), few.to_sparse_csr()):
        found = cgc.condense(geometric.data.Data(**{**data.to_dict(), "x": x}), nodes=6)
        np.testing.assert_allclose(found.x.numpy(), fewer.x.numpy(), atol=1e-5)  # another order of sums
    with pytest.raises(cgc.Error, match=r"^x\[1, 0\] is not a finite number$"):
        bad = torch.sparse_coo_tensor(torch.tensor([[1], [0]]), torch.tensor([torch.nan]), (60, 8))
        cgc.condense(x=bad, edge_index=edges, **{k: v for k, v in arrays.items() if k != "x"}, nodes=6)
    with pytest.raises(cgc.Error, match=r"^x has shape \(60,\), expected"):
        cgc.condense(data, x=few[:, 0].to_sparse(), nodes=6)
    with pytest.raises(cgc.Error, match=r"^x is a tensor on the device meta"):
        cgc.condense(data, x=few.to("meta"), nodes=6)
    sparse = geometric.transforms.ToSparseTensor(layout=torch.sparse_csr)(data)
    assert "edge_index" not in sparse
    small = cgc.condense(sparse, nodes=6)
    assert isinstance(small, geometric.data.Data)
    np.testing.assert_array_equal(small.x.numpy(), want.x)


class SparseTensor:
    """A stand-in for torch_sparse's class of this name."""

    def __init__(self, row, col, value):
        self.parts = row, col, value

    def sizes(self):
        return [60, 60]

    def coo(self):
        return self.parts

    def coalesce(self):
        return self


def test_sparse_tensors_of_torch_sparse(arrays):
    want = cgc.condense(**arrays, nodes=6)
    row, column = arrays.pop("edge_index")
    for value in (None, np.ones(60)):
        same(want, cgc.condense(adj=SparseTensor(row, column, value), **arrays, nodes=6))


def test_the_only_graph_of_a_data_set_of_dgl(arrays):
    class Graph:
        """A stand-in for DGL's class of this name."""

        __module__ = "dgl"

        def edges(self):
            return arrays["edge_index"]

    Graph.edata, Graph.ndata = {}, {k: v for k, v in arrays.items() if k != "edge_index"}
    same(cgc.condense(**arrays, nodes=6), cgc.condense(type("Set", (list,), {"__module__": "dgl"})([Graph()]), nodes=6))
    with pytest.raises(cgc.Error, match=r"the data set has 2 graphs, expected one: data\[0\] is the first"):
        cgc.condense(type("Set", (list,), {"__module__": "dgl"})([Graph()] * 2), nodes=6)


def test_torch_geometric(arrays, tmp_path):
    torch = pytest.importorskip("torch")
    geometric = pytest.importorskip("torch_geometric")
    data = geometric.data.Data(**{k: torch.from_numpy(v) for k, v in arrays.items()})
    assert cgc.condense(data, nodes=6, method="cgc-d").y_soft.shape == (6, 3)
    small = cgc.condense(data, nodes=6, threshold=0.2, degree=0)
    assert isinstance(small, geometric.data.Data) and small.validate()
    assert small.num_nodes == 6 and small.num_edges > 0
    assert small.origin.config["nodes"] == 6 and small.weight.sum() == 30
    out = geometric.nn.GCNConv(8, 3)(small.x, small.edge_index, small.edge_weight)
    assert out.shape == (6, 3)
    cgc.save(small, tmp_path / "small.safetensors")
    same(cgc.load(tmp_path / "small.safetensors"), cgc.condense(**arrays, nodes=6, threshold=0.2, degree=0))
    assert cgc.evaluate(small, on=data, seeds=1, epochs=5)["gcn"].seeds == 1
    several = data.clone()
    for mask in ("train_mask", "val_mask"):  # the mask of test nodes has one split
        several[mask] = torch.stack([data.test_mask, data[mask]], 1)
    torch.save(several, tmp_path / "several.pt")
    for graph in (several, tmp_path / "several.pt"):
        second = cgc.condense(graph, nodes=6, split=1, method="cgc")
        same(second, cgc.condense(data, nodes=6, method="cgc"))
        assert cgc.evaluate(second, on=graph, seeds=1, epochs=2, split=1)["gcn"].seeds == 1
        assert cgc.load_dataset(graph, split=1).val_mask.sum() == 15
        with pytest.raises(cgc.Error, match=r"val_mask.* node 3.* in train_mask too"):
            cgc.condense(graph, nodes=6)
    lists = data.clone()
    for mask, name in (("train_mask", "train_idx"), ("val_mask", "valid_idx"), ("test_mask", "idx_test")):
        lists[name] = lists[mask].nonzero()[:, 0]
        del lists[mask]
    same(cgc.condense(lists, nodes=6, method="cgc"), cgc.condense(data, nodes=6, method="cgc"))
    lists.train_idx[1] = lists.train_idx[0]
    with pytest.raises(cgc.Error, match="train_idx has node 0 twice"):
        cgc.condense(lists, nodes=6)
    with pytest.raises(cgc.Error, match=r"small is a Data that cgc.condense did not make"):
        cgc.evaluate(data, on=data)
    for condensed in (small, cgc.load(tmp_path / "small.safetensors"), tmp_path / "small.safetensors"):
        with pytest.raises(cgc.Error, match="is a condensed graph, must be a"):
            cgc.condense(condensed, nodes=3)
    for name in ("weight", "target"):
        changed = small.clone()
        changed[name] = changed[name] * 2
        with pytest.raises(cgc.Error, match=rf"small\.{name} was changed, must be what small\.\w+ gives"):
            cgc.evaluate(changed, on=data)
    bare = geometric.transforms.ToSparseTensor()(small.clone())
    small.edge_weight = None
    for changed in (small, bare):
        cgc.save(changed, tmp_path / "changed.safetensors")
        same(cgc.load(tmp_path / "changed.safetensors"), cgc.load(tmp_path / "small.safetensors"))
    with pytest.raises(cgc.Error, match="small has 2 nodes and the source nodes of 6"):
        cgc.save(small.subgraph(torch.arange(2)), tmp_path / "changed.safetensors")
    small.y = None
    with pytest.raises(cgc.Error, match="small has no y, expected"):
        cgc.save(small, tmp_path / "changed.safetensors")


def test_torch_geometric_data_sets(arrays):
    """A data set with one graph is accepted as that graph. Other objects of the library cause a one-sentence error."""
    torch = pytest.importorskip("torch")
    geometric = pytest.importorskip("torch_geometric")
    data = geometric.data.Data(**{k: torch.from_numpy(v) for k, v in arrays.items()})

    class Graphs(geometric.data.Dataset):
        def __init__(self, graphs):
            super().__init__()
            self.graphs = graphs

        def len(self):
            return len(self.graphs)

        def get(self, idx):
            return self.graphs[idx]

    same(cgc.condense(Graphs([data]), nodes=6), cgc.condense(data, nodes=6))

    class Ogb(Graphs):
        def get_idx_split(self):
            masks = {"train": data.train_mask, "valid": data.val_mask, "test": data.test_mask}
            return {part: mask.nonzero().reshape(-1) for part, mask in masks.items()}

    bare = geometric.data.Data(x=data.x, y=data.y.reshape(-1, 1), edge_index=data.edge_index)
    same(cgc.condense(Ogb([bare]), nodes=6), cgc.condense(data, nodes=6))
    assert "train_idx" not in bare  # the caller's graph is as before
    typed = geometric.data.HeteroData({"paper": {"x": data.x, "y": data.y}})
    for value, expected in (
        (Graphs([data, data]), r"the data set has 2 graphs, expected one: data\[0\] is the first"),
        (typed, r"data is a HeteroData, .* data.to_homogeneous\(\) makes it"),
        (geometric.loader.DataLoader([data]), "data is a torch_geometric.loader.*, must be a torch_geometric Data"),
    ):
        with pytest.raises(cgc.Error, match=expected):
            cgc.condense(value, nodes=6)


@pytest.mark.parametrize("options", [{}, {"method": "cgc-d", "standardize": True}])
@pytest.mark.parametrize("end", [".pt", ".npz"])
def test_other_formats(demo, tmp_path, end, options):
    small = cgc.condense(demo, nodes=35, **options)
    own, other = tmp_path / "small.safetensors", tmp_path / f"small{end}"
    cgc.save(small, own)
    cgc.save(small, other)
    again = cgc.load(other)
    same(again, small)
    assert again.origin.metadata == small.origin.metadata
    command("convert", str(own), str(tmp_path / f"command{end}"))
    assert other.read_bytes() == (tmp_path / f"command{end}").read_bytes()
    assert cgc.evaluate(other, on=demo, seeds=1, epochs=2)["gcn"].seeds == 1


def test_other_formats_name_the_file(demo, tmp_path):
    small = cgc.condense(demo, nodes=7)
    with pytest.raises(cgc.Error, match=r"small\.xyz, must be a name that ends in .*\.parquet$"):
        cgc.save(small, tmp_path / "small.xyz")
    command("convert", "demo", str(tmp_path / "graph.pt"))
    with pytest.raises(cgc.Error, match=r"graph\.pt has the format 'cgc.graph', must have a condensed graph"):
        cgc.load(tmp_path / "graph.pt")


def test_numpy_opens_npz(demo, tmp_path):
    small = cgc.condense(demo, nodes=35)
    cgc.save(small, tmp_path / "small.npz")
    with np.load(tmp_path / "small.npz", allow_pickle=False) as z:
        for name in ("x", "y", "edge_index", "edge_weight", "members_indptr", "members_indices", "weight"):
            np.testing.assert_array_equal(z[name], getattr(small, name), err_msg=name)
        assert json.loads(str(z["cgc"])) == small.origin.metadata


def test_torch_opens_pt(arrays, tmp_path):
    torch = pytest.importorskip("torch")
    small = cgc.condense(**arrays, nodes=6, method="cgc-d")
    cgc.save(small, tmp_path / "small.pt")
    opened = torch.load(tmp_path / "small.pt", weights_only=True)
    for name in ("x", "y", "edge_index", "edge_weight", "members_indptr", "members_indices", "y_soft", "weight"):
        np.testing.assert_array_equal(opened[name].numpy(), getattr(small, name), err_msg=name)
    assert json.loads(opened["cgc"][0]) == small.origin.metadata and opened["y"].dtype == torch.int64
    opened["x"] = opened["x"].double() * 2  # a file written by torch can be read too
    torch.save(opened, tmp_path / "changed.pt")
    np.testing.assert_array_equal(cgc.load(tmp_path / "changed.pt").x, small.x * 2)


def test_torch_geometric_takes_pt(arrays, tmp_path):
    torch = pytest.importorskip("torch")
    geometric = pytest.importorskip("torch_geometric")
    data = geometric.data.Data(**{k: torch.from_numpy(v) for k, v in arrays.items()})
    torch.save(data, tmp_path / "graph.pt")
    want = cgc.condense(**arrays, nodes=6, threshold=0.2, degree=0)
    same(cgc.condense(tmp_path / "graph.pt", nodes=6, threshold=0.2, degree=0), want)
    cgc.save(want, tmp_path / "small.pt")
    small = geometric.data.Data.from_dict(torch.load(tmp_path / "small.pt", weights_only=True))
    assert small.validate() and small.num_nodes == 6 and small.num_edges == want.edge_index.shape[1]
    with pytest.raises(cgc.Error, match="on is a condensed graph, must be an original graph"):
        cgc.evaluate(small, on=small)
    cgc.save(small, tmp_path / "again.pt")
    assert (tmp_path / "again.pt").read_bytes() == (tmp_path / "small.pt").read_bytes()
    torch.save(cgc.condense(data, nodes=6, threshold=0.2, degree=0), tmp_path / "data.pt")
    same(cgc.load(tmp_path / "data.pt"), want)


def test_evaluate_gives_the_numbers_of_the_command(demo, tmp_path):
    small = cgc.condense(demo, nodes=35)
    table = cgc.evaluate(small, on=demo, models=["gcn", "sgc"], seeds=2, epochs=20)
    cgc.save(small, tmp_path / "s.safetensors")
    line = ["evaluate", str(tmp_path / "s.safetensors"), "--on=demo", "--models=gcn,sgc", "--seeds=2", "--epochs=20"]
    want = json.loads(subprocess.check_output([_run.binary(), *line, "--json", "--quiet"]))["results"]
    for row, score in zip(want, table):
        assert (row["model"], row["test_mean"], row["val_std"]) == (score.model, score.test_mean, score.val_std)
    assert table[1] is table["sgc"] and len(table) == 2
    assert "±" in repr(table) and " to " in repr(table) and "95% interval" in repr(table)
    same_file = cgc.evaluate(tmp_path / "s.safetensors", on="demo", seeds=1, epochs=5)
    assert "±" not in repr(same_file).split("\n", 1)[1]
    row = {**vars(same_file[0]), "seconds": 0.0432}
    assert repr(Table([row])).endswith(" 0.043") and repr(Table([{**row, "seconds": 12.3}])).endswith(" 12")


def test_report_writes_a_page(demo, tmp_path):
    small = cgc.condense(demo, nodes=35)
    cgc.report(small, demo, tmp_path / "r.html", seeds=1, epochs=5, ceilings=False, figures=str(tmp_path / "figures"))
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!") and "35" in page and "cgc-python-" not in page
    assert list((tmp_path / "figures").iterdir())
    cgc.save(small, tmp_path / "small.safetensors")
    cgc.report(tmp_path / "small.safetensors", "demo", tmp_path / "r.html", seeds=0, whole=0, ceilings=False)
    assert (tmp_path / "r.html").read_text(encoding="utf-8") != page
    with pytest.raises(cgc.Error, match=r"path is r\.htm, must end in \.html"):
        cgc.report(small, demo, "r.htm")
    with pytest.raises(cgc.Error, match=r"writing .*nowhere"):
        cgc.report(small, demo, tmp_path / "nowhere" / "r.html", seeds=0, whole=0, ceilings=False)
    with pytest.raises(cgc.UnknownArgument, match="report has no argument seed_, did you mean seed"):
        cgc.report(small, demo, "r.html", seed_=1)


def test_to_pandas(demo):
    pytest.importorskip("pandas")
    frame = cgc.evaluate(cgc.condense(demo, nodes=7), on=demo, seeds=1, epochs=2).to_pandas()
    assert list(frame["model"]) == ["gcn"] and "test_ci95" in frame


def test_tune_gives_a_configuration_for_condense(demo):
    best = cgc.tune(demo, nodes=35, trials=3, epochs=5, seed=1)
    small = cgc.condense(demo, config=best)
    assert best["nodes"] == 35 and small.origin.config["nodes"] == 35
    assert len(cgc.condense(demo, config=best, nodes=14).y) == 14
    assert cgc.condense(demo, config={"temperature": float("inf"), "nodes": 7}).origin.config["temperature"] == "inf"


def test_condense_takes_the_embeddings_of_a_file(tmp_path):
    path = tmp_path / "embeddings.safetensors"
    subprocess.check_call([_run.binary(), "propagate", "demo", "-o", path, "--quiet"], stdout=subprocess.DEVNULL)
    want = cgc.condense("demo", nodes=21, method="cgc")
    np.testing.assert_array_equal(cgc.condense("demo", nodes=21, embeddings=path).x, want.x)
    alone = cgc.condense(nodes=21, embeddings=path)
    np.testing.assert_array_equal(alone.x, want.x)
    np.testing.assert_array_equal(alone.members_indices, want.members_indices)
    with pytest.raises(cgc.Error, match="hops"):
        cgc.condense("demo", nodes=21, embeddings=path, hops=3)


def test_nothing_is_imported_unasked():
    program = "import sys, cgc; print([m for m in ('torch', 'scipy', 'pandas', 'networkx') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "[]"

"""Propagated features: their arrays, and a comparison with PyTorch Geometric."""

import re
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import cgc


def test_arrays(tmp_path):
    graph = cgc.load_dataset("demo")
    found = cgc.propagate(graph, tmp_path / "out", hops=2)
    assert isinstance(found.hops[0], np.memmap)
    np.testing.assert_array_equal(found.hops[0], graph.x)
    np.testing.assert_array_equal(found.y, graph.y)
    np.testing.assert_array_equal(found.train, np.flatnonzero(graph.train_mask))
    again = cgc.load_propagated(tmp_path / "out")
    np.testing.assert_array_equal(again.hops[2], found.hops[2])
    some = cgc.propagate(graph, tmp_path / "some", hops=2, part=["val", "train"])
    np.testing.assert_array_equal(some.nodes, np.flatnonzero(graph.train_mask | graph.val_mask))
    np.testing.assert_array_equal(some.hops[2], found.hops[2][some.nodes])
    np.testing.assert_array_equal(some.nodes[some.val], np.flatnonzero(graph.val_mask))
    (tmp_path / "ids.txt").write_text("9\n3\n")
    few = cgc.propagate(graph, tmp_path / "few", hops=2, only=tmp_path / "ids.txt")
    np.testing.assert_array_equal(few.nodes, [3, 9])
    np.testing.assert_array_equal(few.hops[2], found.hops[2][[3, 9]])
    half = cgc.propagate(graph, tmp_path / "half", hops=2, precision="half")
    np.testing.assert_array_equal(half.hops[0], graph.x)
    assert 0 < np.abs(half.hops[2] - found.hops[2]).max() < 0.01


def test_pyg_propagates_the_same(tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    from torch_geometric.nn.conv.gcn_conv import gcn_norm

    data = cgc.load_dataset("demo").to_pyg()
    index, weight = gcn_norm(data.edge_index, None, data.num_nodes)
    a = torch.sparse_coo_tensor(index, weight, (data.num_nodes, data.num_nodes))
    found, x = cgc.propagate(data, tmp_path / "out", hops=3), data.x
    for h in found.hops:
        np.testing.assert_allclose(h, x.numpy(), atol=1e-5)
        x = a @ x
    half = cgc.propagate(data, tmp_path / "out", hops=1, store="f16", part="test")
    assert half.hops[1].dtype == np.float16
    np.testing.assert_allclose(half.hops[1], found.hops[1][half.nodes], atol=2e-3)


def test_later_nodes_are_added(tmp_path):
    """Features of a causal graph grow by new nodes, and are those of PyTorch Geometric on edges from earlier nodes."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    from torch_geometric.nn.conv.gcn_conv import gcn_norm

    data = cgc.load_dataset("demo").to_pyg()
    whole = cgc.propagate(data, tmp_path / "whole", causal=True)
    grown = cgc.propagate(data.subgraph(torch.arange(3990)), tmp_path / "grown", causal=True)
    assert grown.hops[2].shape == (3990, 96)
    new = tmp_path / "new"
    new.mkdir()
    rows = [f"{v},{data.y[v]}," + ",".join(map(str, data.x[v].tolist())) for v in range(3990, 4000)]
    (new / "nodes.csv").write_text("\n".join(["id,label," + ",".join(f"f{i}" for i in range(96)), *rows]))
    edges = [f"{i},{j}" for i, j in data.edge_index.T.tolist() if max(i, j) >= 3990]
    (new / "edges.csv").write_text("\n".join(["source,target", *edges]))
    grown = cgc.propagate(new, tmp_path / "grown", add=True)
    for h, want in zip(grown.hops, whole.hops):
        np.testing.assert_array_equal(h, want)
    np.testing.assert_array_equal(grown.y, whole.y)
    (tmp_path / "labels.csv").write_text("id,label,split\n3999,1,train\n")
    late = cgc.propagate(tmp_path / "labels.csv", tmp_path / "grown", relabel=True)
    assert late.y[3999] == 1 and late.train[-1] == 3999 and len(late.train) == len(grown.train) + 1
    np.testing.assert_array_equal(late.y[:3999], whole.y[:3999])
    with closing(sqlite3.connect(tmp_path / "late.db")) as db, db:
        db.execute("create table t as select 3999 as item, 2 as class union select 3998, 5")
    query = "select item as id, class as label from t where id = 3999"
    late = cgc.propagate(tmp_path / "late.db", tmp_path / "grown", relabel=True, nodes_sql=query)
    assert late.y[3998] == whole.y[3998] and late.y[3999] == 2 and late.train[-1] == 3999
    one_way = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    index, weight = gcn_norm(one_way, None, data.num_nodes)
    a = torch.sparse_coo_tensor(index.flip(0), weight, (data.num_nodes, data.num_nodes))
    np.testing.assert_allclose(grown.hops[2], a @ (a @ data.x), atol=1e-5)
    end = (tmp_path / "grown" / "hop1.npy").stat().st_size
    with (tmp_path / "grown" / "hop1.npy").open("ab") as file:
        file.write(b"\0" * 384)  # an interrupted addition
    np.testing.assert_array_equal(cgc.load_propagated(tmp_path / "grown").hops[1], whole.hops[1])
    assert (tmp_path / "grown" / "hop1.npy").stat().st_size > end


def test_files_of_other_folders(tmp_path):
    """Each array has the rows, the features and the number type of propagate.json."""
    cgc.propagate("demo", tmp_path / "some", hops=1, part="val")
    cgc.propagate("demo", tmp_path / "half", hops=1, part="val", store="f16")
    cgc.propagate("demo", tmp_path / "all", hops=1)
    for source, file, found, must in (
        ("all", "hop1", "float32 of shape (4000, 96)", "float32 of shape (500, 96)"),
        ("half", "hop1", "float16 of shape (500, 96)", "float32 of shape (500, 96)"),
        ("all", "y", "int64 of shape (4000,)", "int64 of shape (500,)"),
        ("all", "nodes", "int64 of shape (4000,)", "int64 of shape (500,)"),
        ("all", "hop0", "float32 of shape (4000, 96)", "float32 of shape (500, 96)"),
    ):
        own = tmp_path / "some" / f"{file}.npy"
        kept = own.read_bytes()
        own.write_bytes((tmp_path / source / f"{file}.npy").read_bytes())
        message = f"{own} is {found}, must be {must}, as propagate.json says"
        with pytest.raises(cgc.Error, match=f"^{re.escape(message)}$"):
            cgc.load_propagated(tmp_path / "some")
        own.write_bytes(kept)
    np.save(tmp_path / "some" / "val.npy", np.zeros((3, 2), np.int64))
    with pytest.raises(cgc.Error, match=r"val\.npy is int64 of shape \(3, 2\), must be int64 of shape \(any,\)"):
        cgc.load_propagated(tmp_path / "some")
    (tmp_path / "some" / "propagate.json").write_text("[]")
    with pytest.raises(cgc.Error, match=r"must be a folder of cgc\.propagate"):
        cgc.load_propagated(tmp_path / "some")


def test_what_is_printed_has_the_sizes(tmp_path):
    found = cgc.propagate("demo", tmp_path / "few", hops=1, part="train", store="f16")
    assert repr(found) == "Propagated(demo: 140 of 4,000 nodes, 1 hops, 96 features, float16)"


def test_errors(tmp_path):
    with pytest.raises(cgc.Error, match=r"must be a folder of cgc\.propagate"):
        cgc.load_propagated(tmp_path)
    (tmp_path / "own").write_text("")
    with pytest.raises(cgc.Error, match="must be new, an empty folder or one of an earlier call"):
        cgc.propagate("demo", tmp_path)
    with pytest.raises(cgc.Error, match=r"path is .*e\.safetensors, must be a folder"):
        cgc.propagate("demo", tmp_path / "e.safetensors")
    assert not (tmp_path / "e.safetensors").exists()
    with pytest.raises(cgc.Error, match=f"^path {tmp_path}/no/x: there is no folder {tmp_path}/no$"):
        cgc.propagate("demo", f"{tmp_path}/no/x")
    (tmp_path / "ids.txt").write_text("9\nnine\n")
    with pytest.raises(cgc.Error, match=r'ids\.txt must list ids of nodes of demo: there is no node "nine"$'):
        cgc.propagate("demo", tmp_path / "few", only=tmp_path / "ids.txt")
    (tmp_path / "x.hops").mkdir()  # an empty folder is filled
    assert cgc.propagate("demo", f"{tmp_path}/x.hops", hops=0).hops[0].shape == (4000, 96)

"""Trained models: their files, their predictions, and their conversion to PyTorch Geometric's layers."""

import re

import numpy as np
import pytest

import cgc
from cgc._run import run

MODELS = ("sgc", "gcn", "sage", "appnp", "cheby", "gat")
VARIANTS = (
    "sgc:hops=3", "gcn:layers=1", "gcn:layers=3", "sage:layers=3", "appnp:hops=5:alpha=0.2", "cheby:layers=3:order=1",
    "cheby:layers=1:order=4", "gat:heads=3",
)  # fmt: skip


@pytest.fixture(scope="module")
def small():
    return cgc.condense("demo", nodes=21)


@pytest.mark.parametrize("name", MODELS + VARIANTS)
def test_pyg_gives_the_same_predictions(small, name):
    torch = pytest.importorskip("torch")
    utils = pytest.importorskip("torch_geometric.utils")
    data = cgc.load_dataset("demo").to_pyg()
    model = cgc.train(small, "demo", models=name, seeds=1, epochs=30, hidden=24)
    net = model.to_pyg()
    with torch.no_grad():
        logits = net(data.x, data.edge_index)
    nodes, y, probabilities = cgc.predict(model, "demo")
    assert nodes.tolist() == list(range(data.num_nodes))
    np.testing.assert_allclose(torch.softmax(logits, 1).numpy(), probabilities, atol=1e-4)
    assert (y == probabilities.argmax(1)).all()
    one_way = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    own = data.clone().update({"edge_index": torch.cat([one_way, one_way[:, :9], torch.arange(9).expand(2, 9)], 1)})
    found = cgc.predict(model, own)
    with torch.no_grad():
        logits = net(data.x, utils.to_undirected(utils.remove_self_loops(own.edge_index)[0]))
    np.testing.assert_allclose(torch.softmax(logits, 1).numpy(), found.probabilities, atol=1e-4)


# PyTorch Geometric's ChebConv divides by the degrees of outgoing edges, which later nodes change.
@pytest.mark.parametrize("name", [name for name in MODELS if name != "cheby"])
def test_causal_models_see_earlier_neighbours_in_pyg(name):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    data = cgc.load_dataset("demo").to_pyg()
    model = cgc.train(
        cgc.condense(data, nodes=21, method="cgc", causal=True), data, models=name, seeds=1, epochs=9, hidden=8
    )
    assert model.description["causal"]
    with torch.no_grad():
        logits = model.to_pyg()(data.x, data.edge_index[:, data.edge_index[0] < data.edge_index[1]])
    np.testing.assert_allclose(torch.softmax(logits, 1).numpy(), cgc.predict(model, data).probabilities, atol=1e-4)


def test_cheby_in_pyg_follows_its_device_and_type(small):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    net = cgc.train(small, "demo", models="cheby", seeds=1, epochs=5, hidden=8).to_pyg()
    x, edges = torch.rand(3, 96), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    weights = torch.tensor([1.0, 1.0, 2.0, 2.0], dtype=torch.float64)
    with torch.no_grad():
        wanted, found = net(x, edges, weights.float()), net.double()(x.double(), edges, weights)
    assert found.dtype == torch.float64
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    assert net.to("meta")(x.double().to("meta"), edges.to("meta")).device.type == "meta"


def test_model_survives_its_file(small, tmp_path):
    model = cgc.train(small, "demo", seeds=2, epochs=20, hidden=8, models=["gcn", "sgc"])
    model.save(tmp_path / "model.safetensors")
    again = cgc.load_model(tmp_path / "model.safetensors")
    assert again.description == model.description
    one, other = (
        cgc.predict(model, "demo", part="test"),
        cgc.predict(tmp_path / "model.safetensors", "demo", part="test"),
    )
    np.testing.assert_array_equal(one.probabilities, other.probabilities)
    right = (one.y == cgc.load_dataset("demo").y[one.nodes]).mean()
    assert right > 0.7
    with pytest.raises(cgc.Error, match=r"must end in \.safetensors"):
        model.save(tmp_path / "model.pt")
    (tmp_path / "folder.safetensors").mkdir()
    for path in (tmp_path / "nowhere" / "model.safetensors", tmp_path / "folder.safetensors"):
        with pytest.raises(cgc.Error, match=f"writing {re.escape(str(path))}: "):
            model.save(path)


def test_scaled_features(arrays):
    """A model trained on standardised features predicts from the original ones."""
    small = cgc.condense(**arrays, nodes=6, method="cgc", standardize=True)
    names = ("x", "y", "edge_index", "train_mask", "val_mask", "test_mask")
    torch_geometric = pytest.importorskip("torch_geometric")
    torch = pytest.importorskip("torch")
    data = torch_geometric.data.Data(**{k: torch.as_tensor(np.asarray(arrays[k])) for k in names})
    model = cgc.train(small, data, seeds=1, epochs=20, hidden=8)
    assert len(model.description["scaling_mean"]) == 8
    assert cgc.predict(model, data).probabilities.shape == (len(arrays["x"]), 3)


def test_mistakes_are_one_sentence(small, arrays, tmp_path):
    small.save(tmp_path / "small.safetensors")
    with pytest.raises(cgc.Error, match="not a trained model"):
        cgc.load_model(tmp_path / "small.safetensors")
    with pytest.raises(cgc.Error, match="not a trained model"):
        cgc.predict(tmp_path / "small.safetensors", "demo")
    for function in (cgc.predict, cgc.summarize):
        with pytest.raises(cgc.Error, match=r"model is a Condensed, must be what cgc\.train returned, or the path"):
            function(small, "demo")
    with pytest.raises(cgc.UnknownArgument, match="seeds"):
        cgc.train(small, "demo", seed_count=3)


def test_a_graph_without_labels_is_predicted(arrays, tmp_path):
    model = cgc.train(cgc.condense(**arrays, nodes=6), arrays, seeds=1, epochs=5, hidden=8)
    expected = cgc.predict(model, arrays).probabilities
    bare = {k: arrays[k] for k in ("x", "edge_index")}
    none = np.full(len(arrays["y"]), -1)
    columns = {f"f{j}": arrays["x"][:, j] for j in range(arrays["x"].shape[1])}
    source, target = arrays["edge_index"]
    table = cgc.tables({"id": np.arange(len(none)), **columns}, {"source": source, "target": target})
    for graph in (bare, {**bare, "y": none}, {**arrays, "y": none}, table):
        np.testing.assert_array_equal(cgc.predict(model, graph).probabilities, expected)
    assert cgc.summarize(model, bare).metadata
    assert cgc.propagate(bare, tmp_path / "hops").hops[0].shape == arrays["x"].shape
    assert cgc.load_dataset(bare).classes == 0
    with pytest.raises(cgc.Error, match="y is missing, expected a label for each node"):
        cgc.condense(bare, nodes=6)


def predicted(served, home, x, edge_index, names):
    """Return what the command predicts for new nodes. names are the ids of known nodes."""
    served.save(home / "served.safetensors")
    (home / "new").mkdir()
    header = ",".join(["id", *(f"f{k}" for k in range(x.shape[1]))])
    rows = [",".join([f"new-{i}", *(repr(float(v)) for v in row)]) for i, row in enumerate(x)]
    (home / "new" / "nodes.csv").write_text("\n".join([header, *rows, ""]))
    edges = [f"{names[u]},new-{v}" for u, v in zip(*edge_index)]
    (home / "new" / "edges.csv").write_text("\n".join(["source,target", *edges, ""]))
    run(["predict", str(home / "served.safetensors"), "--new", str(home / "new"), "-o", str(home / "p.csv")])
    lines = (home / "p.csv").read_text().splitlines()[1:]
    return np.array([[float(p) for p in line.split(",")[2:]] for line in lines])


@pytest.mark.parametrize("name", MODELS + VARIANTS)
def test_new_nodes_are_those_of_the_command(small, name, tmp_path):
    model = cgc.train(small, "demo", models=name, seeds=1, epochs=30, hidden=24 if name == "cheby" else 128)
    served = cgc.summarize(model, "demo", groups=50)
    demo = cgc.load_dataset("demo")
    x = demo.x[:40]
    new, known = np.nonzero(np.random.default_rng(1).random((40, len(demo.x))) < 0.001)
    new, known = np.append(new, new[:9]), np.append(known, known[:9])  # repeated edges are merged
    wanted = predicted(served, tmp_path, x, (known, new), range(len(demo.x)))
    np.testing.assert_allclose(served.predict_new(x, (known, new)), wanted, atol=1e-4)
    weights = np.linspace(1, 3, len(new))
    largest = served.predict_new(x, (known[9:], new[9:]), weights[9:])
    np.testing.assert_allclose(served.predict_new(x, (known, new), weights), largest, atol=1e-6)


def test_new_nodes_of_a_graph_with_ids(arrays, tmp_path):
    """New nodes refer to known nodes by their ids, and features are prepared as in training."""
    names = [f"node {i}" if i else "7" for i in range(len(arrays["x"]))]
    nodes = {"id": names, "label": arrays["y"], **{f"f{k}": column for k, column in enumerate(arrays["x"].T)}}
    source, target = ([names[i] for i in ends] for ends in arrays["edge_index"])
    graph = cgc.tables(nodes, {"source": source, "target": target})
    small = cgc.condense(graph, nodes=6, method="cgc", standardize=True, normalize_features=True)
    served = cgc.summarize(cgc.train(small, graph, seeds=1, epochs=20, hidden=8), graph, groups=10)
    x, edge_index = arrays["x"][:3] + 0.5, ([names[0], names[5], names[9]], [0, 0, 2])
    wanted = predicted(served, tmp_path, x, ([0, 5, 9], [0, 0, 2]), names)
    served = cgc.load_model(tmp_path / "served.safetensors")
    np.testing.assert_allclose(served.predict_new(x, edge_index), wanted, atol=1e-4)
    # A summary is no part of the weights that PyTorch Geometric loads.
    assert not any(name.startswith("known") for name in served.state_dict)
    tensor = pytest.importorskip("torch").tensor
    one = served.predict_new(x[:1], (["7"], [0]))
    np.testing.assert_array_equal(served.predict_new(x[:1], ([tensor(7)], [tensor(0)])), one)


def test_tuples_as_ids(arrays):
    grid = pytest.importorskip("networkx").grid_2d_graph(6, 10)
    for node, x, y in zip(grid, arrays["x"], arrays["y"]):
        grid.nodes[node].update(x=x, y=int(y))
    with pytest.warns(cgc.GraphWarning, match="without a split"):
        model = cgc.train(cgc.condense(grid, nodes=6), grid, seeds=1, epochs=5, hidden=8)
    served = cgc.summarize(model, grid, groups=6)
    found = served.predict_new(arrays["x"][:2], ([(0, 1), (4, 9)], [0, 1]))
    np.testing.assert_array_equal(found, served.predict_new(arrays["x"][:2], (["(0, 1)", "(4, 9)"], [0, 1])))


def test_mistakes_about_new_nodes(small):
    model = cgc.train(small, "demo", seeds=1, epochs=5, hidden=8)
    x = np.zeros((2, 96), np.float32)
    with pytest.raises(cgc.Error, match=r"the model has no summary of a graph, which cgc\.summarize adds"):
        model.predict_new(x, [[0], [0]])
    served = cgc.summarize(model, "demo", groups=20)
    for wrong, sentence in (
        ((x[:, 1:], [[0], [0]]), r"x has the shape \(2, 95\), must be \(new nodes, 96\)"),
        (([["a"] * 96], [[0], [0]]), "x has elements of type <U1, must have numbers"),
        ((np.where(np.arange(96) == 7, np.nan, x), [[0], [0]]), r"x\[0, 7\] is nan, must be a finite number"),
        ((x, [["a"], [0]]), r"edge_index\[0\] has elements of type <U1, must have integers"),
        ((x, [[0], ["b"]]), r"edge_index\[1\] has elements of type <U1, must have integers"),
        ((x, [[0, 1], [0]]), "edge_index must be 2 × E"),
        ((x, [[0], [2]]), "edge_index has new nodes from 2 to 2, must be 0 to 1"),
        ((x, [[4000], [1]]), "edge_index: node 4000 is not known, must be 0 to 3999"),
        ((x, None), "edge_index must be 2 × E"),
        ((x, [0, 1]), "edge_index must be 2 × E"),
        ((x, [[0], [1]], [[1.0]]), r"edge_weight has shape \(1, 1\), must be \(1,\): one weight for each edge"),
        ((x, [[0], [1]], ["1"]), "edge_weight has elements of type <U1, must have numbers"),
        ((x, [[0, 1], [1, 1]], [1.0, 0.0]), "edge_weight of edge 1 is 0.0, must be a positive finite number"),
        ((x, [[0], [1]], [np.inf]), "edge_weight of edge 0 is inf, must be a positive finite number"),
    ):
        with pytest.raises(cgc.Error, match=sentence):
            served.predict_new(*wrong)
    with pytest.raises(cgc.Error, match="groups"):
        cgc.summarize(model, "demo", groups=5000)
    served.known.degree = None
    with pytest.raises(cgc.Error, match="it has no degrees"):
        served.predict_new(x, [[0], [1]])

"""Tests with graphs made by DGL."""

import pytest
from test_results import same

import cgc

torch = pytest.importorskip("torch")
if torch.__version__.startswith("1.13.0a0"):  # Debian's version of 1.13.1, which DGL mistakes for an older one
    torch.__version__ = "1.13.1"
try:
    import dgl
except Exception as e:  # import dgl raises various errors if it does not fit torch
    pytest.skip(f"dgl: {e}", allow_module_level=True)


@pytest.fixture
def graph(arrays):
    made = dgl.graph(tuple(torch.from_numpy(e) for e in arrays.pop("edge_index")), num_nodes=60)
    made.ndata["feat"], made.ndata["label"] = torch.from_numpy(arrays.pop("x")), torch.from_numpy(arrays.pop("y"))
    made.ndata.update({k: torch.from_numpy(v) for k, v in arrays.items()})
    return made


def test_a_graph_goes_in(graph):
    source, target = (ends.numpy() for ends in graph.edges())
    data = {k: v.numpy() for k, v in graph.ndata.items()}
    want = cgc.condense(edge_index=[source, target], x=data.pop("feat"), y=data.pop("label"), **data, nodes=6)
    same(want, cgc.condense(graph, nodes=6))
    same(want, cgc.condense(dgl.add_self_loop(dgl.to_bidirected(graph, copy_ndata=True)), nodes=6))
    graph.edata["weight"] = torch.full((60,), 2.5)
    weighted = cgc.condense(graph, nodes=6)
    assert (weighted.x != want.x).any()
    assert cgc.evaluate(weighted, on=graph, epochs=3, seeds=1)["gcn"].test_mean > 0


def test_a_graph_comes_out(graph):
    small = cgc.condense(graph, nodes=6, threshold=0.2, degree=0)
    out = small.to_dgl()
    assert out.num_nodes() == 6 and out.num_edges() == small.edge_index.shape[1] > 0
    assert out.ndata["feat"].shape == (6, 8)
    assert cgc.condense(graph, nodes=6, method="cgc-d").to_dgl().ndata["soft_label"].shape == (6, 3)
    layer = dgl.nn.GraphConv(8, 3, allow_zero_in_degree=True)
    assert layer(dgl.add_self_loop(out), out.ndata["feat"]).shape == (6, 3)
    demo = cgc.load_dataset("demo")
    same(cgc.condense(demo, nodes=7), cgc.condense(demo.to_dgl(), nodes=7))


def test_mistakes_have_names_of_dgl(graph):
    with pytest.raises(cgc.Error, match="the DGL graph has several types of nodes or edges, expected one"):
        cgc.condense(dgl.heterograph({("a", "likes", "b"): ([0], [1])}), nodes=6)
    graph.ndata["val_mask"] = graph.ndata["train_mask"]
    with pytest.raises(cgc.Error, match="val_mask has node 0, which is in train_mask too"):
        cgc.condense(graph, nodes=6)
    graph.ndata["feat"][3, 1] = float("nan")
    with pytest.raises(cgc.Error, match=r"feat\[3, 1\] is not a finite number"):
        graph.ndata["val_mask"] = torch.zeros(60, dtype=torch.bool)
        cgc.condense(graph, nodes=6)
    graph.ndata.pop("label")
    with pytest.raises(cgc.Error, match="label is missing, expected a label for each node"):
        cgc.condense(graph, nodes=6)

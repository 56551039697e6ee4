"""Trained models: their files, their predictions, and the same models of PyTorch Geometric's layers."""

import numpy as np
import pytest

import cgc

MODELS = ("sgc", "gcn", "sage", "appnp", "cheby", "gat")


@pytest.fixture(scope="module")
def small():
    return cgc.condense("demo", nodes=21)


@pytest.mark.parametrize("name", MODELS)
def test_pyg_gives_the_same_predictions(small, name):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    data = cgc.load_dataset("demo").to_pyg()
    model = cgc.train(small, "demo", models=name, seeds=1, epochs=30, hidden=24)
    net = model.to_pyg()
    with torch.no_grad():
        logits = net(data.x, data.edge_index)
    nodes, y, probabilities = cgc.predict(model, "demo")
    assert nodes.tolist() == list(range(data.num_nodes))
    np.testing.assert_allclose(torch.softmax(logits, 1).numpy(), probabilities, atol=1e-4)
    assert (y == probabilities.argmax(1)).all()


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


def test_scaled_features(arrays):
    """A model trained on standardised features predicts the original ones."""
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
    with pytest.raises(cgc.UnknownArgument, match="seeds"):
        cgc.train(small, "demo", seed_count=3)

"""A condensed graph is tested only on the graph that it was made from, unless the caller allows another."""

import json

import numpy as np
import pytest

import cgc


def test_another_split_is_an_error_with_counts(arrays, tmp_path):
    small = cgc.condense(**arrays, nodes=6, name="ring", method="cgc")
    graph = cgc.load_dataset(_saved(arrays, tmp_path / "graph.npz"))
    swapped = {**arrays, "train_mask": arrays["test_mask"], "test_mask": arrays["train_mask"]}
    other = cgc.load_dataset(_saved(swapped, tmp_path / "other.npz"))
    brief = {"seeds": 1, "epochs": 2}
    assert cgc.evaluate(small, on=graph, **brief)["gcn"].test_mean >= 0
    with pytest.raises(cgc.Error, match=r"30 of the 30 nodes it was made from are test nodes of .*other_graph"):
        cgc.evaluate(small, on=other, **brief)
    page = tmp_path / "page.html"
    with pytest.raises(cgc.Error, match=r"30 of the 30 nodes it was made from are test nodes of .*other_graph"):
        cgc.report(small, other, page, seeds=0, whole=0, ceilings=False)
    with pytest.warns(cgc.GraphWarning, match="another split"):
        assert cgc.evaluate(small, on=other, other_graph=True, **brief)["gcn"].test_mean >= 0
    with pytest.warns(cgc.GraphWarning, match="another split"):
        cgc.report(small, other, page, seeds=0, whole=0, ceilings=False, other_graph=True)
    assert "another split" in page.read_text(encoding="utf-8")


def test_the_storage_of_a_graph_does_not_matter(arrays):
    small = cgc.condense(**arrays, nodes=6, name="ring")
    wide = {**arrays, "x": arrays["x"].astype(np.float64)}
    assert small.origin.metadata["source"] == cgc.condense(**wide, nodes=6).origin.metadata["source"]
    assert json.loads(small.origin.metadata["source"])["train_nodes"] == 30


def _saved(arrays, path):
    """Write arrays to a file in PyTorch Geometric's layout, without the package's own writer."""
    np.savez(path, **arrays)
    return path

"""Notes of the command become warnings in Python's terms, once per call."""

import os
import re
import subprocess
import sys
import warnings
from dataclasses import asdict, replace

import numpy as np
import pytest
from test_results import command

import cgc
from cgc import _run


def warned(make) -> list[warnings.WarningMessage]:
    """Return the warnings that a call shows with Python's default filters."""
    with warnings.catch_warnings(record=True) as found:
        warnings.resetwarnings()
        make()
    return found


def test_a_drawn_split_is_told_wherever_the_graph_comes_from(arrays, tmp_path):
    bare = {part: arrays[part] for part in ("x", "y", "edge_index")}
    np.savez(tmp_path / "bare.npz", **bare)
    none = {**bare, **dict.fromkeys(("train_mask", "val_mask", "test_mask"), np.zeros(60, bool))}
    np.savez(tmp_path / "none.npz", **none)
    nodes = {"label": arrays["y"], "age": arrays["x"][:, 0], "split": [None, ""] * 30}
    table = cgc.tables(nodes, dict(zip(("source", "target"), arrays["edge_index"])))
    for make in (
        lambda: cgc.condense(none, nodes=6), lambda: cgc.load_dataset(table),
        lambda: cgc.load_dataset(tmp_path / "none.npz"),
        lambda: cgc.condense(**bare, nodes=6), lambda: cgc.condense(tmp_path / "bare.npz", nodes=6),
        lambda: cgc.load_dataset(tmp_path / "bare.npz"), lambda: cgc.tune(**bare, nodes=6, trials=1, epochs=1),
    ):  # fmt: skip
        found = [w for w in warned(make) if "without a split" in str(w.message)]
        assert len(found) == 1 and found[0].category is cgc.GraphWarning and found[0].filename == __file__


def test_labels_from_1_are_warned_about(arrays):
    found = warned(lambda: cgc.condense(**{**arrays, "y": arrays["y"] + 1}, nodes=6, method="cgc"))
    assert [str(w.message) for w in found] == [
        "graph has no node of class 0: labels are the numbers of classes, counted from 0"
    ]


def test_each_graph_is_warned_about(arrays):
    bare = {part: arrays[part] for part in ("x", "y", "edge_index")}
    assert len(warned(lambda: [cgc.condense(**bare, nodes=6) for _ in range(3)])) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error", cgc.GraphWarning)
        with pytest.raises(cgc.GraphWarning, match="split"):
            cgc.condense(**bare, nodes=6)


def test_edges_that_were_merged_or_dropped_are_told(arrays):
    edges = np.concatenate([arrays["edge_index"], [[0, 0, 5], [1, 1, 5]]], axis=1)
    text = " ".join(str(w.message) for w in warned(lambda: cgc.condense(**{**arrays, "edge_index": edges}, nodes=6)))
    assert "1 self-loop dropped" in text and "merged" in text
    assert not warned(lambda: cgc.condense(**arrays, nodes=6))


def test_warnings_have_the_words_of_python(arrays):
    arrays["x"][:, 0] *= 1e6
    (found,) = warned(lambda: cgc.condense(**arrays, nodes=6))
    assert "standardize=True" in str(found.message)
    assert "--" not in str(found.message) and "Config" not in str(found.message)


def test_edge_attributes_that_may_be_weights_are_told(arrays):
    torch = pytest.importorskip("torch")
    geometric = pytest.importorskip("torch_geometric")
    data = geometric.data.Data(**{k: torch.from_numpy(v) for k, v in arrays.items()}, edge_attr=torch.ones(60))
    of_networkx = geometric.data.Data(**{k: torch.from_numpy(v) for k, v in arrays.items()}, weight=torch.ones(60))
    for given, name in (data, "edge_attr"), (of_networkx, "weight"):
        (found,) = warned(lambda given=given: cgc.load_dataset(given))
        assert str(found.message) == (
            f"name.{name} is not read: if it holds the weights of the edges, set name.edge_weight = name.{name}"
        )
    assert not warned(lambda: cgc.condense(data, edge_weight=data.edge_attr, nodes=6))
    data.edge_attr = torch.ones(60, 2)
    assert not warned(lambda: cgc.condense(data, nodes=6))


def test_nothing_is_warned_about_without_a_graph():
    def make():
        with pytest.raises(cgc.Error, match=r"^data is None"):
            cgc.condense(nodes=70)

    assert not warned(make)


def test_what_was_chosen_is_no_warning(tmp_path, monkeypatch):
    assert not warned(lambda: cgc.condense("demo"))
    file = tmp_path / "made.safetensors"
    command("data", "make", "--like", "cora", "-o", str(file), "--scale", "0.3")
    assert not warned(lambda: cgc.condense(file, nodes=20, memory=40_000_000))
    many = {"x": np.eye(8), "y": np.arange(8) % 2, "edge_index": [[0], [1]], "train_mask": np.ones((8, 3), bool)}
    np.savez(tmp_path / "many.npz", **many)
    for graph in (many, tmp_path / "many.npz"):
        assert not warned(lambda graph=graph: cgc.condense(graph, nodes=2, split=2))
        assert len(warned(lambda graph=graph: cgc.condense(graph, nodes=2))) == 1
    fake = tmp_path / "cgc"
    fake.write_text('#!/bin/sh\necho "note: confirmed: 16 s so far, about 67 s left" >&2\necho "{}"\n')
    fake.chmod(0o755)
    with monkeypatch.context() as own:
        own.setenv("CGC_BINARY", str(fake))
        assert os.name == "nt" or not warned(lambda: _run.run(["tune"]))
    monkeypatch.setattr(_run, "_CHOSEN", re.compile("nothing"))
    assert len(warned(lambda: cgc.condense(file, nodes=20, memory=40_000_000))) == 1


def test_the_program_sees_them_on_standard_error(arrays, tmp_path):
    np.savez(tmp_path / "bare.npz", **{part: arrays[part] for part in ("x", "y", "edge_index")})
    program = f"import cgc\nfor _ in range(2): cgc.condense({str(tmp_path / 'bare.npz')!r}, nodes=6)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.count("GraphWarning: bare comes without a split") == 2 and done.stdout == ""


def test_what_is_printed_names_the_graph_the_method_and_the_ratio(demo):
    small = cgc.condense(demo, nodes=35, method="cgc-x")
    assert repr(small) == "Condensed(demo: 35 of 4,000 nodes (0.88%), 0 edges, 96 features, 7 classes, method cgc-x)"
    assert repr(small.origin) == "Origin(demo: 35 of 4,000 nodes (0.88%), method cgc-x)"
    assert repr(cgc.Origin({"graph_nodes": "60"})) == "Origin(a graph, method unknown)"
    whole = replace(small, origin=cgc.Origin({**small.origin.metadata, "graph_nodes": "35"}))
    assert "35 of 35 nodes (100%)" in repr(whole)
    score = cgc.Score("gcn", 2, 90.0, 9.0, 90.0, 9.0, 80.9, 1.0, {})
    table = cgc.Table([asdict(score)])
    assert "90.0 ± 9.0  9.1 to 100.0" in repr(table)
    assert score.model in table and score in table and "other" not in table

"""Invalid input causes a one-sentence error in the caller's terms, and temporary files are always removed."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from test_kills import children

import cgc
from cgc import _safetensors, _scratch


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


BAD = {
    "masks overlap": (
        lambda a: {"val_mask": a["train_mask"]}, "val_mask has node 0, which is in train_mask too"),
    "a mask is empty": (lambda a: {"train_mask": np.zeros(60, bool)}, "train_mask is empty, must have at least 1 node"),
    "a mask is short": (lambda a: {"test_mask": np.ones(3, bool)}, r"test_mask has shape \(3,\), expected \(60,\)"),
    "a split beyond": (
        lambda a: {"train_mask": np.ones((60, 10), bool), "split": 10},
        "split 10, must be 0 to 9: train_mask holds 10 splits"),
    "a split that is no number": (lambda a: {"train_mask": np.ones((60, 2), bool), "split": "first"}, "split first, "),
    "masks in rows": (lambda a: {"train_mask": np.ones((10, 60), bool)}, r"train_mask has shape \(10,\), expected"),
    "a node twice": (lambda a: {"train_mask": [1, 1]}, "train_mask has node 1 twice"),
    "a node beyond": (lambda a: {"train_mask": [60]}, "train_mask has node 60, must have 0 to 59"),
    "train alone is missing": (lambda a: {"train_mask": None}, "train_mask is missing"),
    "train names a float": (
        lambda a: {"train_mask": [0.5]}, "train_mask has elements of type float64, must have a mask of"),
    "a part below 0": (lambda a: {"val_mask": [-1]}, "val_mask has node -1, must have 0 to 59"),
    "test overlaps train": (
        lambda a: {"test_mask": a["train_mask"], "val_mask": None}, "test_mask has node 0, which is in train_mask too"),
    "x with infinity": (lambda a: {"x": changed(a["x"], (59, 7), -np.inf)}, r"x\[59, 7\] is not a finite number"),
    "x of times": (lambda a: {"x": a["x"].astype("datetime64[s]")}, "x has elements of type datetime64"),
    "x of complex numbers": (lambda a: {"x": a["x"] + 1j}, "x has elements of type complex64, must have numbers"),
    "x without features": (
        lambda a: {"x": a["x"][:, :0]}, r"x has shape \(60, 0\), expected \(60, number of features\)"),
    "x is flat": (lambda a: {"x": a["x"][:, 0]}, r"x has shape \(60,\), expected \(60, number of features\)"),
    "x with nan": (lambda a: {"x": changed(a["x"], (3, 1), np.nan)}, r"x\[3, 1\] is not a finite number"),
    "x beyond float32": (lambda a: {"x": changed(a["x"].astype(float), (3, 1), 1e300)}, r"x\[3, 1\] is not a finite"),
    "x of words": (lambda a: {"x": np.full((60, 2), "a")}, "x has elements of type <U1, must have numbers"),
    "x of objects": (lambda a: {"x": np.full((60, 2), None)}, "x holds NoneType objects"),
    "x of another length": (lambda a: {"x": a["x"][:9]}, r"x has shape \(9, 8\), expected \(60, number of features\)"),
    "x is ragged": (lambda a: {"x": [[1.0], [1.0, 2.0]]}, "^x "),
    "no x": (lambda a: {"x": None}, "x is missing, expected the features"),
    "no y": (lambda a: {"y": None}, "y is missing, expected a label for each node"),
    "several labels": (
        lambda a: {"y": np.ones((60, 3), int)}, r"y has shape \(60, 3\), expected one label for each node"),
    "broken labels": (lambda a: {"y": a["y"] + 0.5}, "y of node 0 is 0.5, must be an integer"),
    "labels of two types": (
        lambda a: {"y": [1, "red"] * 30}, "y of node 0 is 1 and of node 1 'red', expected one type"),
    "a number among names": (lambda a: {"y": ["7", "red"] * 30}, "y of node 0 is the number '7' and of node 1 the"),
    "labels that are infinite": (lambda a: {"y": np.full(60, np.inf)}, "y of node 0 is inf, must be"),
    "no label at all": (lambda a: {"y": np.full(60, -1)}, "train_mask has node 0, which has no label in y"),
    "one label for all": (lambda a: {"y": 3}, r"y has shape \(\), expected one label for each node"),
    "no labels": (lambda a: {"y": []}, r"y has shape \(0,\), expected one label for each node"),
    "labels below none": (lambda a: {"y": a["y"] - 2}, "y of node 0 is -2, must be a class from 0"),
    "far too many classes": (lambda a: {"y": changed(a["y"], 5, 2**30)}, f"y: label {2**30} of node 5, must be 0 to"),
    "an unlabelled node trains": (lambda a: {"y": changed(a["y"], 4, -1)}, "train_mask has node 4, which has no label"),
    "no edges given": (lambda a: {"edge_index": None}, "edge_index is missing"),
    "edges of floats": (lambda a: {"edge_index": a["edge_index"] * 1.0}, "edge_index has elements of type float64"),
    "edges beyond": (
        lambda a: {"edge_index": changed(a["edge_index"], (1, 7), 60)}, "edge_index has node 60 in edge 7, must have"),
    "edges below": (
        lambda a: {"edge_index": changed(a["edge_index"], (0, 2), -1).T.copy().T}, "edge_index has node -1 in edge 2"),
    "edges flat": (
        lambda a: {"edge_index": a["edge_index"][0]}, r"edge_index has shape \(60,\), expected \(2, number of"),
    "edges of bools": (
        lambda a: {"edge_index": a["edge_index"] > 0}, "edge_index has elements of type bool, must have"),
    "edges of words": (
        lambda a: {"edge_index": [["a"], ["b"]]}, "edge_index has elements of type <U1, must have integers"),
    "edges far beyond": (
        lambda a: {"edge_index": changed(a["edge_index"], (1, 7), 2**40)}, f"edge_index has node {2**40} in edge 7"),
    "ragged edges": (lambda a: {"edge_index": [[1, 2], [1]]}, "^edge_index "),
    "a weight that is none": (
        lambda a: {"edge_weight": changed(np.ones(60), 7, np.nan)}, "edge_weight of edge 7 is nan, must be a positive"),
    "weights of words": (
        lambda a: {"edge_weight": ["a"] * 60}, "edge_weight has elements of type <U1, must have numbers"),
    "an adjacency that is not square": (
        lambda a: {"edge_index": None, "adj": np.ones((60, 3))}, r"adj has shape \(60, 3\), must be a square matrix"),
    "an adjacency of others": (
        lambda a: {"edge_index": None, "adj": np.ones((70, 70))}, r"adj has shape \(70, 70\), expected \(60, 60\)"),
    "edges upright": (lambda a: {"edge_index": a["edge_index"].T}, r"has shape \(60, 2\).*; edge_index.T has it"),
    "edges upright in a list": (
        lambda a: {"edge_index": a["edge_index"].T.tolist()}, r"; numpy.transpose\(edge_index\) has it"),
    "weights of another length": (
        lambda a: {"edge_weight": np.ones(7)}, r"edge_weight has shape \(7,\), expected \(60,\)"),
    "a weight below 0": (
        lambda a: {"edge_weight": changed(np.ones(60), 7, -2)}, "edge_weight of edge 7 is -2.0, must be a positive"),
    "two adjacencies": (lambda a: {"adj": np.eye(60)}, "adj and edge_index are given, must be one of them"),
    "too many nodes": (lambda a: {"nodes": 900}, "^nodes 900, "),
    "too few nodes": (lambda a: {"nodes": 2}, "^nodes 2, "),
    "nodes below 0": (lambda a: {"nodes": -5}, "^nodes -5, "),
    "several sizes": (lambda a: {"nodes": [6, 9]}, r"^nodes is \[6, 9\], must be one number"),
    "half a node": (lambda a: {"nodes": 6.5}, "^nodes 6.5, must be an integer of at least 1$"),
    "no node": (lambda a: {"nodes": 0}, "^nodes 0, must be an integer of at least 1$"),
    "a truth value for a size": (lambda a: {"nodes": True}, "^nodes True, must be an integer of at least 1$"),
    "a word for a switch": (lambda a: {"standardize": "yes"}, "^standardize yes, must be True or False$"),
    "an empty list": (lambda a: {"method": []}, r"^method is \[\], must have at least 1 value$"),
    "an argument among the parameters": (
        lambda a: {"method": "cgc", "params": {"hops": 3}}, "^params hops=3: the parameters of cgc are arguments, as"),
    "a name that is a number": (lambda a: {"name": 5}, "^name is a int, must be a string$"),
    "a class without training nodes": (
        lambda a: {"train_mask": a["train_mask"] & (a["y"] > 0)}, "^class 0 of the graph has 0 training nodes"),
    "one split of one": (lambda a: {"split": 1}, "^split 1, must be 0: there is only one split$"),
    "a share above 1": (lambda a: {"ratio": 1.5}, "^ratio 1.5, "),
    "a share of 0": (lambda a: {"label_ratio": 0}, "^label_ratio 0, "),
    "a temperature of 0": (lambda a: {"temperature": 0}, "^temperature 0, "),
    "two sizes": (lambda a: {"nodes": 6, "ratio": 0.5}, "^nodes and ratio exclude each other"),
    "several mistakes": (lambda a: {"hops": -1, "alpha": -2}, "^hops -1, .*at least 0; alpha -2, "),
    "a word for a number": (lambda a: {"nodes": "many"}, "^nodes many, "),
    "an object for a number": (lambda a: {"nodes": object()}, "nodes is of type object, must be a number"),
    "an unknown method": (lambda a: {"method": "magic"}, "^method magic, .*cgc, cgc-x"),
    "a wrong configuration": (lambda a: {"config": {"alpha": -1}}, "^config: alpha -1, "),
    "an unknown key": (lambda a: {"config": {"alhpa": 1}}, '^config: .*unknown field "alhpa"'),
    "parameters that are no dictionary": (lambda a: {"params": "foo"}, "params is 'foo', must be a dictionary"),
    "a configuration that is none": (lambda a: {"config": 5}, r"config is a int, .* \(small.origin.config\) or a path"),
    "an object that is no graph": (
        lambda a: {"data": object()}, "data is a builtins.object, must be a torch_geometric"),
    "a path and arrays": (lambda a: {"data": "demo"}, "the path demo are given, must be one of them"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input(arrays, name):
    change, expected = BAD[name]
    with pytest.raises(cgc.Error, match=expected) as found:
        cgc.condense(**{**arrays, **change(arrays)})
    text = str(found.value)
    assert "/" not in text and "--" not in text and "\n" not in text


def test_unknown_arguments(arrays):
    with pytest.raises(cgc.UnknownArgument, match="condense has no argument node, did you mean nodes"):
        cgc.condense(**arrays, node=6)
    with pytest.raises(TypeError, match="did you mean train_mask"):
        cgc.condense(train_msk=1)
    with pytest.raises(cgc.Error, match="evaluate has no argument zzz, must be one of"):
        cgc.evaluate(None, on="demo", zzz=1)


def test_arguments_that_are_no_path_and_no_graph(arrays, tmp_path):
    small = cgc.condense(**arrays, nodes=6)
    model = cgc.train(small, on=arrays, seeds=1, epochs=2)
    for use in (
        cgc.load,
        cgc.load_model,
        cgc.load_propagated,
        model.save,
        lambda path: cgc.save(small, path),
        lambda path: cgc.report(small, arrays, path),
        lambda path: cgc.propagate(arrays, path),
    ):
        for path, found in ((None, "None"), (3, "a int"), (b"small.pt", "a bytes")):
            with pytest.raises(cgc.Error, match=f"^path is {found}, must be a string or a pathlib.Path$"):
                use(path)
    with pytest.raises(cgc.Error, match=r"^data is None, must be a graph, or its parts by name"):
        cgc.condense()
    with pytest.raises(cgc.Error, match=r"^name is None, must be a graph$"):
        cgc.load_dataset(None)
    with pytest.raises(cgc.Error, match=r"^data is None, must be a graph$"):
        cgc.search(None)
    with pytest.raises(cgc.Error, match=r"^condensed is a dict that cgc.condense did not make"):
        cgc.search(arrays, arrays)
    with pytest.raises(cgc.Error, match=r"^nodes with condensed, must be without"):
        cgc.search(arrays, small, nodes=6)
    with pytest.raises(cgc.Error, match=r"^nodes is missing, must be the number of condensed nodes$"):
        cgc.cut(small)
    for node in (1.0, "1"):
        with pytest.raises(cgc.Error, match=f"^node is {node!r}, must be an integer from 0 to 5$"):
            small.members(node)
    bare = {k: v for k, v in arrays.items() if k != "val_mask"}
    with pytest.raises(cgc.Error, match=r"^val_mask has no node, must have at least 1$"):
        cgc.search(bare, nodes=6)
    file = tmp_path / "small.npz"
    small.save(file)
    with pytest.raises(cgc.Error, match=r"small\.npz is a condensed graph, must be an original graph: cgc\.load reads"):
        cgc.load_dataset(file)


def test_files_that_are_no_condensed_graph(tmp_path, arrays):
    file = tmp_path / "small.safetensors"
    cgc.condense(**arrays, nodes=6).save(file)
    whole = file.read_bytes()
    for size in (0, 4, 100, len(whole) - 1):
        file.write_bytes(whole[:size])
        with pytest.raises(cgc.Error, match="a safetensors file"):
            cgc.load(file)
    file.write_bytes(whole.replace(b"cgc-condensed", b"cgc-condenced"))
    with pytest.raises(cgc.Error, match="has the format 'cgc-condenced'"):
        cgc.load(file)
    _safetensors.write(file, [], {"format": "cgc-condensed", "format_version": "1"})
    with pytest.raises(cgc.Error, match="lacks a tensor"):
        cgc.load(file)
    with pytest.raises(cgc.Error, match="nowhere"):
        cgc.load(tmp_path / "nowhere")
    with pytest.raises(cgc.Error, match="nowhere"):
        cgc.save(cgc.condense(**arrays, nodes=6), tmp_path / "nowhere" / "small.safetensors")
    with pytest.raises(cgc.Error, match="is not a graph, folder or file"):
        cgc.load_dataset("nowhere")


def test_a_command_that_is_missing_or_broken(arrays, monkeypatch, tmp_path):
    monkeypatch.setenv("CGC_BINARY", str(tmp_path / "cgc"))
    with pytest.raises(cgc.Error, match="set CGC_BINARY"):
        cgc.condense(**arrays, nodes=6)
    (tmp_path / "cgc").write_text("nothing")
    with pytest.raises(cgc.Error, match="does not start"):
        cgc.condense(**arrays, nodes=6)


def test_a_path_with_a_leading_hyphen(arrays, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    cgc.save(cgc.condense(**arrays, nodes=6), "-small.safetensors")
    assert cgc.cut("-small.safetensors", nodes=4).x.shape[0] == 4
    with pytest.raises(cgc.Error, match="there is no file or folder"):
        cgc.load_dataset("--help")


needs_signals = pytest.mark.skipif(os.name == "nt", reason="no signals to send")


@needs_signals
@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("kill -9 $$", "ended by signal 9, as the system does when memory runs out"),
        ("echo done", "prints no JSON, must be the command cgc: see CGC_BINARY"),
    ],
)
def test_a_killed_child_and_another_command(script, sentence, arrays, monkeypatch, tmp_path):
    fake = tmp_path / "cgc"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("CGC_BINARY", str(fake))
    with pytest.raises(cgc.Error, match=sentence):
        cgc.condense(**arrays, nodes=6)


@needs_signals
@pytest.mark.parametrize("terminal", [False, True])
def test_ctrl_c_stops_the_child_and_removes_the_files(terminal, tmp_path):
    program = "import cgc; cgc.tune('demo', nodes=35, trials=100000)"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    here, there = os.openpty()
    try:
        errors = there if terminal else subprocess.PIPE
        python = subprocess.Popen([sys.executable, "-c", program], stderr=errors, env=environment)
        end = time.monotonic() + 60
        while not (started := children(python.pid)):
            assert python.poll() is None and time.monotonic() < end
            time.sleep(0.05)
        time.sleep(0.3)
        python.send_signal(signal.SIGINT)
        said = b"" if terminal else python.communicate(timeout=30)[1]
        assert python.wait(30) != 0
        assert terminal or b"KeyboardInterrupt" in said
    finally:
        os.close(here)
        os.close(there)
    assert not any(alive(child) for child in started)
    assert not list(tmp_path.iterdir())


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_folder_goes_where_there_is_room(tmp_path, monkeypatch):
    monkeypatch.setattr(_scratch.tempfile, "tempdir", str(tmp_path))
    with _scratch.folder(1 << 60) as home:
        assert home.parent == tmp_path
    assert not home.exists()


def test_another_split_is_an_error_with_counts(arrays, tmp_path):
    small = cgc.condense(**arrays, nodes=6, name="ring", method="cgc")
    graph = cgc.load_dataset(_saved(arrays, tmp_path / "graph.npz"))
    swapped = {**arrays, "train_mask": arrays["test_mask"], "test_mask": arrays["train_mask"]}
    other = cgc.load_dataset(_saved(swapped, tmp_path / "other.npz"))
    brief = {"seeds": 1, "epochs": 2}
    assert cgc.evaluate(small, on=graph, **brief)["gcn"].test_mean >= 0
    with pytest.raises(
        cgc.Error, match=r"30 of the 30 nodes it was made from are test nodes of .*; other_graph=True allows it"
    ):
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

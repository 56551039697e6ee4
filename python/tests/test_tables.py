"""Graphs in tables, and the names of nodes and classes."""

import contextlib
import importlib.util
import os
import re
import sqlite3
import warnings

import numpy as np
import pytest
from conftest import COLOURS, NAMES
from test_results import command, same

import cgc
from cgc import _names


def frames(columns):
    pandas = pytest.importorskip("pandas")
    return tuple(pandas.DataFrame(c) for c in columns)


def test_the_bytes_are_those_of_a_folder_with_the_same_tables(columns, tmp_path):
    nodes, edges = frames(columns)
    nodes["split"] = nodes["split"].replace({"val": " Validation", "test": "TEST"})
    folder = tmp_path / "people"
    folder.mkdir()
    nodes.to_csv(folder / "nodes.csv", index=False)
    edges.to_csv(folder / "edges.csv", index=False)
    small = cgc.condense(cgc.tables(nodes, edges, name="people"), nodes=6)
    cgc.save(small, tmp_path / "ours.safetensors")
    command("condense", str(folder), "-o", str(tmp_path / "theirs.safetensors"), "--nodes=6")
    assert (tmp_path / "ours.safetensors").read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()
    assert small.class_names == ["blue", "dark green", "red"]
    loaded = cgc.load(tmp_path / "theirs.safetensors")
    assert loaded.members(0)[0] == small.members(0)[0] and loaded.class_names == small.class_names
    cgc.save(loaded, tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()
    graph = cgc.load_dataset(folder)
    assert graph.ids == NAMES.tolist() and graph.class_names == small.class_names
    again = cgc.condense(graph, nodes=6)
    assert again.members(5)[0] == small.members(5)[0] and again.origin.metadata["class_names"]
    assert cgc.evaluate(small, on=cgc.tables(nodes, edges), epochs=3, seeds=1)["gcn"].test_mean > 0


def test_members_and_classes_have_their_names(arrays, columns):
    small = cgc.condense(cgc.tables(*columns), nodes=6, method="cgc")
    plain = cgc.condense(**arrays, nodes=6, method="cgc")
    assert sorted(n for i in range(6) for n in small.members(i)[0]) == sorted(NAMES[arrays["train_mask"]])
    for i in range(6):
        for name, number in zip(small.members(i)[0], small.members_indices[slice(*small.members_indptr[i : i + 2])]):
            assert NAMES[number] == name and COLOURS[arrays["y"][number]] == small.class_names[small.y[i]]
    assert plain.class_names is None and plain.members_ids is None
    assert plain.members(-1)[0].tolist() == plain.members(5)[0].tolist()
    with pytest.raises(cgc.Error, match="node is 6, must be an integer from 0 to 5"):
        plain.members(6)


def test_ids_keep_their_type(arrays, columns, tmp_path):
    nodes, edges = columns
    ids = 1000 + 7 * np.arange(60)[::-1]
    edges = {"source": ids[arrays["edge_index"][0]], "target": ids[arrays["edge_index"][1]].tolist()}
    small = cgc.condense(cgc.tables({**nodes, "id": ids}, edges), nodes=6, method="cgc")
    assert all(isinstance(m, (int, np.integer)) for m in small.members(0)[0])
    assert set(small.members_ids) == set(ids[arrays["train_mask"]])
    small.save(tmp_path / "s.safetensors")
    assert cgc.load(tmp_path / "s.safetensors").members(0)[0] == [str(m) for m in small.members(0)[0]]


@pytest.mark.parametrize("first", [2**53, 2**63 - 30])
@pytest.mark.parametrize("kinds", [("int64", "uint64"), ("uint64", "int64"), ("uint64", "uint64"), ("O", "uint64")])
def test_large_ids_are_compared_exactly(arrays, columns, first, kinds):
    ids = np.array([first + i for i in range(60)], "O")
    source, target = ids[arrays["edge_index"]]
    if "int64" in kinds and first > 2**53:
        ids, source, target = ids - 30, source - 30, target - 30
    nodes = {**columns[0], "id": ids.astype(kinds[0])}
    edges = {"source": source.astype(kinds[1]), "target": target.astype(kinds[1])}
    graph = cgc.load_dataset(cgc.tables(nodes, edges))
    np.testing.assert_array_equal(graph.edge_index, cgc.load_dataset(arrays).edge_index)
    assert graph.ids == ids.tolist()
    for given in (
        ({**nodes, "id": ids.astype(float)}, edges), (nodes, {**edges, "target": target.astype(float)}),
        (nodes, {**edges, "target": list(map(float, ids))}),
    ):  # fmt: skip
        with pytest.raises(cgc.Error, match=r"\['(id|target)'\] of row 0 is the float64 .*, must be an integer"):
            cgc.load_dataset(cgc.tables(*given))


def test_tables_of_all_kinds_give_the_same(arrays, columns):
    nodes, edges = columns
    want = cgc.condense(cgc.tables(nodes, edges), nodes=6)
    listed = [{k: list(v) for k, v in c.items()} for c in columns]
    same(want, cgc.condense(cgc.tables(*listed), nodes=6))
    pn, pe = frames(columns)
    pn["label"] = pn["label"].astype("category")
    pn["f0"] = pn["f0"].astype("Float32")
    same(want, cgc.condense(cgc.tables(pn.astype({"id": "string"}), pe), nodes=6))
    by_index = cgc.condense(cgc.tables(pn.set_index("id"), pe), nodes=6)
    same(want, by_index)
    assert by_index.members(0)[0] == want.members(0)[0]
    renamed = pn.rename(columns={"id": "who", "label": "team", "split": "role"})
    lists = renamed[["who", "team", "role"]].assign(vector=list(arrays["x"]))
    ends = pe.rename(columns={"source": "a", "target": "b"}).assign(w=1.0)
    graph = cgc.tables(
        lists, ends, id="who", label="team", split="role", features="vector", source="a", target="b", weight="w"
    )
    same(want, cgc.condense(graph, nodes=6))
    assert repr(graph) == "Tables(graph: 60 nodes, 60 edges)"
    for library in ("polars", "pyarrow"):
        try:
            module = __import__(library)
        except ImportError:
            continue
        make = module.DataFrame if library == "polars" else module.table
        same(want, cgc.condense(cgc.tables(make(listed[0]), make(listed[1])), nodes=6))


def test_columns_of_masks_are_the_split(arrays, columns):
    nodes, edges = columns
    want = cgc.condense(cgc.tables(nodes, edges), nodes=6)
    masks = {part: arrays[part] for part in ("train_mask", "val_mask")}
    masks["TEST_MASK"] = [1.0 if t else np.nan for t in arrays["test_mask"]]
    bare = {k: v for k, v in nodes.items() if k != "split"}
    same(want, cgc.condense(cgc.tables({**bare, **masks}, edges), nodes=6))
    masks["learn"] = masks.pop("train_mask").astype(int)
    same(want, cgc.condense(cgc.tables({**bare, **masks}, edges, train_mask="learn"), nodes=6))
    masks["valid_mask"] = masks.pop("val_mask")  # another name, as in the command's tables
    same(want, cgc.condense(cgc.tables({**bare, **masks}, edges, train_mask="learn"), nodes=6))


def test_columns_of_lists_are_features_beside_others(arrays, columns, tmp_path):
    pandas = pytest.importorskip("pandas")
    x, edges = arrays["x"], columns[1]
    rest = {k: columns[0][k] for k in ("id", "label", "split")}
    nodes = {**rest, "emb": list(x[:, :3]), "age": x[:, 3], "more": x[:, 4:].tolist(), "one": x[:, :1]}
    graph = cgc.load_dataset(cgc.tables(pandas.DataFrame({**nodes, "one": x[:, :1].tolist()}), edges))
    np.testing.assert_array_equal(graph.x, np.hstack([x, x[:, :1]]))
    assert graph.feature_names == ["emb[0]", "emb[1]", "emb[2]", "age", *(f"more[{i}]" for i in range(4)), "one"]
    again = cgc.load_dataset(cgc.tables({**nodes, "emb": x[:, :3]}, edges))
    np.testing.assert_array_equal(again.x, graph.x)
    some = cgc.load_dataset(cgc.tables(nodes, edges, features=["age", "emb"]))
    np.testing.assert_array_equal(some.x, x[:, [3, 0, 1, 2]])
    assert cgc.load_dataset(cgc.tables({**rest, "emb": x}, edges)).feature_names is None
    if importlib.util.find_spec("pyarrow"):
        pandas.DataFrame({**nodes, "one": x[:, :1].tolist()}).to_parquet(tmp_path / "nodes.parquet")
        pandas.DataFrame(edges).to_parquet(tmp_path / "edges.parquet")
        of_files = cgc.load_dataset(tmp_path)
        assert of_files.feature_names == graph.feature_names
        np.testing.assert_array_equal(of_files.x, graph.x)
    torch = pytest.importorskip("torch")
    tensors = {**rest, "emb": torch.from_numpy(x[:, :2]).bfloat16(), "age": torch.ones(60).bfloat16()}
    assert cgc.load_dataset(cgc.tables(tensors, edges)).x.shape == (60, 3)


def test_numbers_name_columns(arrays):
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame(arrays["x"])
    nodes, edges = x.assign(y=arrays["y"]).set_axis(range(9), axis=1), pandas.DataFrame(arrays["edge_index"].T)
    roles = {"label": 8, "source": 0, "target": 1}
    want = cgc.condense(x=arrays["x"], y=arrays["y"], edge_index=arrays["edge_index"], nodes=6)
    same(want, cgc.condense(cgc.tables(nodes, edges, **roles), nodes=6))
    same(want, cgc.condense(cgc.tables(nodes, edges, features=range(8), **roles), nodes=6))
    assert cgc.condense(cgc.tables(nodes, edges, features=0, **roles), nodes=6).x.shape == (6, 1)
    with pytest.raises(cgc.Error, match="nodes has no column 9 for label"):
        cgc.tables(nodes, edges, **{**roles, "label": 9})


def test_a_frame_is_x(arrays):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(arrays["x"]).assign(known=arrays["x"][:, 0] > 0)
    want = cgc.condense(**{**arrays, "x": frame.to_numpy(np.float32)}, nodes=6)
    same(want, cgc.condense(**{**arrays, "x": frame}, nodes=6))
    with pytest.raises(cgc.Error, match="x holds str objects in column 'team', must hold an array of numbers"):
        cgc.condense(**{**arrays, "x": frame.assign(team="red")}, nodes=6)


@pytest.mark.parametrize("name", ["Unnamed: 0", "Unnamed: 0.1", "", "index", "__index_level_0__"])
def test_an_index_that_pandas_wrote_is_no_feature(columns, tmp_path, name):
    pandas = pytest.importorskip("pandas")
    nodes, edges = frames(columns)
    plain = cgc.condense(cgc.tables(nodes, edges), nodes=6)
    nodes.to_csv(tmp_path / "nodes.csv")
    read = pandas.read_csv(tmp_path / "nodes.csv").rename(columns={"Unnamed: 0": name})
    with pytest.warns(cgc.GraphWarning, match=re.escape(f"the column {name!r} is left out of the features")) as found:
        small = cgc.condense(cgc.tables(read, edges), nodes=6)
    assert len(found) == 1 and found[0].filename == __file__
    np.testing.assert_array_equal(small.x, plain.x)
    asked = cgc.condense(cgc.tables(read, edges, features=[name, "f0"]), nodes=6)
    assert asked.x.shape[1] == 2


def test_columns_that_the_command_notes_are_warned_about(columns, tmp_path):
    nodes, edges = frames(columns)
    nodes, edges = nodes.assign(team=0.0, Class=1.0, y=2.0, node_id=3.0), edges.assign(w=2.0, note="-")
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    edges.to_csv(tmp_path / "edges.csv", index=False)
    told = []
    for graph in (tmp_path, cgc.tables(nodes, edges)):
        with pytest.warns(cgc.GraphWarning) as found:
            cgc.load_dataset(graph)
        told.append([re.sub(".*(nodes|edges)(.csv)?: ", "", str(w.message)).replace(", or weight=… names it", "")
                     for w in found])  # fmt: skip
    assert sorted(told[0]) == sorted(told[1]) and len(told[1]) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cgc.load_dataset(cgc.tables(nodes, edges[["source", "target", "w"]], weight="w", features=["f0", "Class"]))


def test_a_split_among_the_features_is_warned_about(columns):
    nodes, edges = columns
    nodes = {"is_train" if n == "split" else n: [1] * 60 if n == "split" else c for n, c in nodes.items()}
    with pytest.warns(cgc.GraphWarning) as found:
        cgc.load_dataset(cgc.tables(nodes, edges))
    assert any("there is no split, and column is_train is a feature: if" in str(w.message) for w in found)


def test_a_feature_called_unnamed_stays(columns):
    nodes, edges = columns
    more = {"unnamed": range(60), "Unnamed: one": range(60), "index": range(60)}
    small = cgc.condense(cgc.tables({**nodes, **more}, edges), nodes=6)
    assert small.x.shape[1] == 11


def test_rows_without_names_and_labels_that_do_not_start_at_0(arrays, columns):
    nodes, _ = columns
    source, target = arrays["edge_index"]
    bare = {k: v for k, v in nodes.items() if k != "id"}
    edges = {"source": source, "target": target.astype(float)}
    small = cgc.condense(cgc.tables({**bare, "label": 10 * (arrays["y"] + 1)}, edges), nodes=6)
    same(small, cgc.condense(**arrays, nodes=6))
    assert small.members_ids is None and small.class_names == ["10", "20", "30"]
    numbered = cgc.condense(cgc.tables({**bare, "label": arrays["y"].astype(str)}, edges), nodes=6)
    assert numbered.class_names is None
    some = np.where(arrays["test_mask"], None, COLOURS[arrays["y"]])
    graph = cgc.tables({**bare, "label": some, "split": np.where(arrays["test_mask"], None, nodes["split"])}, edges)
    assert cgc.condense(graph, nodes=6).class_names == ["blue", "dark green", "red"]


def test_labels_of_arrays_may_be_names(arrays):
    y = COLOURS[arrays["y"]]
    small = cgc.condense(**{**arrays, "y": y}, nodes=6)
    assert small.class_names == ["blue", "dark green", "red"] and small.y.tolist() == [0, 0, 1, 1, 2, 2]
    listed = cgc.condense(**{**arrays, "y": [None if t else v for v, t in zip(y, arrays["test_mask"])],
                             "test_mask": None}, nodes=6)  # fmt: skip
    assert listed.class_names == small.class_names


def test_networkx_with_names(arrays):
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    for i in range(60):
        part = "train" if arrays["train_mask"][i] else "val" if arrays["val_mask"][i] else "test"
        label = {} if part == "test" else {"label": str(COLOURS[arrays["y"][i]])}
        graph.add_node(("node", i), feat=arrays["x"][i], **label, **({} if part == "test" else {"split": part.title()}))
    graph.add_edges_from((("node", int(i)), ("node", int(j))) for i, j in arrays["edge_index"].T)
    small = cgc.condense(graph, nodes=6)
    assert small.class_names == ["blue", "dark green", "red"]
    assert graph.subgraph(small.members(0)[0]).number_of_nodes() == len(small.members(0)[0])
    graph.add_edge("1", 1)
    for node in ("1", 1):
        graph.nodes[node]["feat"] = arrays["x"][0]
    with pytest.raises(cgc.Error, match="nodes '1' and 1 have the same name"):
        cgc.condense(graph, nodes=6)


def test_masks_may_be_texts_or_missing(arrays, columns):
    nodes, edges = columns
    rest = {k: v for k, v in nodes.items() if k != "split"}
    wanted = cgc.load_dataset(cgc.tables(nodes, edges))
    texts = {p: [str(bool(v)) if v or i % 2 else None for i, v in enumerate(arrays[p])] for p in cgc._graph.PARTS}
    for masks in (texts, {p.replace("val_", "valid_"): v for p, v in texts.items()}):
        graph = cgc.load_dataset(cgc.tables({**rest, **masks}, edges))
        for part in cgc._graph.PARTS:
            np.testing.assert_array_equal(getattr(graph, part), getattr(wanted, part))
    with pytest.raises(cgc.Error, match="'maybe', must be True or False"):
        cgc.load_dataset(cgc.tables({**rest, **texts, "val_mask": ["maybe"] * 60}, edges))


def test_features_are_found_by_name(arrays, columns):
    nodes, edges = frames(columns)
    small = cgc.condense(cgc.tables(nodes, edges), nodes=6, method="cgc")
    assert small.feature_names == [f"f{j}" for j in range(8)]
    model = cgc.train(small, cgc.tables(nodes, edges), seeds=1, epochs=20, hidden=8)
    wanted = cgc.predict(model, cgc.tables(nodes, edges)).probabilities
    turned = nodes[nodes.columns[::-1]].assign(more=1.0)
    x = nodes[[f"f{j}" for j in reversed(range(8))]]
    rest = {k: arrays[k] for k in ("y", "edge_index")}
    for graph in (cgc.tables(turned, edges), {**rest, "x": x}):
        np.testing.assert_array_equal(cgc.predict(model, graph).probabilities, wanted)
    with pytest.raises(cgc.Error, match='has no feature "f3"'):
        cgc.predict(model, cgc.tables(nodes.drop(columns="f3"), edges))
    # Arrays, and names that do not fit the columns, are taken by position.
    np.testing.assert_array_equal(cgc.predict(model, arrays).probabilities, wanted)
    graph = cgc.Graph(**{**arrays, "x": arrays["x"].tolist()}, feature_names=["a", "b"])
    np.testing.assert_array_equal(cgc.predict(model, graph).probabilities, wanted)
    served = cgc.summarize(model, cgc.tables(nodes, edges), groups=6)
    ends = ([NAMES[3], NAMES[7]], [0, 1])
    new = served.predict_new(x[:2], ends)
    np.testing.assert_array_equal(new, served.predict_new(nodes[small.feature_names][:2].to_numpy(), ends))
    with pytest.raises(cgc.Error, match="x has no column f0, f1, its columns are f7, f6"):
        served.predict_new(x[:2].drop(columns=["f0", "f1"]), ends)
    unnamed = pytest.importorskip("pandas").DataFrame(nodes[small.feature_names][:2].to_numpy())  # columns 0 to 7
    np.testing.assert_array_equal(new, served.predict_new(unnamed, ends))
    pyarrow = pytest.importorskip("pyarrow")
    np.testing.assert_array_equal(new, served.predict_new(pyarrow.table(x[:2]), ends))


def test_a_data_keeps_names(columns, tmp_path):
    pytest.importorskip("torch_geometric")
    nodes, edges = frames(columns)
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    edges.to_csv(tmp_path / "edges.csv", index=False)
    data = cgc.load_dataset(tmp_path).to_pyg()
    small = cgc.condense(data, nodes=6, method="cgc")
    assert small.class_names == ["blue", "dark green", "red"] and len(small.members_ids) == 30
    assert data.feature_names == small.feature_names == [f"f{j}" for j in range(8)]
    cgc.save(small, tmp_path / "s.safetensors")
    assert cgc.load(tmp_path / "s.safetensors").members_ids == small.members_ids
    # A condensed Data has the names that were set, and none if its columns changed.
    turned = small.clone()
    turned.x, turned.feature_names = small.x.flip(1), small.feature_names[::-1]
    options = {"seeds": 1, "epochs": 40, "other_graph": True}
    before, after = (cgc.evaluate(s, data, **options)["gcn"].test_mean for s in (small, turned))
    assert abs(before - after) < 10
    turned.x = small.x[:, :4]
    cgc.save(turned, tmp_path / "t.safetensors")
    assert cgc.load(tmp_path / "t.safetensors").feature_names is None
    data.feature_names = list(range(8))  # an attribute with another meaning
    assert getattr(cgc.condense(data, nodes=6, method="cgc"), "feature_names", None) is None
    data.ids, data.class_names = 1000 + pytest.importorskip("torch").arange(60), np.array(["b", "d", "r"])
    small = cgc.condense(data, nodes=6, method="cgc")
    assert small.class_names == ["b", "d", "r"] and all(type(i) is int and i >= 1000 for i in small.members_ids)


def change(of: dict, name: str, row: int, value) -> dict:
    column = list(of[name])
    column[row] = value
    return {**of, name: column}


BAD = {
    "no label": (
        lambda n, e: ({k: v for k, v in n.items() if k != "label"}, e), "the column label of nodes, whose columns are"),
    "no source": (lambda n, e: (n, {"target": e["target"]}), "edges has no column source, its columns are target"),
    "an id twice": (
        lambda n, e: (change(n, "id", 9, NAMES[2]), e), rf"nodes\['id'\] is '{NAMES[2]}' in row 2 and in row 9"),
    "a number twice": (
        lambda n, e: ({**n, "id": np.arange(60) // 2}, e), r"nodes\['id'\] is 0 in row 0 and in row 1"),
    "an id is missing": (lambda n, e: (change(n, "id", 9, None), e), r"nodes\['id'\] is missing in row 9"),
    "ids of two types": (
        lambda n, e: (change(n, "id", 9, 9), e), r"\(str\) in row 0 and 9 \(int\) in row 9, expected ids of one"),
    "an id that is a list": (
        lambda n, e: ({**n, "id": [[1]] * 60}, e), r"nodes\['id'\] is a list in row 0, must be a number"),
    "an edge to nobody": (
        lambda n, e: (n, change(e, "target", 4, "bob")), r"edges\['target'\] of row 4 is 'bob', which is"),
    "an edge without end": (
        lambda n, e: (n, change(e, "target", 4, None)), r"edges\['target'\] of row 4 is None, which is"),
    "edges of numbers": (
        lambda n, e: (n, {**e, "source": np.arange(60)}), r"row 0 is 0, which is not in .* \(ids are str\)"),
    "numbers beyond": (
        lambda n, e: ({**n, "id": np.arange(60)}, {"source": [0, 1], "target": [1, 60]}),
        r"edges\['target'\] of row 1 is 60, which is not in nodes\['id'\]"),
    "fewer targets": (lambda n, e: (n, {**e, "target": e["target"][:9]}), "60 sources and 9 targets"),
    "a split of its own": (
        lambda n, e: (change(n, "split", 3, "holdout"), e), "of row 3 is 'holdout', must be train, val, test"),
    "a split and a mask": (
        lambda n, e: ({**n, "val_mask": [True] * 60}, e),
        r"nodes\['split'\] and nodes\['val_mask'\] are given, must be one of them"),
    "a mask of words": (
        lambda n, e: ({**{k: n[k] for k in ("id", "label", "f0")}, "train_mask": ["yes"] * 60}, e),
        r"nodes\['train_mask'\] of row 0 is 'yes', must be True or False"),
    "text among features": (
        lambda n, e: ({**n, "city": ["1.5", "Rome"] * 30}, e),
        r"nodes\['city'\] of row 1 is 'Rome', must be a number: f"),
    "a feature that is a code": (
        lambda n, e: ({**n, "month": ["2020_01"] * 60}, e),
        r"nodes\['month'\] of row 0 is '2020_01', must be a number"),
    "a feature that is a code in bytes": (
        lambda n, e: ({**n, "month": [b"2020_01"] * 60}, e),
        r"nodes\['month'\] of row 0 is b'2020_01', must be a number"),
    "a hole in a feature": (
        lambda n, e: (change(n, "f3", 8, None), e), r"nodes\['f3'\] of row 8 is missing, must be a number"),
    "infinity": (lambda n, e: (change(n, "f3", 8, np.inf), e), r"features of nodes\[8, 3\] is not a finite number"),
    "no features": (lambda n, e: ({k: n[k] for k in ("id", "label", "split")}, e), "nodes has no column of features"),
    "a ragged column": (lambda n, e: ({**{k: n[k] for k in ("id", "label")}, "v": [[1.0]] * 59 + [[1.0, 2.0]]}, e),
                        r"nodes\['v'\] of row 59 has 2 numbers, expected 1"),
    "numbers and names": (
        lambda n, e: (change(n, "label", 3, "5"), e), r"of node 3 is the number '5' and of node 0 the name"),
    "a float for a large label": (
        lambda n, e: ({**n, "label": [2.0**53, 1.0] * 30}, e), "of node 0 is the float 9007199254740992, must be"),
    "labels of two types": (
        lambda n, e: (change(n, "label", 3, 5), e), r"of node 3 is 5 and of node 0 'red', expected one type"),
    "a label that is a list": (
        lambda n, e: ({**n, "label": [["a", "b"]] * 60}, e), "of node 0 is a list, must be a number"),
    "an unlabelled node trains": (
        lambda n, e: (change(n, "label", 0, None), e), "train in nodes.'split'. has node 0, which has no"),
    "a weight of 0": (
        lambda n, e: (n, {**e, "weight": [0.0] * 60}), r"edges\['weight'\] of edge 0 is 0.0, must be a positive"),
    "a weight in words": (
        lambda n, e: (n, {**e, "weight": ["much"] * 60}), r"edges\['weight'\] of row 0 is 'much', must be a number"),
    "no table": (lambda n, e: ([1], e), "nodes is a list, must be a DataFrame, or a dictionary of columns"),
}  # fmt: skip


@pytest.mark.parametrize(
    "labels", [(0, 2), (0, 5), (1, 2), (-1, 1), (2, 3), (0, 1, 3, -1), (2**53, 2**53 + 1), (f"{2**53}", f"{2**53 + 1}")]
)
def test_numbers_are_classes_or_names_as_in_a_folder(columns, labels, tmp_path):
    nodes, edges = columns
    del nodes["split"]
    nodes["label"] = np.resize(labels, 60)
    of_tables = cgc.load_dataset(cgc.tables(nodes, edges))
    people, friends = frames((nodes, edges))
    people.to_csv(tmp_path / "nodes.csv", index=False)
    friends.to_csv(tmp_path / "edges.csv", index=False)
    of_files = cgc.load_dataset(tmp_path)
    assert (of_tables.classes, of_tables.class_names) == (of_files.classes, of_files.class_names)
    np.testing.assert_array_equal(of_tables.y, of_files.y)


def test_minus_one_and_one_are_two_classes(columns):
    nodes, edges = columns
    signs = np.where(np.arange(60) % 2, 1, -1)
    small = cgc.condense(cgc.tables({**nodes, "label": signs}, edges), nodes=6, method="cgc")
    assert small.class_names == ["-1", "1"]
    signs[4:8] = 2
    del nodes["split"]
    small = cgc.condense(cgc.tables({**nodes, "label": signs}, edges), nodes=6, method="cgc")
    assert small.class_names == ["1", "2"]


@pytest.mark.parametrize("name", BAD)
def test_bad_tables(columns, name):
    make, expected = BAD[name]
    with pytest.raises(cgc.Error, match=expected) as found:
        cgc.condense(cgc.tables(*make(*columns)), nodes=6)
    assert "\n" not in str(found.value) and os.sep not in str(found.value)


def test_bad_names_of_columns(columns):
    with pytest.raises(cgc.UnknownArgument, match="tables has no argument labels, did you mean label"):
        cgc.tables(*columns, labels="label")
    with pytest.raises(cgc.Error, match="nodes has no column 'team' for label"):
        cgc.tables(*columns, label="team")
    with pytest.raises(cgc.Error, match="nodes has no column 'age' for features"):
        cgc.condense(cgc.tables(*columns, features=["f0", "age"]), nodes=6)


def test_texts_survive_the_file():
    names = ["", "zoë", "a\nb", "\U0001f600" * 3]
    tensors = {t.name: t.array for t in _names.strings("ids", names)}
    assert _names.text_of("ids", tensors) == names


def test_a_database_gives_the_rows_of_queries(arrays, tmp_path):
    path = tmp_path / "shop.db"
    part = ["train", "train", "validation", "test"]
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        base.execute("create table items (sku int, department int, split text, a real, b real)")
        base.execute("create table bought (one int, two int)")
        rows = [(i, i // 20, part[i % 4], *map(float, arrays["x"][i, :2])) for i in range(60)]
        base.executemany("insert into items values (?, ?, ?, ?, ?)", rows)
        base.executemany("insert into bought values (?, ?)", arrays["edge_index"].T.tolist())
    queries = {
        "nodes_sql": "select sku as id, department as label, split, a, b from items",
        "edges_sql": "select one as source, two as target from bought",
    }
    whole = cgc.load_dataset(path, **queries)
    np.testing.assert_array_equal(whole.x, arrays["x"][:, :2])
    small = cgc.condense(path, nodes=6, **queries)
    np.testing.assert_array_equal(small.x, cgc.condense(whole, nodes=6).x)
    assert cgc.evaluate(small, path, seeds=1, epochs=2, **queries)["gcn"].seeds == 1
    with pytest.raises(cgc.Error, match="bought_together"):
        cgc.condense(path, nodes=6, nodes_sql=queries["nodes_sql"], edges_sql="select * from bought_together")
    with pytest.raises(cgc.Error, match="take no queries"):
        cgc.condense(**arrays, nodes=6, **queries)


def test_nodes_are_left_out(tmp_path):
    """The configuration of a condensed graph applies to the same graph without some nodes."""
    (tmp_path / "forgotten.csv").write_text("id\n3\n3999\n")
    small = cgc.condense("demo", nodes=14, method="cgc", hops=3)
    small.save(tmp_path / "small.safetensors")
    with pytest.warns(cgc.GraphWarning, match="2 of the 4000 nodes were left out"):
        rest = cgc.load_dataset("demo", without=tmp_path / "forgotten.csv")
        less = cgc.condense("demo", without=tmp_path / "forgotten.csv", config=tmp_path / "small.safetensors")
    assert len(rest.y) == 3998 and less.origin.metadata["graph_nodes"] == "3998"
    again = cgc.condense(rest, config=less.origin.config)
    np.testing.assert_array_equal(less.x, again.x)
    assert less.origin.config == small.origin.config
    with pytest.raises(cgc.Error, match="another graph than demo"):
        cgc.evaluate(less, "demo", seeds=1, epochs=2)


def test_nodes_that_are_left_out_of_a_graph_in_memory_do_not_come_back(arrays, columns, tmp_path):
    """Source nodes and predictions are nodes of the caller's graph."""
    (tmp_path / "forgotten.csv").write_text("id\n" + "\n".join(map(str, range(30))))
    (tmp_path / "names.csv").write_text("id\n" + "\n".join(NAMES[:30]))
    wanted = 30 + np.flatnonzero(arrays["train_mask"][30:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cgc.GraphWarning)
        small = cgc.condense(**arrays, nodes=6, method="cgc", without=tmp_path / "forgotten.csv")
        named = cgc.condense(cgc.tables(*columns), nodes=6, method="cgc", without=tmp_path / "names.csv")
        graph = cgc.tables(*columns)
        model = cgc.train(named, graph, seeds=1, epochs=5, without=tmp_path / "names.csv")
        found = cgc.predict(model, graph, without=tmp_path / "names.csv", part="val")
    assert sorted(small.members_ids) == wanted.tolist()
    assert sorted(n for i in range(len(named.y)) for n in named.members(i)[0]) == sorted(NAMES[wanted])
    named.save(tmp_path / "named.safetensors")
    assert sorted(cgc.load(tmp_path / "named.safetensors").members_ids) == sorted(NAMES[wanted])
    assert found.nodes.tolist() == (30 + np.flatnonzero(arrays["val_mask"][30:])).tolist()


def test_cut(tmp_path):
    """Each node of a cut is a union of nodes of the larger graph."""
    large = cgc.condense("demo", nodes=35, method="cgc-d")
    small = cgc.cut(large, nodes=14)
    part_of = np.array(small.origin.account["part_of"])
    assert len(small.y) == 14 and sorted(set(part_of)) == list(range(14))
    assert (small.y[part_of] == large.y).all()
    np.testing.assert_allclose(np.bincount(part_of, large.weight), small.weight)
    mean = sum(large.weight[i] * large.x[i] for i in np.flatnonzero(part_of == 3)) / small.weight[3]
    np.testing.assert_allclose(small.x[3], mean, atol=1e-5)
    large.save(tmp_path / "large.safetensors")
    np.testing.assert_array_equal(cgc.cut(tmp_path / "large.safetensors", nodes=14).x, small.x)
    with pytest.raises(cgc.Error, match="nodes"):
        cgc.cut(large, nodes=36)


def test_cut_keeps_ids(arrays):
    """Numeric ids of a data frame stay numbers."""
    nodes = {"id": [10 * i for i in range(len(arrays["x"]))], "label": arrays["y"], "f": arrays["x"][:, 0]}
    source, target = (10 * np.asarray(ends) for ends in arrays["edge_index"])
    graph = cgc.tables(nodes, {"source": source, "target": target})
    small = cgc.cut(cgc.condense(graph, nodes=12, method="cgc-x"), nodes=3)
    ids = [i for node in range(3) for i in small.members(node)[0]]
    assert ids and all(i % 10 == 0 for i in ids)

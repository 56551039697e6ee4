"""pyarrow and pandas read the Parquet folders that the command writes."""

import json

import numpy as np
import pytest
from conftest import COLOURS, NAMES
from test_results import command

import cgc

parquet = pytest.importorskip("pyarrow.parquet", exc_type=ImportError)


def test_pyarrow_reads_a_condensed_graph(columns, tmp_path):
    small = cgc.condense(cgc.tables(*columns, name="ring"), nodes=6, method="cgc-d")
    cgc.save(small, tmp_path / "small.safetensors")
    command("convert", str(tmp_path / "small.safetensors"), str(tmp_path / "small.parquet"))
    nodes = parquet.read_table(tmp_path / "small.parquet" / "nodes.parquet")
    metadata = {key.decode(): value.decode() for key, value in nodes.schema.metadata.items()}
    assert metadata["format"] == "cgc-condensed" and metadata["graph"] == "ring"
    assert json.loads(metadata["config"])["nodes"] == 6
    assert sorted(json.loads(metadata["class_names"])) == sorted(COLOURS)
    columns = nodes.to_pydict()
    np.testing.assert_array_equal(np.array(columns["x"], np.float32), small.x)
    members = [name for names in columns["member_ids"] for name in names]
    assert members == [NAMES[i] for row in columns["members"] for i in row]
    assert set(columns["label"]) <= set(COLOURS)
    assert [len(row) for row in columns["members"]] == columns["weight"]
    np.testing.assert_allclose([sum(row) for row in columns["member_weights"]], 1, rtol=1e-6)
    np.testing.assert_allclose(np.sum(columns["y_soft"], axis=1), 1, rtol=1e-6)
    edges = parquet.read_table(tmp_path / "small.parquet" / "edges.parquet")
    assert edges.column_names == ["source", "target", "weight"]
    assert 2 * edges.num_rows == small.edge_index.shape[1]
    command("convert", str(tmp_path / "small.parquet"), str(tmp_path / "again.safetensors"))
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "small.safetensors").read_bytes()


def test_pandas_reads_a_graph(columns_of_demo):
    nodes, edges, demo = columns_of_demo
    assert list(nodes.columns) == ["id", "label", "split", "x"]
    np.testing.assert_array_equal(np.stack(nodes["x"].to_list()), demo.x)
    np.testing.assert_array_equal(nodes["label"], demo.y)
    for part, mask in (("train", demo.train_mask), ("val", demo.val_mask), ("test", demo.test_mask)):
        np.testing.assert_array_equal(nodes["split"] == part, mask)
    assert 2 * len(edges) == demo.edge_index.shape[1]


@pytest.fixture
def columns_of_demo(demo, tmp_path):
    pandas = pytest.importorskip("pandas")
    folder = tmp_path / "demo.parquet"
    command("convert", "demo", str(folder))
    return pandas.read_parquet(folder / "nodes.parquet"), pandas.read_parquet(folder / "edges.parquet"), demo


def test_predictions(tmp_path):
    """cgc predict writes the same predictions as Parquet, npy and text."""
    small = cgc.condense("demo", nodes=14, method="cgc")
    cgc.train(small, "demo", seeds=1, epochs=5, hidden=8).save(tmp_path / "model.safetensors")
    for name in ("p.parquet", "p.npy", "p.csv"):
        command(
            "predict", str(tmp_path / "model.safetensors"), "--on=demo", "--part=test", f"--output={tmp_path / name}"
        )
    table = parquet.read_table(tmp_path / "p.parquet")
    wanted = np.loadtxt(tmp_path / "p.csv", delimiter=",", skiprows=1)
    columns = np.array([table[name] for name in ("id", "class", *map(str, range(7)))]).T
    np.testing.assert_allclose(columns, wanted, rtol=1e-5)
    np.testing.assert_array_equal(np.load(tmp_path / "p.npy"), np.float32(columns[:, 2:]))

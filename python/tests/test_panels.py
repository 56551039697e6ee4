"""Tests of features in panels and of 16-bit features, in files written by the safetensors library."""

from pathlib import Path

import numpy as np
import pytest

import cgc

save_file = pytest.importorskip("safetensors.numpy").save_file


@pytest.mark.parametrize("layout", ["whole", "panels"])
@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
def test_load_dataset_reads_panels(tmp_path: Path, kind: str, layout: str) -> None:
    exact = (np.arange(-20, 20, dtype=np.float32) / 8).reshape(8, 5)
    types = {"f32": np.float32, "f16": np.float16}
    half = types[kind] if kind in types else pytest.importorskip("ml_dtypes").bfloat16
    x = exact.astype(half)
    parts = {"x": x} if layout == "whole" else {"x.0": x[:, :3].copy(), "x.1": x[:, 3:].copy()}
    edges = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])
    path = tmp_path / "own.safetensors"
    save_file({"edge_index": edges, "y": np.array([0, 1] * 4), "train": np.array([0, 1]), **parts}, path)
    graph = cgc.load_dataset(path)
    assert graph.x.dtype == np.float32
    assert np.array_equal(graph.x, exact)
    assert graph.edge_index.shape == (2, 8)

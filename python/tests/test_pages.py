"""The examples of README, docs and the package run, and give the documented results."""

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import optuna
import pytest

import cgc
from cgc import _run

ROOT = Path(__file__).resolve().parents[2]
OFFLINE = {**os.environ, "HTTPS_PROXY": "http://127.0.0.1:1"}

PAGES = [
    "README.md",
    "docs/how-to/choose-a-model.md",
    "docs/how-to/own-data.md",
    "docs/how-to/train-and-predict.md",
    "docs/tutorials/python.md",
]


def blocks(text: str) -> list[str]:
    """Return the blocks of Python code in a page."""
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def fewer(function, **few):
    """Return function with some arguments overridden, because the values on the pages would take minutes."""
    return lambda *given, **named: function(*given, **{**named, **few})


def no_cora() -> bool:
    return subprocess.run([_run.binary(), "data", "describe", "cora"], env=OFFLINE, capture_output=True).returncode != 0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder. A synthetic graph of Cora's size replaces Cora if Cora is missing."""
    if no_cora():
        made = [_run.binary(), "data", "make", "--like", "cora", "-o", str(tmp_path / "cora.safetensors")]
        subprocess.run(made, check=True, capture_output=True)
        monkeypatch.setenv("CGC_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cgc, "evaluate", fewer(cgc.evaluate, seeds=1, epochs=20))
    monkeypatch.setattr(cgc, "objective", fewer(cgc.objective, epochs=20))
    monkeypatch.setattr(cgc, "report", fewer(cgc.report, seeds=1, epochs=20))
    monkeypatch.setattr(cgc, "train", fewer(cgc.train, seeds=1, epochs=20))
    monkeypatch.setattr(cgc, "tune", fewer(cgc.tune, trials=2, seconds=None, epochs=20))
    monkeypatch.setattr(optuna.Study, "optimize", fewer(optuna.Study.optimize, n_trials=2))
    return tmp_path


def given(page: str) -> dict[str, object]:
    """Return the names that a page assumes to be defined."""
    names: dict[str, object] = {"cgc": cgc}
    if page == "docs/how-to/choose-a-model.md":
        names["data"] = cgc.load_dataset("demo")
    if page == "docs/how-to/train-and-predict.md":
        pytest.importorskip("torch_geometric")
        data = names["data"] = cgc.load_dataset("demo").to_pyg()
        names["small"] = cgc.condense(data, nodes=70)
        names["x"], names["edge_index"] = data.x[:2], [[10, 20], [0, 1]]
    if page == "docs/how-to/own-data.md":
        data = cgc.load_dataset("demo")
        names |= {part: getattr(data, part) for part in ("x", "y", "edge_index")}
        names["train_mask"] = data.train_mask | data.val_mask  # room for 200 nodes
        ids, team = range(len(data.y)), [f"team {label}" for label in data.y]
        split = ["train" if trains else "test" for trains in names["train_mask"]]
        features = {f"f{i}": column for i, column in enumerate(data.x.T[:4])}
        names["data"] = replace(data, train_mask=names["train_mask"], val_mask=data.val_mask & False)
        names["people"] = {"id": ids, "team": team, "split": split, **features}
        names["friends"] = {"source": data.edge_index[0], "target": data.edge_index[1]}
    return names


@pytest.mark.parametrize("page", PAGES)
def test_examples_run(page, folder):
    text = (ROOT / page).read_text(encoding="utf-8")
    for module in re.findall(r"^(?:import|from) (torch\w*)", text, re.M):
        pytest.importorskip(module)
    names, found = given(page), blocks(text)
    assert found
    for block in found:
        exec(re.sub(r"\bepochs=\d+", "epochs=20", block), names)
    assert len(names["small"].y) > 0
    for file in re.findall(r'cgc\.(?:save|report)\([^")]*"([^"]+)"', "".join(found)):
        assert (folder / file).stat().st_size > 10_000


def test_the_example_for_torch_geometric():
    pytest.importorskip("torch_geometric")
    if no_cora():
        pytest.skip("cora is not there")
    line = [sys.executable, str(ROOT / "python" / "examples" / "pyg.py")]
    out = subprocess.run(line, env=OFFLINE, stdout=subprocess.PIPE, text=True, check=True).stdout
    origin, accuracy = out.splitlines()
    assert origin == "Origin(cora: 70 of 2,708 nodes (2.6%), method cgc-d with students)"
    assert 79 < float(re.fullmatch(r"test accuracy on the original graph: ([0-9.]+)%", accuracy)[1]) < 85


def test_the_example_for_sign(tmp_path):
    pytest.importorskip("torch")
    line = [sys.executable, "-W", "error", str(ROOT / "python" / "examples" / "sign.py")]
    out = subprocess.run(line, cwd=tmp_path, env=OFFLINE, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert 75 < float(re.fullmatch(r"test accuracy: ([0-9.]+)%\n", out)[1]) < 90


def test_the_example_for_a_database(tmp_path):
    """Three nights give the arrays of a folder that was made on the last."""
    rng = np.random.default_rng(1)
    parts, rows = rng.choice(["train", "val", "test"], 60), rng.normal(size=(60, 2))
    nodes = [(100 + i, "ab"[i % 2], part, *row) for i, (part, row) in enumerate(zip(parts, rows.tolist()))]
    edges = [(100 + i, 100 + int(rng.integers(i))) for i in range(1, 60) for _ in range(2)]
    line = [sys.executable, "-W", "error", str(ROOT / "python" / "examples" / "nightly.py"), "shop.db"]
    for night, count in enumerate((50, 60, 60)):
        with closing(sqlite3.connect(tmp_path / "shop.db")) as database, database:
            database.executescript("drop table if exists nodes; drop table if exists edges")
            database.execute("create table nodes (id, label, split, f, g)")
            database.execute("create table edges (source, target)")
            known = [n if n[0] != 120 or night else (120, None, None, *n[3:]) for n in nodes[:count]]
            database.executemany("insert into nodes values (?, ?, ?, ?, ?)", known[::-1])
            database.executemany("insert into edges values (?, ?)", {e for e in edges if e[0] < 100 + count})
        done = subprocess.run(
            [*line, "growing", "small.safetensors", "--nodes=6"], cwd=tmp_path, env=OFFLINE, stdout=subprocess.PIPE,
            text=True, check=True,
        )  # fmt: skip
        new = (50, 10, 0)[night]
        assert done.stdout == f"{new} new nodes, 6 condensed nodes in small.safetensors\n"
    grown, whole = (
        cgc.load_propagated(tmp_path / "growing"),
        cgc.propagate(tmp_path / "shop.db", tmp_path / "w", causal=True),
    )
    for array, want in zip(
        (*grown.hops, grown.y, grown.train, grown.test), (*whole.hops, whole.y, whole.train, whole.test)
    ):
        np.testing.assert_array_equal(array, want)
    assert grown.ids.tolist() == whole.ids.tolist() == [str(n[0]) for n in nodes]

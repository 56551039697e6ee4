"""The examples of README and of the pages of docs run, page by page and in their order."""

import ast
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import cgc
from cgc import _run

ROOT = Path(__file__).resolve().parents[2]

# What is run in place of what takes minutes.
SUBSTITUTES = {
    'models=["gcn", "gat"])': 'models=["gcn", "gat"], seeds=1, epochs=20)',
    'models=["gcn"])': 'models=["gcn"], seeds=1, epochs=20)',
    "seconds=60)": "seconds=2, epochs=20)",
    '"report.html")': '"report.html", seeds=1, epochs=20)',
}

# Other libraries whose examples a page shows.
NEEDS = {"guide.md": ["torch", "torch_geometric"], "README.md": [], "python.md": ["pandas"]}


def blocks(page: Path) -> list[str]:
    """The blocks of Python in a page."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the example of the guide. A graph made at the size of Cora takes its place where that is not."""
    shutil.copytree(ROOT / "docs" / "example", tmp_path, dirs_exist_ok=True)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    offline = {**os.environ, "HTTPS_PROXY": "http://127.0.0.1:1"}
    if subprocess.run([_run.binary(), "data", "describe", "cora"], env=offline, **quiet).returncode:
        made = [_run.binary(), "data", "make", "--like", "cora", "-o", str(tmp_path / "cora.safetensors")]
        subprocess.run(made, check=True, **quiet)
        monkeypatch.setenv("CGC_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def given(page: str) -> dict[str, object]:
    """What a page takes for given."""
    names: dict[str, object] = {"cgc": cgc}
    if page == "guide.md":
        import torch

        cgc.condense("shop", nodes=20, standardize=True).save("shop-20.safetensors")
        torch.manual_seed(0)
        layer = torch.nn.Linear(11, 4)
        names["model"] = lambda x, edge_index, edge_weight: layer(x)
    if page == "python.md":
        import numpy as np
        import pandas as pd

        random = np.random.default_rng(0)
        ids = ["alice", "zoë", *(f"person {i}" for i in range(198))]
        team = np.where(np.arange(200) % 2 == 0, "red", "blue")
        split = np.where(np.arange(200) % 4 < 2, "train", np.where(np.arange(200) % 4 == 2, "val", "test"))
        age = 30 + 10 * (team == "red") + random.normal(size=200)
        names["people"] = pd.DataFrame(
            {"id": ids, "team": team, "split": split, "age": age, "height": 170 + random.normal(size=200)}
        )
        ends = random.integers(0, 200, (2, 600))
        names["friends"] = pd.DataFrame({"source": [ids[i] for i in ends[0]], "target": [ids[i] for i in ends[1]]})
    return names


def kind(value: object) -> object:
    """The types in a value, to compare it with one in a comment, whose numbers are an example."""
    if isinstance(value, tuple):
        return tuple(kind(v) for v in value)
    if isinstance(value, list):
        return [type(v).__name__ for v in value[:1]]
    return type(value).__name__


@pytest.mark.parametrize("page", NEEDS)
def test_examples_run(page, folder):
    for module in NEEDS[page]:
        pytest.importorskip(module)
    file = ROOT / page if page == "README.md" else ROOT / "docs" / page
    names = given(page)
    found = blocks(file)
    assert found
    for block in found:
        for shown, run in SUBSTITUTES.items():
            block = block.replace(shown, run)
        tree = ast.parse(block)
        for statement in tree.body:
            code = ast.unparse(statement)
            if not isinstance(statement, ast.Expr):
                exec(code, names)
                continue
            value = eval(code, names)
            comment = block.splitlines()[statement.end_lineno - 1][statement.end_col_offset :].strip()
            if comment.startswith("# ["):
                assert repr(value) == comment[2:], code
            elif comment.startswith("# ("):
                import numpy as np

                want = eval(comment[2:], {"array": np.array, "float32": np.float32})
                assert kind(value) == kind(want), code
    if page == "guide.md":
        assert float(names["loss"]) > 0
    if page == "README.md":
        assert (folder / "report.html").stat().st_size > 100_000
        assert cgc.load(folder / "small.pt").x.shape[0] == 70


def test_every_substitute_is_used():
    text = "".join("".join(blocks(ROOT / page if page == "README.md" else ROOT / "docs" / page)) for page in NEEDS)
    assert not [shown for shown in SUBSTITUTES if shown not in text]

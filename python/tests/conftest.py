import os
import signal
import tempfile
from pathlib import Path

import numpy as np
import pytest

import cgc
from cgc import _scratch

os.environ.setdefault("DGLBACKEND", "pytorch")  # otherwise DGL writes a file into the home folder


# A background job of a shell ignores SIGINT, and its children inherit that. The tests send SIGINT, so restore Python's
# handler.
signal.signal(signal.SIGINT, signal.default_int_handler)

NAMES = np.array([f"{'zyx'[i % 3]}{i}" for i in range(60)])
COLOURS = np.array(["red", "blue", "dark green"])


@pytest.fixture(scope="session")
def demo() -> cgc.Graph:
    return cgc.load_dataset("demo")


@pytest.fixture
def arrays() -> dict[str, np.ndarray]:
    """A ring of 60 nodes in three classes. Half of the nodes are training nodes."""
    random = np.random.default_rng(0)
    nodes = np.arange(60)
    y = nodes // 20
    x = random.normal(size=(60, 8)).astype(np.float32) + 3 * np.eye(8, dtype=np.float32)[y]
    part = nodes % 4
    return {
        "edge_index": np.stack([nodes, (nodes + 1) % 60]), "x": x, "y": y,
        "train_mask": part < 2, "val_mask": part == 2, "test_mask": part == 3,
    }  # fmt: skip


@pytest.fixture
def columns(arrays) -> tuple[dict, dict]:
    """The ring of the arrays fixture, as two dictionaries of columns with names."""
    split = np.select([arrays["train_mask"], arrays["val_mask"]], ["train", "val"], "test")
    features = {f"f{j}": arrays["x"][:, j] for j in range(8)}
    nodes = {"split": split, **features, "id": NAMES, "label": COLOURS[arrays["y"]]}
    source, target = arrays["edge_index"]
    return nodes, {"target": NAMES[target], "source": NAMES[source]}


@pytest.fixture(autouse=True)
def no_temporary_files_are_left():
    """Check after every test that no temporary folder is left, except folders that another process has locked."""

    def found() -> set[Path]:
        places = [Path(tempfile.gettempdir()), Path("/dev/shm")]
        return {p for place in places if place.is_dir() for p in place.glob("cgc-python-*")}

    before = found()
    yield
    assert not [p for p in found() - before if os.name == "nt" or not locked(p)]


def locked(path: Path) -> bool:
    """Return whether a running process has locked a folder."""
    lock = _scratch._locked(str(path), wait=False)
    if lock >= 0:
        os.close(lock)
    return lock < 0

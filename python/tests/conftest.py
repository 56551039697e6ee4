import os
import signal
import tempfile
from pathlib import Path

import numpy as np
import pytest

import cgc
from cgc import _scratch

os.environ.setdefault("DGLBACKEND", "pytorch")  # else DGL writes a file into the home folder


# A shell's background job ignores Ctrl-C, and what it starts inherits that: the tests send Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def demo() -> cgc.Graph:
    return cgc.load_dataset("demo")


@pytest.fixture
def arrays() -> dict[str, np.ndarray]:
    """A ring of 60 nodes in three classes, of which every other node trains."""
    random = np.random.default_rng(0)
    nodes = np.arange(60)
    y = nodes // 20
    x = random.normal(size=(60, 8)).astype(np.float32) + 3 * np.eye(8, dtype=np.float32)[y]
    part = nodes % 4
    return {
        "edge_index": np.stack([nodes, (nodes + 1) % 60]), "x": x, "y": y,
        "train_mask": part < 2, "val_mask": part == 2, "test_mask": part == 3,
    }  # fmt: skip


@pytest.fixture(autouse=True)
def no_temporary_files_are_left():
    """After every test, the temporary folders hold what they held before, or what another process has locked."""

    def found() -> set[Path]:
        places = [Path(tempfile.gettempdir()), Path("/dev/shm")]
        return {p for place in places if place.is_dir() for p in place.glob("cgc-python-*")}

    before = found()
    yield
    assert not [p for p in found() - before if os.name == "nt" or not locked(p)]


def locked(path: Path) -> bool:
    """Say whether a living process has a folder."""
    lock = _scratch._locked(str(path), wait=False)
    if lock >= 0:
        os.close(lock)
    return lock < 0

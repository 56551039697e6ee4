"""The examples run and give the documented results."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cgc import _run

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def test_torch_geometric():
    pytest.importorskip("torch_geometric")
    offline = {**os.environ, "HTTPS_PROXY": "http://127.0.0.1:1"}
    if subprocess.run([_run.binary(), "data", "describe", "cora"], env=offline, capture_output=True).returncode:
        pytest.skip("cora is not there")
    line = [sys.executable, str(EXAMPLES / "pyg.py")]
    out = subprocess.run(line, env=offline, stdout=subprocess.PIPE, text=True, check=True).stdout
    origin, accuracy = out.splitlines()
    assert origin == "Origin(cora: 70 of 2,708 nodes (2.6%), method cgc-d with students)"
    assert 79 < float(re.fullmatch(r"test accuracy on the original graph: ([0-9.]+)%", accuracy)[1]) < 85

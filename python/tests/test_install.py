"""The ways to install the package and to run the command."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import cgc
from cgc import _run

SOURCES = Path(__file__).parent.parent


@pytest.fixture
def backend(monkeypatch, tmp_path):
    """The build backend, on a copy of the package, with a few bytes for the command."""
    monkeypatch.syspath_prepend(str(SOURCES))
    module = pytest.importorskip("backend")
    (tmp_path / "python" / "cgc").mkdir(parents=True)
    for name in ("LICENSE", "python/pyproject.toml", "python/cgc/__init__.py"):
        (tmp_path / name).write_bytes((SOURCES.parent / name).read_bytes())
    monkeypatch.setattr(module, "HERE", tmp_path / "python")
    monkeypatch.setattr(module, "_binary", lambda platform: b"#!/bin/sh\n")
    monkeypatch.setattr(module, "_platform", lambda: ("linux", "amd64"))
    return module


def test_an_editable_wheel_points_to_the_sources(backend, tmp_path):
    wheel = zipfile.ZipFile(tmp_path / backend.build_editable(str(tmp_path)))
    assert wheel.read("cgc-editable.pth").decode() == f"{tmp_path / 'python'}\n"
    assert not [name for name in wheel.namelist() if name.startswith("cgc/")]
    command = tmp_path / "python" / "cgc" / "bin" / "cgc"
    assert command.read_bytes() == b"#!/bin/sh\n" and os.access(command, os.X_OK)
    assert [p.name for p in command.parent.iterdir()] == ["cgc"]


def test_a_wheel_has_the_package_and_the_command(backend, tmp_path):
    wheel = zipfile.ZipFile(tmp_path / backend.build_wheel(str(tmp_path)))
    assert {"cgc/__init__.py", "cgc/bin/cgc"} <= set(wheel.namelist())
    assert wheel.getinfo("cgc/bin/cgc").external_attr >> 16 == 0o100755
    info = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert b"cgc = cgc.__main__:main" in wheel.read(info)
    record = wheel.read(info.replace("entry_points.txt", "RECORD")).decode()
    assert {line.split(",")[0] for line in record.split()} == set(wheel.namelist())


def test_python_m_cgc_is_the_command():
    want = subprocess.run([_run.binary(), "version"], capture_output=True, check=True).stdout
    line = [sys.executable, "-m", "cgc"]
    assert subprocess.run([*line, "version"], capture_output=True, check=True).stdout == want
    wrong = subprocess.run([*line, "condense"], capture_output=True, check=False)
    assert wrong.returncode == 2 and wrong.stderr.startswith(b"cgc: ")
    nowhere = {**os.environ, "CGC_BINARY": "nowhere"}
    missing = subprocess.run(line, capture_output=True, check=False, env=nowhere)
    assert missing.returncode == 1 and missing.stderr.startswith(b"cgc: the command is not at nowhere")


def test_the_script_is_the_command():
    script = Path(sysconfig.get_path("scripts"), "cgc.exe" if os.name == "nt" else "cgc")
    if not script.is_file() or Path(cgc.__file__).is_relative_to(SOURCES):
        pytest.skip("the package is not installed")
    assert subprocess.run([script, "version"], capture_output=True, check=True).stdout.startswith(b"cgc ")

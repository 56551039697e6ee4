"""The ways to install the package and to run the command."""

import os
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest

import cgc
from cgc import _run

SOURCES = Path(__file__).parent.parent


@pytest.fixture
def command(monkeypatch):
    """The module that builds the command."""
    monkeypatch.syspath_prepend(str(SOURCES))
    return pytest.importorskip("command")


@pytest.fixture
def hook(command, monkeypatch, tmp_path):
    """The build hook, with an empty folder and a fake command of a few bytes."""
    pytest.importorskip("hatchling")
    import hatch_build

    monkeypatch.setattr(hatch_build, "HERE", tmp_path)
    (tmp_path / "cgc").mkdir()
    monkeypatch.setattr(command, "build", lambda out, to: out.write_bytes(b"#!/bin/sh\n") and out.chmod(0o755))
    monkeypatch.setattr(command, "platform", lambda: ("linux", "amd64"))
    return lambda target: hatch_build.CommandHook(str(tmp_path), {}, None, None, str(tmp_path), target)


def test_an_editable_wheel_uses_the_command_in_the_sources(hook, tmp_path):
    made, data = hook("wheel"), {"force_include": {}}
    made.initialize("editable", data)
    binary = tmp_path / "cgc" / "bin" / "cgc"
    assert binary.read_bytes() == b"#!/bin/sh\n" and os.access(binary, os.X_OK) and not data["force_include"]
    assert [p.name for p in binary.parent.iterdir()] == ["cgc"]


def test_a_wheel_has_the_command_and_its_platform(hook):
    made, data = hook("wheel"), {"force_include": {}}
    made.initialize("standard", data)
    ((binary, place),) = data["force_include"].items()
    assert place == "cgc/bin/cgc" and os.access(binary, os.X_OK)
    assert data["tag"].startswith("py3-none-manylinux_2_17_x86_64") and data["pure_python"] is False
    made.finalize("standard", data, "")
    assert not Path(binary).exists()
    with pytest.raises(SystemExit, match="the sources of the command are outside python/"):
        hook("sdist").initialize("standard", data)


@pytest.mark.skipif(os.name == "nt", reason="the fake go is a script of sh")
@pytest.mark.parametrize(
    ("script", "said"),
    [
        (None, "and there is no go on the PATH: install Go from https://go.dev/dl"),
        ("printf 'go1.20.5\\nlinux\\namd64\\n'", "and this is Go 1.20: install Go from https://go.dev/dl"),
        ("echo 'go: download go1.26: toolchain not available' >&2; exit 1", "this one fails: go: download go1.26"),
        ("printf 'go1.99.1\\nplan9\\n386\\n'", "there are no wheels of cgc for plan9/386, must be one of linux/amd64"),
    ],
)
def test_one_sentence_says_what_is_wrong_with_go(command, monkeypatch, tmp_path, script, said):
    if script is not None:
        (tmp_path / "go").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "go").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit) as found:
        command.platform()
    assert said in str(found.value) and "\n" not in str(found.value)


def test_the_version_is_that_of_the_package(command):
    assert cgc.__version__ == command.version()
    assert f"\nversion: {cgc.__version__}\n" in (SOURCES.parent / "CITATION.cff").read_text()
    try:
        assert metadata.version("cgc") == cgc.__version__
    except metadata.PackageNotFoundError:
        pytest.skip("the package is not installed")


def test_python_m_cgc_is_the_command():
    want = subprocess.run([_run.binary(), "version"], capture_output=True, check=True).stdout
    line = [sys.executable, "-m", "cgc"]
    assert subprocess.run([*line, "version"], capture_output=True, check=True).stdout == want
    wrong = subprocess.run([*line, "condense"], capture_output=True, check=False)
    assert wrong.returncode == 2 and wrong.stderr.startswith(b"cgc: ")
    nowhere = {**os.environ, "CGC_BINARY": "nowhere"}
    missing = subprocess.run(line, capture_output=True, check=False, env=nowhere)
    assert missing.returncode == 1 and missing.stderr.startswith(b"cgc: the command is not at nowhere")


def test_the_script_is_the_command_and_carries_the_page(tmp_path):
    script = Path(sysconfig.get_path("scripts"), "cgc.exe" if os.name == "nt" else "cgc")
    if not script.is_file() or Path(cgc.__file__).is_relative_to(SOURCES):
        pytest.skip("the package is not installed")
    assert subprocess.run([script, "version"], capture_output=True, check=True).stdout.startswith(b"cgc ")
    page = tmp_path / "page"
    alone = {k: v for k, v in os.environ.items() if k != "PATH"}  # without Go, which would build the page
    subprocess.run([script, "web", "-o", page], cwd=tmp_path, env=alone, capture_output=True, check=True)
    assert (page / "cgc.wasm.gz").stat().st_size > 1_000_000

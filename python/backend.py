"""The build backend (PEP 517, PEP 660): builds the command with the Go toolchain and puts it into a wheel.

It needs a checkout, Go and nothing else. $GOOS and $GOARCH choose another platform, as they do for Go.
"""

from __future__ import annotations

import base64
import datetime
import functools
import hashlib
import os
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Optional

__all__ = ["TAGS", "build_editable", "build_sdist", "build_wheel", "commit", "linked", "version"]

HERE = Path(__file__).resolve().parent
# The platforms of the wheels by GOOS and GOARCH. The binary is static: it runs with any C library.
TAGS = {
    ("linux", "amd64"): "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    ("linux", "arm64"): "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    ("darwin", "amd64"): "macosx_12_0_x86_64",
    ("darwin", "arm64"): "macosx_12_0_arm64",
    ("windows", "amd64"): "win_amd64",
    ("windows", "arm64"): "win_arm64",
}
BUILDINFO = "github.com/graph-condensation/cgc/internal/buildinfo"
_Settings = Optional[dict[str, Any]]


def build_wheel(wheel_directory: str, config_settings: _Settings = None, metadata_directory: Any = None) -> str:
    """Build a wheel into wheel_directory and return its name. Equal sources give equal bytes."""
    platform = _platform()
    files = {f"cgc/{p.name}": p.read_bytes() for p in sorted((HERE / "cgc").iterdir()) if p.is_file()}
    files[f"cgc/bin/{_program(platform)}"] = _binary(platform)
    return _wheel(wheel_directory, platform, files)


def build_editable(wheel_directory: str, config_settings: _Settings = None, metadata_directory: Any = None) -> str:
    """Build a wheel that points to this folder, for pip install -e, and return its name.

    The command is put into cgc/bin here: changes of Python count at once, those of Go after the next install.
    """
    platform = _platform()
    own = HERE / "cgc" / "bin" / _program(platform)
    own.parent.mkdir(exist_ok=True)
    fresh = own.with_name(f".{own.name}")
    fresh.write_bytes(_binary(platform))
    fresh.chmod(0o755)
    fresh.replace(own)  # a running command keeps its file
    return _wheel(wheel_directory, platform, {"cgc-editable.pth": f"{HERE}\n".encode()})


def _wheel(wheel_directory: str, platform: tuple[str, str], files: dict[str, bytes]) -> str:
    """Write a wheel of files and what describes them, and return its name."""
    if platform not in TAGS:
        raise SystemExit(f"no wheel for {'/'.join(platform)}, want one of {', '.join(map('/'.join, TAGS))}")
    project = (HERE / "pyproject.toml").read_text(encoding="utf-8")
    name, version, summary, python = (
        re.search(rf'^{key} = "(.*)"$', project, re.M)[1]  # type: ignore[index]
        for key in ("name", "version", "description", "requires-python")
    )
    tag, info = f"py3-none-{TAGS[platform]}", f"{name}-{version}.dist-info"
    needs = re.findall(r'"([^"]+)"', re.search(r"^dependencies = \[(.*)\]$", project, re.M)[1])  # type: ignore[index]
    extras = []
    for extra, more in re.findall(r'^(\w+) = \[(".*")\]$', _section(project, "project.optional-dependencies"), re.M):
        extras.append(f"Provides-Extra: {extra}")
        extras += [f'Requires-Dist: {n}; extra == "{extra}"' for n in re.findall(r'"([^"]+)"', more)]
    files[f"{info}/METADATA"] = "\n".join(
        [
            "Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", f"Summary: {summary}",
            "License: Apache-2.0", f"Requires-Python: {python}", *(f"Requires-Dist: {n}" for n in needs),
            *extras, "",
        ]
    ).encode()  # fmt: skip
    tags = "".join(f"Tag: py3-none-{t}\n" for t in TAGS[platform].split("."))
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: cgc\nRoot-Is-Purelib: false\n{tags}".encode()
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\ncgc = cgc.__main__:main\n"
    files[f"{info}/LICENSE"] = (HERE.parent / "LICENSE").read_bytes()
    record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(Path(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o100755 if path.startswith("cgc/bin/") else 0o100644) << 16
            archive.writestr(entry, data)
    return wheel


def _section(project: str, name: str) -> str:
    """Return the lines of a section of pyproject.toml."""
    return project.partition(f"[{name}]\n")[2].partition("\n[")[0]


def build_sdist(sdist_directory: str, config_settings: _Settings = None) -> str:
    """Refuse: the sources of the command lie outside this folder."""
    raise SystemExit("there is no source distribution of python/ alone: install from a checkout, or build a wheel")


def version() -> str:
    """Return the version of the package, which is that of the command."""
    found = re.search(r'^version = "(.*)"$', (HERE / "pyproject.toml").read_text(encoding="utf-8"), re.M)
    assert found is not None, "pyproject.toml has no version"
    return found[1]


@functools.cache  # a build writes files, which must not count as changes
def commit() -> Optional[tuple[str, int, bool]]:
    """Return the commit of the checkout, its time in seconds since 1970, and whether files differ from it.

    Return None where there is no git, or where the project lies in the checkout of another one.
    """

    def git(*line: str) -> str:
        line = ("git", "-C", str(HERE.parent), *line)
        return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")).resolve() != HERE.parent:
            return None
        revision, seconds = git("show", "--no-patch", "--no-show-signature", "--format=%H %ct", "HEAD").split()
        return revision, int(seconds), git("status", "--porcelain") != ""
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None


def linked() -> list[str]:
    """Return the flags of go build that leave out paths and debugging information, and name the commit."""
    at, strip = commit(), "-s -w"
    if at is None:
        return ["-trimpath", f"-ldflags={strip}"]
    when = datetime.datetime.fromtimestamp(at[1], datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    values = {"version": version(), "revision": at[0], "committed": when, "modified": str(at[2]).lower()}
    names = " ".join(f"-X {BUILDINFO}.{name}={value}" for name, value in values.items())
    # What the go command would stamp depends on how the checkout was made: a clone or a worktree.
    return ["-trimpath", "-buildvcs=false", f"-ldflags={strip} {names}"]


def _platform() -> tuple[str, str]:
    """Return what Go would build for."""
    system, processor = subprocess.check_output(["go", "env", "GOOS", "GOARCH"], cwd=HERE, text=True).split()
    return system, processor


def _program(platform: tuple[str, str]) -> str:
    """Return the name of the command's file."""
    return "cgc.exe" if platform[0] == "windows" else "cgc"


def _binary(platform: tuple[str, str]) -> bytes:
    """Return the command, built without cgo, paths and debugging information."""
    environment = {**os.environ, "CGO_ENABLED": "0", "GOOS": platform[0], "GOARCH": platform[1]}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "cgc")
        line = ["go", "build", *linked(), "-o", str(out), "./cmd/cgc"]
        subprocess.run(line, cwd=HERE.parent, env=environment, check=True)
        return out.read_bytes()


def _digest(data: bytes) -> str:
    """Return the hash of a file as RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()

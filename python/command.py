"""Builds the command with the Go toolchain, for wheels (hatch_build.py) and release artifacts (dist.py)."""

from __future__ import annotations

import datetime
import functools
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Optional

__all__ = ["ROOT", "TAGS", "build", "commit", "linked", "of_this_machine", "platform", "program", "version"]

ROOT = Path(__file__).resolve().parent.parent
# Maps GOOS and GOARCH to the platform tags of wheels. The binary is static, so it runs with any C library.
TAGS = {
    ("linux", "amd64"): "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    ("linux", "arm64"): "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    ("darwin", "amd64"): "macosx_12_0_x86_64",
    ("darwin", "arm64"): "macosx_12_0_arm64",
    ("windows", "amd64"): "win_amd64",
    ("windows", "arm64"): "win_arm64",
}
BUILDINFO = "github.com/graph-condensation/cgc/internal/buildinfo"


def version() -> str:
    """Return the version of the package, which is also the version of the command."""
    text = (ROOT / "python" / "cgc" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.*)"$', text, re.M)
    assert found is not None, "cgc/__init__.py has no version"
    return found[1]


@functools.cache  # cached, because files that a build writes must not count as changes
def commit() -> Optional[tuple[str, int, bool]]:
    """Return the commit of the checkout, its Unix time in seconds, and whether files differ from it.

    Return None without git, and in a copy that is part of another repository.
    """

    def git(*line: str) -> str:
        line = ("git", "-C", str(ROOT), *line)
        return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")).resolve() != ROOT:
            return None
        revision, seconds = git("show", "--no-patch", "--no-show-signature", "--format=%H %ct", "HEAD").split()
        return revision, int(seconds), git("status", "--porcelain") != ""
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None


def linked() -> list[str]:
    """Return the flags of go build that omit paths and debugging information and record the commit."""
    at, strip = commit(), "-s -w"
    if at is None:
        return ["-trimpath", f"-ldflags={strip}"]
    when = datetime.datetime.fromtimestamp(at[1], datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    values = {"version": version(), "revision": at[0], "committed": when, "modified": str(at[2]).lower()}
    names = " ".join(f"-X {BUILDINFO}.{name}={value}" for name, value in values.items())
    # -buildvcs is off, because the go command's stamp depends on whether the checkout is a clone or a worktree.
    return ["-trimpath", "-buildvcs=false", f"-ldflags={strip} {names}"]


def of_this_machine() -> dict[str, str]:
    """Return the environment of programs that run during a build, without the user's settings of the command."""
    kept = {k: v for k, v in os.environ.items() if k not in ("GOOS", "GOARCH") and not k.startswith("CGC_")}
    return {**kept, "CGC_CONFIG": os.devnull}


def platform() -> tuple[str, str]:
    """Return the platform that Go builds for. Exit with a message if Go is missing or too old, or no wheel fits."""
    needed = re.search(r"^go (\d+)\.(\d+)", (ROOT / "go.mod").read_text(encoding="utf-8"), re.M)
    assert needed is not None, "go.mod names no version of Go"
    wanted = f"building the cgc command needs Go {needed[1]}.{needed[2]} or later"
    try:
        line = ["go", "env", "GOVERSION", "GOOS", "GOARCH"]
        done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        raise SystemExit(f"{wanted}, and there is no go on the PATH: install Go from https://go.dev/dl") from None
    found = re.match(r"go(\d+)\.(\d+)\S*\n(\w+)\n(\w+)$", done.stdout.strip())
    if done.returncode or found is None:  # Go 1.21 and later fetch the version in go.mod
        said = done.stderr.strip().splitlines() or ["go env says nothing"]
        raise SystemExit(f"{wanted}, and this one fails: {said[-1]}")
    if (int(found[1]), int(found[2])) < (int(needed[1]), int(needed[2])):
        raise SystemExit(f"{wanted}, and this is Go {found[1]}.{found[2]}: install Go from https://go.dev/dl")
    if (found[3], found[4]) not in TAGS:
        known = ", ".join(map("/".join, TAGS))
        raise SystemExit(f"there are no wheels of cgc for {found[3]}/{found[4]}, must be one of {known}")
    return found[3], found[4]


def program(system: str) -> str:
    """Return the file name of the command on a system."""
    return "cgc.exe" if system == "windows" else "cgc"


def build(out: Path, to: tuple[str, str]) -> None:
    """Build the command for a platform, without cgo, paths and debugging information. It contains the page of cgc web.

    The program of the page is built in a temporary folder, so that a build changes nothing in the checkout.
    """
    with tempfile.TemporaryDirectory() as folder:
        page, overlay = Path(folder, "dist"), Path(folder, "overlay.json")
        page.mkdir()
        line = ["go", "run", "./cmd/cgc/internal/web/build", str(page), *linked()]
        subprocess.run(line, cwd=ROOT, env=of_this_machine(), check=True)
        dist = ROOT / "cmd" / "cgc" / "internal" / "web" / "dist"
        files = {str(dist / path.name): str(path) for path in page.iterdir()}
        overlay.write_text(json.dumps({"Replace": files}), encoding="utf-8")
        environment = {**os.environ, "CGO_ENABLED": "0", "GOOS": to[0], "GOARCH": to[1]}
        line = ["go", "build", *linked(), f"-overlay={overlay}", "-o", str(out), "./cmd/cgc"]
        subprocess.run(line, cwd=ROOT, env=environment, check=True)

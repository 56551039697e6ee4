"""The command: its binary, its temporary folder, and its child processes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._error import Error

__all__ = ["binary", "folder", "run"]

_PATIENCE = 5.0  # seconds that an interrupted command has to end by itself


def binary() -> str:
    """Return the path of the command: $CGC_BINARY, or the one in the package."""
    own = Path(__file__).parent / "bin" / ("cgc.exe" if os.name == "nt" else "cgc")
    path = os.environ.get("CGC_BINARY") or str(own)
    if not os.path.isfile(path):
        raise Error(f"the command is not at {path}: install the package with pip, or set CGC_BINARY")
    return path


@contextlib.contextmanager
def folder(size: int) -> Iterator[Path]:
    """Make a temporary folder for files of size bytes, and remove it with all that is in it at the end.

    It is in memory (/dev/shm) where there is room for twice the size, else in the folder of tempfile.
    """
    path = tempfile.mkdtemp(prefix="cgc-", dir=_memory(size))
    try:
        yield Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _memory(size: int) -> str | None:
    """Return /dev/shm if it takes size bytes and leaves as many to the command."""
    shared = "/dev/shm"
    try:
        room = os.statvfs(shared)
        with open("/proc/meminfo", encoding="ascii") as file:
            free = int(re.search(r"MemAvailable:\s+(\d+)", file.read())[1]) * 1024  # type: ignore[index]
    except (OSError, AttributeError, TypeError):
        return None
    fits = min(room.f_bavail * room.f_frsize, free) > 2 * size + (1 << 20)
    return shared if fits and os.access(shared, os.W_OK) else None


def run(arguments: Sequence[str], spoken: Mapping[str, str] | None = None) -> Any:
    """Run the command and return the object that it prints with --json.

    spoken says what the user calls a path on the command line. Raises Error with the command's sentence, in which
    flags have the names of arguments, and KeyboardInterrupt after Ctrl-C, when the child has ended.
    """
    bar = sys.stderr is not None and sys.stderr.isatty() and hasattr(os, "openpty")
    line = [binary(), *arguments, "--json"]
    if not bar:
        line.append("--quiet")
    try:
        if bar:
            from ._bar import run_with_bar

            code, out, said = run_with_bar(line, wait)
        else:
            child = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            out, said = wait(child)
            code = child.returncode
    except OSError as e:
        raise Error(f"the command {line[0]} does not start: {e.strerror or e}") from None
    if code == 0:
        return json.loads(out)
    if code in (130, -signal.SIGINT):
        raise KeyboardInterrupt
    raise Error(_sentence(code, said.decode(errors="replace"), spoken or {}))


def wait(child: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Return what the child writes until it ends. If the wait is interrupted, end the child first."""
    try:
        return child.communicate()
    except BaseException:
        stop(child)
        raise


def stop(child: subprocess.Popen[bytes]) -> None:
    """Interrupt the child; kill it if it does not end."""
    try:
        if os.name == "nt":
            child.terminate()
        else:
            child.send_signal(signal.SIGINT)
        child.wait(_PATIENCE)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        child.kill()
        child.wait()
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()


def _sentence(code: int, said: str, spoken: Mapping[str, str]) -> str:
    """Return what the command says of its failure, in the words of the caller."""
    said = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said)  # what moves the cursor of a terminal
    lines = [text[len("cgc: ") :] for text in said.splitlines() if text.startswith("cgc: ")]
    if code < 0:
        return f"the command was ended by signal {-code}" + (
            ", as the system does when memory runs out" if code == -9 else ""
        )
    if not lines:
        return f"the command ended with code {code}: " + (said.strip() or "it says nothing")
    text = lines[-1]
    for path, name in spoken.items():
        text = text.replace(f"--config {path}", "config").replace(f"{path}: ", name and f"{name}: ")
        text = text.replace(path, name or "the graph")
    return re.sub(r"--([a-z][a-z-]*)", lambda flag: flag[1].replace("-", "_"), text)

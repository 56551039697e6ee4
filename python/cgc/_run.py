"""The command: its binary and its child processes."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Optional

from ._bar import Bar, bar
from ._error import Error

__all__ = ["binary", "run"]

_PATIENCE = 5.0  # seconds that an interrupted command has to end by itself
_LOOK = 0.1  # seconds from one look at the clock to the next


def binary() -> str:
    """Return the path of the command: $CGC_BINARY, or the one in the package."""
    own = Path(__file__).parent / "bin" / ("cgc.exe" if os.name == "nt" else "cgc")
    path = os.environ.get("CGC_BINARY") or str(own)
    if not os.path.isfile(path):
        raise Error(f"the command is not at {path}: install the package with pip, or set CGC_BINARY")
    return path


def run(arguments: Sequence[str], spoken: Mapping[str, str] | None = None) -> Any:
    """Run the command and return the object that it prints with --json.

    spoken says what the user calls a path on the command line. Raises Error with the command's sentence, in which
    flags have the names of arguments, and KeyboardInterrupt after Ctrl-C, when the child has ended. The child ends
    with this process, even if that is killed.
    """
    shown = bar()
    line = [binary(), *arguments, "--json"]
    environment = {**os.environ, "CGC_PARENT": "stdin"}
    if shown is None:
        line.append("--quiet")
    else:
        environment["CGC_PROGRESS"] = "json"
    pipe = subprocess.PIPE
    try:
        child = subprocess.Popen(line, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)
    except OSError as e:
        raise Error(f"the command {line[0]} does not start: {e.strerror or e}") from None
    try:
        out, said = _listen(child, shown)
    except BaseException:
        _stop(child)
        raise
    finally:
        if shown is not None:
            shown.close()
        for stream in (child.stdin, child.stdout, child.stderr):
            stream.close()  # type: ignore[union-attr]
    if child.returncode == 0:
        return json.loads(out)
    if child.returncode in (130, -signal.SIGINT):
        raise KeyboardInterrupt
    raise Error(_sentence(child.returncode, said.decode(errors="replace"), spoken or {}))


def _listen(child: subprocess.Popen[bytes], shown: Optional[Bar]) -> tuple[bytes, bytes]:
    """Return what the child writes until it ends, its progress aside. Progress is shown by this thread."""
    out: list[bytes] = []
    said: list[bytes] = []
    news: queue.SimpleQueue[bytes] = queue.SimpleQueue()  # lines of standard error; b"" is its end
    readers = [
        threading.Thread(target=lambda: out.append(_read(child.stdout)), daemon=True),
        threading.Thread(target=_pass_on, args=(child.stderr, news), daemon=True),
    ]
    for reader in readers:
        reader.start()
    while True:
        try:
            text = news.get(timeout=_LOOK)
            if text == b"":
                break
            if shown is None or not shown.take(text):
                said.append(text)
        except queue.Empty:
            pass
        if shown is not None:
            shown.tick()
    for reader in readers:
        reader.join()
    child.wait()
    return b"".join(out), b"".join(said)


def _read(stream: Optional[IO[bytes]]) -> bytes:
    """Return all of a stream. It is empty if the stream is closed meanwhile."""
    try:
        return stream.read() if stream is not None else b""
    except (OSError, ValueError):
        return b""


def _pass_on(stream: Optional[IO[bytes]], news: queue.SimpleQueue[bytes]) -> None:
    """Put each line of a stream into news, and b"" at its end."""
    try:
        for line in stream or ():
            news.put(line)
    except (OSError, ValueError):
        pass
    news.put(b"")


def _stop(child: subprocess.Popen[bytes]) -> None:
    """Interrupt the child; kill it if it does not end."""
    try:
        if child.stdin is not None:
            child.stdin.close()  # which interrupts it on every system
        if os.name != "nt":
            child.send_signal(signal.SIGINT)
        child.wait(_PATIENCE)
    except BaseException:
        child.kill()
        child.wait()


def _sentence(code: int, said: str, spoken: Mapping[str, str]) -> str:
    """Return what the command says of its failure, in the words of the caller."""
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

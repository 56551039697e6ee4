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
from ._error import Error, warn
from ._parameters import FLAGS

__all__ = ["binary", "operand", "run"]

_PATIENCE = 5.0  # seconds that an interrupted command has to stop by itself
_LOOK = 0.1  # seconds between two updates of the progress display
# Notes that only report a choice (the plan for a memory limit, the default size), or how long a call takes.
_CHOSEN = re.compile(
    r"note: (plan |.*\(set --nodes, --ratio or --label-ratio to change it\)|.* so far, about .* left"
    r"|.*: split [1-9]\d* of 0 to \d+ is used)"
)
# Phrases of errors of the command, as patterns, and their words in Python.
_WORDS = (
    (r"--([a-z-]+) allows it", r"--\1=True allows it"),
    (r"must be true or false", "must be True or False"),
    (
        r"--param (\S+): the parameters of (.*) are flags, as --hops",
        r"params \1: the parameters of \2 are arguments, as hops",
    ),
    (r"--param (\S+): this parameter of (\S+) is a flag, --", r"params \1: this parameter of \2 is an argument, --"),
    (r"--param\b", "params"),
)
_SWITCHES = {name for listed in FLAGS.values() for name, default, _, _ in listed if default is False}


def binary() -> str:
    """Return the path of the command: $CGC_BINARY, or the binary in the package."""
    own = Path(__file__).parent / "bin" / ("cgc.exe" if os.name == "nt" else "cgc")
    path = os.environ.get("CGC_BINARY") or str(own)
    if not os.path.isfile(path):
        raise Error(f"the command is not at {path}: install the package with pip, or set CGC_BINARY")
    return path


def operand(path: str | os.PathLike[str]) -> str:
    """Return a path as an argument of the command, which takes a leading hyphen for the beginning of a flag."""
    text = os.fsdecode(path)
    return os.path.join(".", text) if text.startswith("-") else text


def run(arguments: Sequence[str], spoken: Mapping[str, str] | None = None, told: Optional[set[str]] = None) -> Any:
    """Run the command and return the object that it prints with --json.

    spoken maps paths on the command line to the user's names. Notes of the command become warnings, except notes
    already in told. All notes are added to told. Raises Error with the command's message, in which flags are replaced
    by arguments. After Ctrl-C, it raises KeyboardInterrupt when the child has ended. If this process is killed, the
    child ends too.
    """
    shown = bar()
    line = [binary(), *arguments, "--json"]
    environment = {**os.environ, "CGC_PARENT": "stdin"}
    if shown is not None:
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
    text = said.decode(errors="replace")
    if child.returncode == 0:
        for note in text.splitlines():
            if note.startswith("note: ") and not _CHOSEN.match(note) and not (told and note in told):
                warn(_note(note.removeprefix("note: "), spoken or {}))
        if told is not None:
            told.update(text.splitlines())
        try:
            return json.loads(out)
        except ValueError:
            raise Error(f"{line[0]} prints no JSON, must be the command cgc: see CGC_BINARY") from None
    if child.returncode in (130, -signal.SIGINT):
        raise KeyboardInterrupt
    raise Error(_sentence(child.returncode, text, spoken or {}))


def _listen(child: subprocess.Popen[bytes], shown: Optional[Bar]) -> tuple[bytes, bytes]:
    """Return the standard output and error of the child, except progress, which this thread displays."""
    out: list[bytes] = []
    said: list[bytes] = []
    news: queue.SimpleQueue[bytes] = queue.SimpleQueue()  # lines of standard error; b"" marks the end
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
    """Return the contents of a stream, or b"" if it is closed in the meantime."""
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
    """Interrupt the child, and kill it if it does not end."""
    try:
        if child.stdin is not None:
            child.stdin.close()  # this interrupts the child on every system
        if os.name != "nt":
            child.send_signal(signal.SIGINT)
        child.wait(_PATIENCE)
    except BaseException:
        child.kill()
        child.wait()


def _sentence(code: int, said: str, spoken: Mapping[str, str]) -> str:
    """Return the error message of the command in the caller's terms."""
    lines = [text[len("cgc: ") :] for text in said.splitlines() if text.startswith("cgc: ")]
    if code < 0:
        return f"the command was ended by signal {-code}" + (
            ", as the system does when memory runs out" if code == -9 else ""
        )
    if not lines:
        return f"the command ended with code {code}: " + (said.strip() or "it says nothing")
    text = _named(lines[-1], spoken)
    for words, own in _WORDS:
        text = re.sub(words, own, text)
    return re.sub(r"--([a-z][a-z-]*)", lambda flag: _argument(flag[1]), text)


def _note(text: str, spoken: Mapping[str, str]) -> str:
    """Return a note of the command in the caller's terms, such as standardize=True for --standardize."""

    def argument(flag: re.Match[str]) -> str:
        name = _argument(flag[1])
        return f"{name}=True" if name in _SWITCHES else name

    return re.sub(r"--([a-z][a-z-]*)", argument, _named(text, spoken))


def _argument(flag: str) -> str:
    return flag.replace("-", "_")


def _named(text: str, spoken: Mapping[str, str]) -> str:
    """Replace the paths in a sentence with the caller's names."""
    for path, name in spoken.items():
        text = text.replace(f"--config {path}", "config").replace(f"{path}: ", name and f"{name}: ")
        text = text.replace(path, name or "the graph")
    return text.replace("graph graph ", "the graph ")  # graph is the name of a graph without a name

"""The progress bar of the command on a terminal."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

__all__ = ["run_with_bar"]

_ERROR = re.compile(rb"(\x1b\[[0-9;?]*[A-Za-z])*cgc: ")  # after what clears the bar
Waiter = Callable[["subprocess.Popen[bytes]"], "tuple[bytes, bytes]"]


def run_with_bar(line: Sequence[str], wait: Waiter) -> tuple[int, bytes, bytes]:
    """Run a command whose standard error is a terminal of its own, and show what it writes there.

    Returns its exit code, its output, and what it wrote to the terminal. Lines that begin with "cgc: " are errors.
    They are not shown, because the caller raises them.
    """
    here, there = os.openpty()
    try:
        with contextlib.suppress(Exception):  # the width of the bar
            import fcntl
            import termios

            size = fcntl.ioctl(sys.stderr.fileno(), termios.TIOCGWINSZ, b"\0" * 8)
            fcntl.ioctl(there, termios.TIOCSWINSZ, size)
        child = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=there)
    except BaseException:
        os.close(here)
        os.close(there)
        raise
    os.close(there)
    said: list[bytes] = []
    reader = threading.Thread(target=_show, args=(here, said), daemon=True)
    reader.start()
    try:
        out, _ = wait(child)
    finally:
        reader.join()
        os.close(here)
    return child.returncode, out, b"".join(said)


def _show(terminal: int, said: list[bytes]) -> None:
    """Copy the terminal to standard error until the child closes it."""
    while True:
        try:
            text = os.read(terminal, 1 << 16)
        except OSError:  # Linux says so when the other side is closed
            return
        if not text:
            return
        said.append(text)
        shown = b"".join(t for t in text.splitlines(keepends=True) if not _ERROR.match(t))
        sys.stderr.write(shown.decode(errors="replace"))
        sys.stderr.flush()

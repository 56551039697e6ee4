"""A progress display for the command: one line in a terminal, one output in a notebook."""

from __future__ import annotations

import html
import json
import os
import sys
import time
from importlib import import_module
from typing import Any, Optional

__all__ = ["Bar", "bar"]

_DELAY = 1.0  # seconds before the display appears
_INTERVAL = 0.2  # minimum seconds between two updates
_WIDTH = 30  # maximum columns of the bar


def bar() -> Optional[Bar]:
    """Return a bar for the terminal or notebook in which Python runs, or None elsewhere."""
    if sys.stderr is not None and sys.stderr.isatty():
        return _Terminal()
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return _Notebook() if getattr(shell, "kernel", None) is not None else None


class Bar:
    """The current stage of the command, its progress, the time taken and the time left."""

    def __init__(self) -> None:
        """Start the clock."""
        self.begun = self.entered = time.monotonic()
        self.drawn = 0.0  # time of the last update, or 0 if nothing is shown yet
        self.stage, self.done, self.total, self.first = "", 0, 0, 0

    def take(self, line: bytes) -> bool:
        """Process a line of the command's standard error. Return False if it does not report progress."""
        try:
            event = json.loads(line)
            stage, done, total = str(event["stage"]), int(event["done"]), int(event["total"])
        except (ValueError, TypeError, KeyError):
            return False
        if (stage, total) != (self.stage, self.total) or done < self.done:
            self.entered, self.first = time.monotonic(), done
        self.stage, self.done, self.total = stage, done, total
        return True

    def tick(self) -> None:
        """Draw the bar if an update is due."""
        now = time.monotonic()
        if now - self.begun >= _DELAY and now - self.drawn >= _INTERVAL:
            self.drawn = now
            self.draw(self.figures(now))

    def figures(self, now: float) -> str:
        """Return the percentage done and the time left, if known, and the time taken."""
        words = [f"{100 * self.done // self.total}%"] if self.total > 0 else []
        words.append(span(now - self.begun))
        steps, seconds = self.done - self.first, now - self.entered
        if self.total > 0 and steps > 0 and seconds > 0:
            words.append(f"{span(seconds * (self.total - self.done) / steps)} left")
        return " · ".join(words)

    def close(self) -> None:
        """Remove the bar if it is shown."""
        if self.drawn:
            self.erase()

    def draw(self, figures: str) -> None:
        """Show the stage, the bar and the figures."""
        raise NotImplementedError

    def erase(self) -> None:
        """Remove what draw has shown."""
        raise NotImplementedError


class _Terminal(Bar):
    """A line on standard error that is redrawn in place."""

    shown = 0

    def draw(self, figures: str) -> None:
        full, empty = "━─" if (sys.stderr.encoding or "").lower().startswith("utf") else "#-"
        try:
            columns = os.get_terminal_size(sys.stderr.fileno()).columns
        except (OSError, ValueError):
            columns = 80
        width = min(_WIDTH, columns - 1 - len(f"{self.stage}    {figures}"))
        middle = ""
        if self.total > 0 and width > 4:
            filled = min(width * self.done // self.total, width)
            middle = f"{full * filled}{empty * (width - filled)}  "
        text = f"{self.stage}  {middle}{figures}"[: max(columns - 1, 1)]
        if full == "#":
            text = text.replace("·", "-")
        sys.stderr.write("\r" + text + " " * (self.shown - len(text)))
        sys.stderr.flush()
        self.shown = len(text)

    def erase(self) -> None:
        sys.stderr.write("\r" + " " * self.shown + "\r")
        sys.stderr.flush()


class _Notebook(Bar):
    """A notebook output that is updated in place. Its last state remains and shows the time taken."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: Any = None

    def draw(self, figures: str) -> None:
        share = f' value="{self.done}" max="{self.total}"' if self.total > 0 else ""
        stage = html.escape(self.stage)
        self.put(f"{self.stage}  {figures}", f"{stage} <progress{share}></progress> {figures}")

    def erase(self) -> None:
        text = f"{self.stage}  {span(time.monotonic() - self.begun)}"
        self.put(text, html.escape(text))

    def put(self, text: str, page: str) -> None:
        bundle = {"text/plain": text, "text/html": page}
        if self.shown is None:
            self.shown = import_module("IPython.display").display(bundle, raw=True, display_id=True)
        else:
            self.shown.update(bundle, raw=True)


def span(seconds: float) -> str:
    """Format a time in seconds.

    >>> span(7.9), span(125), span(7300)
    ('7 s', '2 min 5 s', '2 h 1 min')
    """
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"

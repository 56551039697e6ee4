"""The errors of the package."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["Error", "UnknownArgument", "unknown"]


class Error(Exception):
    """What went wrong, in one sentence: the argument, the value, and what would be right."""


class UnknownArgument(Error, TypeError):
    """A keyword argument that the function does not have."""


def unknown(function: str, name: str, known: Iterable[str]) -> UnknownArgument:
    """Return the error for a keyword argument that is not in known. It suggests the closest known name.

    >>> str(unknown("condense", "node", ["nodes", "ratio"]))
    'condense has no argument node, did you mean nodes?'
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {close[0]}?" if close else "want one of " + ", ".join(names)
    return UnknownArgument(f"{function} has no argument {name}, {hint}")

"""The errors and warnings of the package."""

from __future__ import annotations

import difflib
import os
import sys
import warnings
from collections.abc import Iterable
from typing import Any

__all__ = ["Error", "GraphWarning", "UnknownArgument", "path_text", "reason", "unknown", "warn"]


class Error(Exception):
    """What went wrong, in one sentence: the argument, its value, and what it must be.

    Example:
        >>> cgc.condense("demo", hops=-1)
        Traceback (most recent call last):
        cgc.Error: hops -1, must be at least 0
    """

    __module__ = "cgc"


class UnknownArgument(Error, TypeError):
    """A keyword argument that the function does not have. It is also a TypeError.

    Example:
        >>> cgc.condense("demo", node=70)
        Traceback (most recent call last):
        cgc.UnknownArgument: condense has no argument node, did you mean nodes?
    """

    __module__ = "cgc"


class GraphWarning(UserWarning):
    """What the user should know about a graph: its split was drawn, edges were merged, features differ in scale.

    Each call warns again, because an earlier equal warning may have been about another graph.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("ignore", cgc.GraphWarning)  # silences them
    """

    __module__ = "cgc"


def warn(sentence: str) -> None:
    """Issue a GraphWarning that points to the caller of the package. It is shown even if it was issued before."""
    frame = sys._getframe(1)
    ours = (__package__, "contextlib", "optuna")  # contextlib calls the package's context managers
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in ours:
        frame = frame.f_back
    module = str(frame.f_globals.get("__name__"))
    warnings.warn_explicit(sentence, GraphWarning, frame.f_code.co_filename, frame.f_lineno, module, registry={})


def path_text(value: Any) -> str:
    """Return the argument path as a string. Raise Error if it is no path."""
    text = os.fspath(value) if isinstance(value, (str, os.PathLike)) else value
    if not isinstance(text, str):
        found = "None" if value is None else f"a {type(value).__name__}"
        raise Error(f"path is {found}, must be a string or a pathlib.Path")
    return text


def reason(error: OSError) -> str:
    """Return why a file could not be read or written."""
    return "there is no such file or folder" if isinstance(error, FileNotFoundError) else error.strerror or str(error)


def unknown(function: str, name: str, known: Iterable[str]) -> UnknownArgument:
    """Return the error for a keyword argument that is not in known. It suggests the closest known name.

    >>> str(unknown("condense", "node", ["nodes", "ratio"]))
    'condense has no argument node, did you mean nodes?'
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {close[0]}?" if close else "must be one of " + ", ".join(names)
    return UnknownArgument(f"{function} has no argument {name}, {hint}")

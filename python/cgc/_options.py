"""The keyword arguments that are flags of the command: their signatures, their help, and their conversion to flags."""

from __future__ import annotations

import inspect
import json
import math
import os
import re
import textwrap
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Callable, TypeVar

from ._error import Error, unknown
from ._parameters import FLAGS

__all__ = ["described", "flags", "plain"]

_WIDTH = 100  # columns of a generated docstring
_MARK = re.compile(r"^ *\*\*options: .*\n(?: {12,}.*\n)*", re.M)  # the docstring entry that the list of flags replaces
_F = TypeVar("_F", bound=Callable[..., Any])


def described(options: Any) -> Callable[[_F], _F]:
    """Return a decorator that lists the flags in the signature and the docstring of a function.

    options is the TypedDict of the flags. The function must accept **options and describe it in its docstring.
    """

    def describe(function: _F) -> _F:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        taken = {p.name for p in own}
        listed = [flag for flag in FLAGS[function.__name__] if flag[0] not in taken]
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=types[name])
            for types in [options.__annotations__]
            for name, default, _, _ in listed
        ]
        function.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        if function.__doc__ is not None:  # -OO removes docstrings
            function.__doc__ = _MARK.sub(lambda _: _help(listed), function.__doc__)
        return function

    return describe


def _help(listed: list[tuple[str, Any, str, str]]) -> str:
    """Return the docstring of the flags, by group."""
    text = ""
    for group, members in groupby(listed, key=lambda flag: flag[2]):
        text += f"\n    {group}:\n"
        for name, default, _, about in members:
            stated = "" if default is None or default is False else f" (default {default!r})"
            text += textwrap.fill(
                f"{name}: {about[0].upper()}{about[1:]}{stated}.",
                _WIDTH,
                initial_indent=" " * 8,
                subsequent_indent=" " * 12,
            )
            text += "\n"
    return text


def flags(function: str, options: Mapping[str, Any], also: Iterable[str] = ()) -> list[str]:
    """Return options as flags of the command. The value None stands for the default.

    Raises UnknownArgument for a name that is neither a flag nor in also, the names of the other arguments.

    >>> flags("condense", {"nodes": 70, "standardize": True})
    ['--nodes=70', '--standardize=true']
    """
    names = [name for name, *_ in FLAGS.get(function, ())]
    line = []
    for name, value in options.items():
        if name not in names:
            raise unknown(function, name, {*names, *also})
        if value is None:
            continue
        if name == "nodes":
            _check_size(plain(value))
        if name == "params":
            if not isinstance(value, Mapping):
                raise Error(f"params is {value!r}, must be a dictionary")
            line += [f"--param={key}={json.dumps(plain(v))}" for key, v in value.items()]
        else:
            line.append(f"--{name.replace('_', '-')}={_word(name, plain(value))}")
    return line


def _check_size(nodes: object) -> None:
    """Raise Error for a size that is no integer of at least 1. The command's own error would speak of lists."""
    if isinstance(nodes, list) or (isinstance(nodes, str) and "," in nodes):
        raise Error(f"nodes is {nodes}, must be one number")
    one = nodes >= 1 if isinstance(nodes, int) and not isinstance(nodes, bool) else str(nodes).isdecimal()
    if isinstance(nodes, (int, float, str)) and not one:
        raise Error(f"nodes {nodes}, must be an integer of at least 1")


def _word(name: str, value: object) -> str:
    """Format a value in the syntax of the command."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if name == "memory" and isinstance(value, (int, float)):
        return f"{value:.0f}B"
    if isinstance(value, (int, float, str)):
        return str(value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, (list, tuple)):
        if not value:
            raise Error(f"{name} is {value!r}, must have at least 1 value")
        return ",".join(_word(name, v) for v in value)
    raise Error(f"{name} is of type {type(value).__name__}, must be a number, a string or a list of them")


def plain(value: Any) -> Any:
    """Return value with numpy's types replaced by Python's numbers and lists, and infinity by "inf"."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, float) and value == math.inf:
        return "inf"
    return value

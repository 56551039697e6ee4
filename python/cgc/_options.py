"""The keyword arguments that mirror the flags of the command."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict, Union

from ._error import Error, unknown

__all__ = ["CondenseOptions", "EvaluateOptions", "ReportOptions", "TuneOptions", "flags", "plain"]


class _Common(TypedDict, total=False):
    threads: int


class _Database(TypedDict, total=False):
    nodes_sql: str
    edges_sql: str


class _Configuration(_Common, _Database, total=False):
    nodes: int
    ratio: Union[float, str]
    label_ratio: Union[float, str]
    method: str
    partition: str
    partitions: int
    propagation: str
    hops: int
    hop_weights: Sequence[float]
    teleport: float
    augment: float
    pseudo_labels: float
    soft_labels: bool
    temperature: Union[float, str]
    edges: str
    threshold: float
    degree: float
    alpha: float
    normalize_features: bool
    standardize: bool
    inductive: bool
    memory: Union[int, str]
    precision: str
    seed: int


class CondenseOptions(_Configuration, total=False):
    """The keyword arguments of condense, besides the graph and config."""

    params: Mapping[str, Any]
    embeddings: Union[str, os.PathLike[str]]


class _Testing(_Common, _Database, total=False):
    """What evaluate and report share."""

    seeds: int
    epochs: int
    hidden: int
    dropout: float
    lr: float
    weight_decay: float
    weighted: bool
    validate_every: int
    seed: int


class EvaluateOptions(_Testing, total=False):
    """The keyword arguments of evaluate, besides the graphs and the models."""

    memory: Union[int, str]


class ReportOptions(_Testing, total=False):
    """The keyword arguments of report, besides the graphs, the path and the models."""

    whole: int
    figures: str
    ceilings: bool


class TuneOptions(_Configuration, total=False):
    """The keyword arguments of tune, besides the graph and config."""

    models: Union[str, Sequence[str]]
    epochs: int
    hidden: int
    dropout: float
    lr: float
    weight_decay: float
    weighted: bool
    validate_every: int
    trials: int
    seconds: float
    methods: Union[str, Sequence[str]]


def flags(function: str, known: Iterable[str], options: Mapping[str, Any], also: Iterable[str] = ()) -> list[str]:
    """Return options as flags of the command. The value None stands for the default.

    Raises UnknownArgument for a name that is neither in known nor in also, which lists the other arguments.

    >>> flags("condense", ["nodes", "soft_labels"], {"nodes": 70, "soft_labels": True})
    ['--nodes=70', '--soft-labels=true']
    """
    names = list(known)
    line = []
    for name, value in options.items():
        if name not in names:
            raise unknown(function, name, [*names, *also])
        if value is None:
            continue
        if name == "params":
            line += [f"--param={key}={json.dumps(plain(v))}" for key, v in value.items()]
        else:
            line.append(f"--{name.replace('_', '-')}={_word(name, plain(value))}")
    return line


def _word(name: str, value: object) -> str:
    """Return a value as the command reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, str)):
        return str(value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, (list, tuple)):
        return ",".join(_word(name, v) for v in value)
    raise Error(f"{name} is a {type(value).__name__}, want a number, a word or a list of them")


def plain(value: Any) -> Any:
    """Return value with Python's own numbers, lists and dictionaries in place of numpy's; infinity as "inf"."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, float) and value == math.inf:
        return "inf"
    return value

"""The result of a search for a GNN."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ._error import Error
from ._options import plain
from ._parameters import SPACE

__all__ = ["SearchResult", "argument", "lists"]


class SearchResult:
    """What search found.

    Attributes:
        best: The chosen model and hyperparameters, as keyword arguments of evaluate and train.
        trials: A dictionary for each candidate, the best first: its arguments, the epochs it reached and its validation
            accuracy in percent.
        finalists: A dictionary for each candidate that was trained on the original graph, also with whole_val,
            whole_test and seconds.
        result: All that `cgc search --json` prints.

    Example:
        >>> found = cgc.search("demo", nodes=35, models=["sgc", "gcn"], trials=20, epochs=30, finalists=2)
        >>> len(found.trials), len(found.finalists)
        (20, 2)
        >>> model = cgc.train(cgc.condense("demo", nodes=35), "demo", seeds=1, **found.best)
    """

    def __init__(self, result: Mapping[str, Any]) -> None:
        """Store the result of the command."""
        self.result = dict(result)
        self.best = _arguments(result["best"])
        self.trials = [_row(t) for t in result["trials"]]
        self.finalists = [_row(f) for f in result["finalists"]]

    def to_pandas(self) -> Any:
        """Return the trials as a pandas.DataFrame with a row for each."""
        import pandas

        return pandas.DataFrame(self.trials)

    def __repr__(self) -> str:
        """Show the choice and the number of candidates."""
        return f"SearchResult(best={self.best}, {len(self.trials)} candidates)"


def argument(name: str) -> str:
    """Return the argument of evaluate for a name of the space."""
    return "lr" if name == "learning_rate" else name


def lists(space: Mapping[str, Sequence[Any]], given: Sequence[str]) -> dict[str, list[Any]]:
    """Return a space as lists of Python values. Raise Error if it is wrong or has an argument in given."""
    if not isinstance(space, Mapping):
        raise Error(f"space is a {type(space).__name__}, must be a dictionary of lists of values")
    found = {}
    for name, values in space.items():
        if name not in SPACE:
            raise Error(f"space has {name}, must have some of {', '.join(SPACE)}")
        if argument(name) in given:
            raise Error(f"space has {name} and {argument(name)} is given, must be one of them")
        found[name] = plain(list(values) if isinstance(values, range) else values)
        if not isinstance(found[name], list):
            raise Error(f"space has {name} {values!r}, must be a list of values")
        if not found[name]:
            raise Error(f"space has {name} {values!r}, must have at least 1 value")
        for v in found[name]:
            if v == "inf" or (isinstance(v, float) and not math.isfinite(v)):
                raise Error(f"space has {name} {v}, must have finite numbers")
    return found


def _arguments(candidate: Mapping[str, Any]) -> dict[str, Any]:
    """Return a candidate as keyword arguments."""
    training = candidate["training"]
    names = [*(name for name in SPACE if name != "models"), "epochs"]
    return {"models": candidate["model"], **{argument(name): training[name] for name in names}}


def _row(trial: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trial as a flat dictionary. epochs is the number of epochs that it reached."""
    return {**_arguments(trial), **{k: v for k, v in trial.items() if k not in ("model", "training")}}

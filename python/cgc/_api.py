"""The functions of the package. Each runs the command once."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union, overload

from . import _condensed, _options
from ._condensed import Condensed
from ._error import Error
from ._frames import Tables
from ._graph import Graph, read_graph
from ._options import CondenseOptions, EvaluateOptions, ReportOptions, TuneOptions
from ._run import run
from ._scratch import folder
from ._table import Table
from ._take import is_from, parts_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["condense", "evaluate", "load_dataset", "report", "tune"]

Path_ = Union[str, "os.PathLike[str]"]
_Handed = tuple[str, Path, dict[str, str], Optional[Sequence[Any]]]
_GRAPH = ("edge_index", "edge_weight", "x", "y", "train_mask", "val_mask", "test_mask", "adj", "name")


def _known(*of: type) -> list[str]:
    """Return the names of the options."""
    return sorted({name for kind in of for name in kind.__annotations__})


_CONDENSE, _TUNE, _EVALUATE = _known(CondenseOptions), _known(TuneOptions), [*_known(EvaluateOptions), "models"]
_REPORT = [*_known(ReportOptions), "models"]
_QUERIES = ["nodes_sql", "edges_sql"]


@overload
def condense(
    data: Union[Path_, Graph, Tables, None] = None,
    *,
    edge_index: Any = None,
    edge_weight: Any = None,
    x: Any = None,
    y: Any = None,
    train_mask: Any = None,
    val_mask: Any = None,
    test_mask: Any = None,
    adj: Any = None,
    name: Optional[str] = None,
    config: Union[Mapping[str, Any], Path_, None] = None,
    **options: Unpack[CondenseOptions],
) -> Condensed: ...


@overload
def condense(
    data: Any,
    *,
    edge_index: Any = None,
    edge_weight: Any = None,
    x: Any = None,
    y: Any = None,
    train_mask: Any = None,
    val_mask: Any = None,
    test_mask: Any = None,
    adj: Any = None,
    name: Optional[str] = None,
    config: Union[Mapping[str, Any], Path_, None] = None,
    **options: Unpack[CondenseOptions],
) -> Any: ...


def condense(
    data: Any = None,
    *,
    edge_index: Any = None,
    edge_weight: Any = None,
    x: Any = None,
    y: Any = None,
    train_mask: Any = None,
    val_mask: Any = None,
    test_mask: Any = None,
    adj: Any = None,
    name: Optional[str] = None,
    config: Union[Mapping[str, Any], Path_, None] = None,
    **options: Unpack[CondenseOptions],
) -> Any:
    """Condense a graph of N nodes to one of N′.

    data is a torch_geometric Data, a DGL or networkx graph, tables, a Graph, or the name or path of a graph. The parts
    may also be given by name, alone or in place of those of data: x (N × features), y (N; -1 or NaN for no label),
    edge_index (2 × edges, in one direction or both), edge_weight (edges), and masks of N bools or lists of nodes. They
    are numpy arrays, torch tensors or lists; x may be a scipy.sparse matrix. adj, a scipy.sparse matrix, stands for
    edge_index and edge_weight. A graph without masks gets a split that the seed 0 draws.

    config is what tune returns, or the path of such a file. The other keywords are the flags of `cgc condense` with
    underscores, and overrule config: nodes, ratio or label_ratio (the size), method, partition, hops, temperature, …

    Returns a torch_geometric Data if data is one, else a Condensed. Both hold x, y, edge_index, edge_weight,
    members_indptr, members_indices, members_weights, y_soft and weight. Equal arguments give equal results, seconds
    aside: those of the command.

    Raises Error for a mistake in an argument, UnknownArgument for one that does not exist.

    >>> small = cgc.condense(data, nodes=70)  # doctest: +SKIP
    >>> small = cgc.condense(edge_index=e, x=x, y=y, train_mask=m, nodes=70)  # doctest: +SKIP
    """
    given = dict(
        edge_index=edge_index, edge_weight=edge_weight, x=x, y=y, train_mask=train_mask, val_mask=val_mask,
        test_mask=test_mask, adj=adj, name=name,
    )  # fmt: skip
    line = _options.flags("condense", _CONDENSE, options, ["data", *_GRAPH, "config"])
    with _handed_over("data", data, given) as (graph, home, spoken, ids):
        out = home / "small.safetensors"
        line += _config(config, home, spoken)
        run(["condense", graph, f"--output={out}", *line], spoken)
        small = _condensed.load(out)
        if ids is not None and small.members_indices is not None:  # as they came: the file has texts
            small = replace(small, members_ids=[ids[i] for i in small.members_indices.tolist()])
    for sentence in small.origin.account.get("warnings", ()):
        warnings.warn(sentence, stacklevel=2)
    return small.to_pyg() if is_from("torch_geometric", data) else small


def tune(
    data: Any = None,
    *,
    edge_index: Any = None,
    edge_weight: Any = None,
    x: Any = None,
    y: Any = None,
    train_mask: Any = None,
    val_mask: Any = None,
    test_mask: Any = None,
    adj: Any = None,
    name: Optional[str] = None,
    config: Union[Mapping[str, Any], Path_, None] = None,
    **options: Unpack[TuneOptions],
) -> dict[str, Any]:
    """Search for a configuration that does better on the validation nodes.

    The graph is given as to condense. trials bounds the number of configurations, seconds the time; with trials
    alone, equal arguments give equal results. The other keywords are the flags of `cgc tune`: those that say how to
    condense stay as given, models and epochs say how to train. Labels of test nodes are not read.

    Returns a configuration that condense takes as config. Raises Error for a mistake in an argument.

    >>> best = cgc.tune(data, nodes=70, seconds=60)  # doctest: +SKIP
    >>> small = cgc.condense(data, config=best)  # doctest: +SKIP
    """
    given = dict(
        edge_index=edge_index, edge_weight=edge_weight, x=x, y=y, train_mask=train_mask, val_mask=val_mask,
        test_mask=test_mask, adj=adj, name=name,
    )  # fmt: skip
    line = _options.flags("tune", _TUNE, options, ["data", *_GRAPH, "config"])
    with _handed_over("data", data, given) as (graph, home, spoken, _):
        out = home / "best.json"
        line += _config(config, home, spoken)
        run(["tune", graph, f"--output={out}", *line], spoken)
        return dict(json.loads(out.read_text(encoding="utf-8")))


def evaluate(
    small: Any, on: Any, models: Union[str, Sequence[str], None] = None, **options: Unpack[EvaluateOptions]
) -> Table:
    """Train models on a condensed graph and test them on the original one.

    small is what condense returned, or the path of its file. on is the original graph, as data of condense. models
    are some of sgc, gcn, sage, appnp, cheby and gat (gcn alone by default). The other keywords are the flags of
    `cgc evaluate`: seeds (trainings of each model), epochs, hidden, dropout, lr, weight_decay, weighted,
    validate_every, memory, seed, threads.

    Returns a Table of accuracies in percent. Its deviation is over trainings on this one condensed graph.
    Raises Error for a mistake in an argument.

    >>> cgc.evaluate(small, on=data, models=["gcn", "gat"], seeds=5)  # doctest: +SKIP
    """
    every = {**options, "models": models}
    line = _options.flags("evaluate", _EVALUATE, every, ["small", "on"])
    with _handed_over("on", on, {}) as (graph, home, spoken, _):
        file = _file(small, home, spoken)
        found = run(["evaluate", file, f"--on={graph}", *line], spoken)
    return Table(found["results"], found["over"])


def report(
    small: Any, on: Any, path: Path_, models: Union[str, Sequence[str], None] = None, **options: Unpack[ReportOptions]
) -> None:
    """Write an HTML page that shows what condensing did: sizes, embeddings, class budgets, accuracies, seconds.

    small and on are as for evaluate. path ends in .html; a file there is replaced. The page asks no server for
    anything. Models are trained on the condensed and on the whole graph: seeds=0 and whole=0 train none. figures names
    a folder, into which each plot goes as .svg and .png. The other keywords are those of evaluate, and ceilings, which
    says whether the speed of the machine is measured.

    Raises Error for a mistake in an argument.

    >>> cgc.report(small, data, "report.html")  # doctest: +SKIP
    """
    line = _options.flags("report", _REPORT, {**options, "models": models}, ["small", "on", "path"])
    if Path(path).suffix != ".html":
        raise Error(f"path is {os.fspath(path)}, want a name that ends in .html")
    with _handed_over("on", on, {}) as (graph, home, spoken, _):
        file, page = _file(small, home, spoken), home / "report.html"
        run(["report", file, f"--on={graph}", f"--output={page}", *line], spoken)
        text = page.read_text(encoding="utf-8").replace(f"{home}{os.sep}", "")  # the folder will be gone
        with _condensed.whole(path) as fresh:
            fresh.write_text(text, encoding="utf-8")


def _file(small: Any, home: Path, spoken: dict[str, str]) -> str:
    """Return the file of a condensed graph, which is written if it is none."""
    if isinstance(small, (str, os.PathLike)):
        return os.fspath(small)
    file = str(home / "small.safetensors")
    spoken[file] = "small"
    _condensed.save(small, file)
    return file


def load_dataset(name: Path_, *, nodes_sql: Optional[str] = None, edges_sql: Optional[str] = None) -> Graph:
    """Return a graph by its name (`demo`, `cora`, …), by the path of a file or folder, or by a database's address.

    A name is looked for in the folders of $CGC_DATA and in the user's cache; cora and citeseer are fetched if they
    are not there. Graph.to_pyg makes a torch_geometric Data. nodes_sql and edges_sql are the queries that give the
    nodes and the edges of an SQLite file or of `postgres://…`; the tables `nodes` and `edges` by default.

    Raises Error if there is no such graph.

    >>> cgc.load_dataset("demo")  # doctest: +SKIP
    Graph(demo: 4000 nodes, 24000 directed edges, 96 features, 7 classes)
    """
    queries = _options.flags("load_dataset", _QUERIES, {"nodes_sql": nodes_sql, "edges_sql": edges_sql})
    with folder(0) as home:
        out = home / "graph.safetensors"
        run(["data", "convert", os.fspath(name), str(out), *queries])
        return read_graph(out)


@contextlib.contextmanager
def _handed_over(argument: str, data: Any, given: dict[str, Any]) -> Iterator[_Handed]:
    """Write a graph for the command.

    Gives its name, a temporary folder, what the caller calls these paths, and what he calls the nodes.
    """
    if isinstance(data, (str, os.PathLike)):
        extra = [k for k, v in given.items() if v is not None]
        if extra:
            raise Error(f"{extra[0]} and the path {os.fspath(data)} are given, want one of them")
        with folder(0) as home:
            yield os.fspath(data), home, {}, None
        return
    if data is None and argument == "on":
        raise Error("on is None, want the graph to test on")
    parts = parts_of(data, given)
    if all(getattr(parts, part) is None for part in ("train_mask", "val_mask", "test_mask")):
        sentence = "the graph has no train_mask: of each class 20 nodes train and 30 validate, drawn with seed 0"
        warnings.warn(sentence, stacklevel=4)
    tensors = parts.tensors()
    with folder(sum(t.array.size * t.type().itemsize for t in tensors)) as home:
        path = home / "graph.safetensors"
        parts.write(path, tensors)
        try:
            yield str(path), home, {str(path): ""}, parts.ids
        except Error as e:
            raise Error(parts.named(str(e))) from None


def _config(config: Union[Mapping[str, Any], Path_, None], home: Path, spoken: dict[str, str]) -> list[str]:
    """Return the flag for a configuration."""
    if config is None:
        return []
    if isinstance(config, Mapping):
        path = home / "config.json"
        try:
            path.write_text(json.dumps(_options.plain(config)), encoding="utf-8")
        except (TypeError, ValueError) as e:
            raise Error(f"config is not JSON: {e}") from None
    elif isinstance(config, (str, os.PathLike)):
        path = Path(config)
    else:
        raise Error(f"config is a {type(config).__name__}, want a dictionary as tune returns it")
    spoken[str(path)] = "config"
    return [f"--config={path}"]

"""The functions of the package. Each except objective runs the command once."""
# Annotations are evaluated (no `from __future__ import annotations`), because signatures show them.

import contextlib
import json
import os
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Union, overload

from . import _condensed, _names, _options, _safetensors, _search
from ._condensed import Condensed
from ._error import Error, path_text
from ._frames import Tables
from ._graph import Graph, read_graph
from ._model import Model, Predictions, load_model
from ._options import described
from ._parameters import (
    SPACE,
    CondenseOptions,
    CutOptions,
    EvaluateOptions,
    PredictOptions,
    PropagateOptions,
    ReportOptions,
    SearchOptions,
    SummarizeOptions,
    TrainOptions,
    TuneOptions,
)
from ._propagated import Propagated, load_propagated
from ._run import operand, run
from ._scratch import folder
from ._search import SearchResult
from ._table import Table
from ._take import GRAPH, is_from, parts_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "condense", "cut", "evaluate", "load_dataset", "objective", "predict", "propagate", "report", "search",
    "summarize", "train", "tune",
]  # fmt: skip

Path_ = Union[str, os.PathLike[str]]
_Handed = tuple[str, Path, dict[str, str], Optional[Sequence[Any]]]


@overload
def condense(
    data: Union[Path_, Graph, Tables, Mapping[str, Any], None] = None,
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
    **options: "Unpack[CondenseOptions]",
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
    **options: "Unpack[CondenseOptions]",
) -> Any: ...


@described(CondenseOptions)
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
    **options: "Unpack[CondenseOptions]",
) -> Any:
    """Condense a graph of N nodes to a graph of N′ nodes.

    Pass the graph as data or as named parts. If data is not a name or path, named parts override the parts of data.
    Edges may be given in one direction or both, in any order. Results are deterministic and equal those of `cgc
    condense`.

    Args:
        data: A torch_geometric Data or a data set with one graph, a DGL or networkx graph, cgc.tables(…), a cgc.Graph,
            a dictionary of the parts below, or the name, path or database address of a graph.
        edge_index: The edges, 2 × E. This and all other parts may be numpy arrays, torch tensors or lists.
        edge_weight: The weights of the edges, E numbers above 0. All are 1 by default.
        x: The features, N × d. They may be sparse: a scipy.sparse matrix or a sparse tensor of torch.
        y: The labels, N integers from 0 (-1 or NaN for none), or N names (None or "" for none).
        train_mask: The training nodes: N booleans or a list of nodes. Without masks, a split is drawn (see
            load_dataset).
        val_mask: The validation nodes.
        test_mask: The test nodes.
        adj: The N × N adjacency matrix, instead of edge_index and edge_weight: scipy.sparse, torch or numpy.
        name: The name of the graph in the result.
        config: What tune returned, or the path of its file or of a condensed graph. Other arguments override it.
        **options: The flags of `cgc condense`. help(cgc.condense) lists them.

    Returns:
        A torch_geometric Data if data is one, else a Condensed. The Data has all attributes of a Condensed that are not
        None, such as weight (the weight of each node in the loss) and target (what a model should learn).

    Raises:
        Error: An argument is wrong. The message names it.
        UnknownArgument: There is no such argument.

    Example:
        >>> small = cgc.condense("demo", nodes=70)
        >>> small.x.shape, int(small.weight.sum())
        ((70, 96), 4000)
    """
    given = dict(
        edge_index=edge_index, edge_weight=edge_weight, x=x, y=y, train_mask=train_mask, val_mask=val_mask,
        test_mask=test_mask, adj=adj, name=name,
    )  # fmt: skip
    line = _options.flags("condense", options, ["data", *GRAPH, "config"])
    alone = data is None and options.get("embeddings") is not None and all(part is None for part in given.values())
    if alone:
        data = ""  # the file of embeddings names the graph
    with _handed_over("data", data, given, line) as (graph, home, spoken, ids):
        out = home / "small.safetensors"
        line += _config(config, home, spoken)
        run(["condense", *([] if alone else [graph]), f"--output={out}", *line], spoken)
        small = _condensed.load(out)
        if not isinstance(data, (str, os.PathLike)):
            small = replace(small, members_ids=_own(small.members_ids, ids))
    return small.to_pyg() if is_from("torch_geometric", data) else small


@described(TuneOptions)
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
    **options: "Unpack[TuneOptions]",
) -> dict[str, Any]:
    """Search for a configuration with a higher validation accuracy.

    Labels of test nodes are not read. With trials and without seconds, equal arguments give equal results.

    Args:
        data: The graph, as for condense.
        edge_index: See condense.
        edge_weight: See condense.
        x: See condense.
        y: See condense.
        train_mask: See condense.
        val_mask: See condense.
        test_mask: See condense.
        adj: See condense.
        name: See condense.
        config: The configuration to start from: a dictionary, or the path of a JSON file.
        **options: The flags of `cgc tune`. help(cgc.tune) lists them. Condensation parameters that are given are fixed.

    Returns:
        A dictionary that condense accepts as config.

    Raises:
        Error: An argument is wrong. The message names it.
        UnknownArgument: There is no such argument.

    Example:
        >>> best = cgc.tune("demo", nodes=35, trials=2, epochs=5)
        >>> cgc.condense("demo", config=best).x.shape
        (35, 96)
    """
    given = dict(
        edge_index=edge_index, edge_weight=edge_weight, x=x, y=y, train_mask=train_mask, val_mask=val_mask,
        test_mask=test_mask, adj=adj, name=name,
    )  # fmt: skip
    line = _options.flags("tune", options, ["data", *GRAPH, "config"])
    with _handed_over("data", data, given, line) as (graph, home, spoken, _):
        out = home / "best.json"
        line += _config(config, home, spoken)
        run(["tune", graph, f"--output={out}", *line], spoken)
        return dict(json.loads(out.read_text(encoding="utf-8")))


@described(SearchOptions)
def search(
    data: Any,
    condensed: Union[Condensed, Path_, None] = None,
    space: Optional[Mapping[str, Sequence[Any]]] = None,
    **options: "Unpack[SearchOptions]",
) -> SearchResult:
    """Choose a GNN and its hyperparameters: search on a condensed graph, confirm on the original graph.

    Labels of test nodes are read only for the accuracies that are reported.

    Args:
        data: The graph, as for condense.
        condensed: What condense returned for this graph, or the path of its file. Without it, the graph is condensed.
        space: Lists of values to choose from, by name: models, hidden, dropout, input_dropout, learning_rate,
            weight_decay, weighted. Missing names have default values. Models may have parameters, as in gcn:layers=3:
            layers of gcn, sage and cheby, hops of sgc and appnp, alpha of appnp, order of cheby, heads of gat.
        **options: The flags of `cgc search`. help(cgc.search) lists them.

    Returns:
        A SearchResult. Its attribute best holds keyword arguments of train and evaluate.

    Raises:
        Error: An argument is wrong. The message names it.
        UnknownArgument: There is no such argument.

    Example:
        >>> space = {"models": ["gcn", "gcn:layers=3", "sgc"], "hidden": [16]}
        >>> found = cgc.search("demo", nodes=35, space=space, trials=20, epochs=30, finalists=1)
        >>> found.best["hidden"], found.finalists[0]["whole_test"] > 80
        (16, True)
    """
    line = _options.flags("search", options, ["data", "condensed", "space"])
    given = [name for name, value in options.items() if value is not None]
    lists = _search.lists(space or {}, given)
    with _handed_over("data", data, {}, line) as (graph, home, spoken, _):
        if condensed is not None:
            line.append(f"--condensed={_file(condensed, home, spoken, 'condensed')}")
        if space is not None:
            path = home / "space.json"
            spoken[f"--space {path}: "] = "space has "
            path.write_text(json.dumps(lists), encoding="utf-8")
            line.append(f"--space={path}")
        return SearchResult(run(["search", graph, *line], spoken))


def objective(
    small: Any, on: Any, space: Optional[Mapping[str, Sequence[Any]]] = None, **options: Any
) -> Callable[[Any], float]:
    """Make an objective for Optuna: validation accuracy after training on a condensed graph.

    A trial suggests a value for each name of the space. Its model is trained on the condensed graph and validated on
    the original graph, which is written to a temporary file once. Test accuracies are not returned.

    Args:
        small: What condense returned, or the path of its file. A graph condensed by the method cgc ranks models
            better than one condensed by auto.
        on: The original graph, in any form that condense accepts.
        space: Lists of values, as for search.
        **options: Arguments of evaluate, the same in all trials and not searched. The default of seeds is 1.

    Returns:
        A function of an optuna.Trial. It returns the mean validation accuracy in percent, for a study that maximizes.

    Raises:
        Error: An argument is wrong. The message names it.
        UnknownArgument: There is no such argument.

    Example:
        >>> import optuna
        >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
        >>> study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
        >>> small = cgc.condense("demo", nodes=35, method="cgc")
        >>> study.optimize(cgc.objective(small, "demo", space={"models": ["gcn", "sgc"]}, epochs=50), n_trials=4)
        >>> study.best_value > 80
        True
    """
    given = [name for name, value in options.items() if value is not None]
    found = {**SPACE, **_search.lists(space or {}, given)}
    lists = {arg: values for name, values in found.items() if (arg := _search.argument(name)) not in given}
    line = _options.flags("evaluate", {"seeds": 1, **options}, ["small", "on", "space"])
    models = next((flag for flag in line if flag.startswith("--models=")), "")
    if "," in models:
        raise Error(f"models is {models.removeprefix('--models=')}, must be one model: a space may have several")
    stack = contextlib.ExitStack()
    graph, home, spoken, _ = stack.enter_context(_handed_over("on", on, {}, line))
    file = _file(small, home, spoken)
    told = set[str]()  # the notes of earlier trials

    def accuracy(trial: Any) -> float:
        chosen = {name: trial.suggest_categorical(name, values) for name, values in lists.items()}
        found = run(["evaluate", file, f"--on={graph}", *line, *_options.flags("evaluate", chosen)], spoken, told)
        return float(found["results"][0]["val_mean"])

    weakref.finalize(accuracy, stack.close)
    return accuracy


@described(CutOptions)
def cut(small: Any, **options: "Unpack[CutOptions]") -> Any:
    """Make a smaller condensed graph from a larger one. The original graph is not needed.

    Nodes of the same class are merged in pairs, each time the pair that least increases the sum of squared distances to
    the means. So each node of a smaller cut is a union of nodes of any larger cut. The result has no edges: if small
    has some, its features are propagated over them first.

    Args:
        small: What condense returned, or the path of its file.
        **options: The flags of `cgc cut`. help(cgc.cut) lists them.

    Returns:
        A torch_geometric Data if small is one, else a Condensed. origin.account["part_of"] lists the new node of each
        node of small.

    Raises:
        Error: An argument is wrong. The message names it.
        UnknownArgument: There is no such argument.

    Example:
        >>> large = cgc.condense("demo", nodes=140)
        >>> [len(cgc.cut(large, nodes=n).y) for n in (70, 35, 7)]
        [70, 35, 7]
    """
    line = _options.flags("cut", options, ["small"])
    if options.get("nodes") is None:
        raise Error("nodes is missing, must be the number of condensed nodes")
    with folder(0) as home:
        out, spoken = home / "cut.safetensors", dict[str, str]()
        run(["cut", _file(small, home, spoken), f"--output={out}", *line], spoken)
        result = _condensed.load(out)
    ids = getattr(small, "members_ids", None)
    if ids is not None and result.members_ids is not None:  # the caller's ids; the file has strings
        named = {str(i): i for i in ids}
        result = replace(result, members_ids=[named[i] for i in result.members_ids])
    return result.to_pyg() if is_from("torch_geometric", small) else result


@described(EvaluateOptions)
def evaluate(
    small: Any, on: Any, models: Union[str, Sequence[str], None] = None, **options: "Unpack[EvaluateOptions]"
) -> Table:
    """Train models on a condensed graph and test them on the original graph.

    Args:
        small: What condense returned, or the path of its file.
        on: The original graph, in any form that condense accepts.
        models: One or more of sgc, gcn, sage, appnp, cheby and gat, as in gcn or gcn:layers=3. The default is gcn.
        **options: The flags of `cgc evaluate`. help(cgc.evaluate) lists them.

    Returns:
        A Table of accuracies in percent. The standard deviation is over training runs on this one condensed graph.

    Raises:
        Error: An argument is wrong. The message names it.
        UnknownArgument: There is no such argument.

    Example:
        >>> small = cgc.condense("demo", nodes=70)
        >>> table = cgc.evaluate(small, on="demo", models=["gcn", "sgc"], seeds=2, epochs=100)
        >>> table["gcn"].test_mean > 80
        True
    """
    line = _options.flags("evaluate", {**options, "models": models}, ["small", "on"])
    with _handed_over("on", on, {}, line) as (graph, home, spoken, _):
        file = _file(small, home, spoken)
        found = run(["evaluate", file, f"--on={graph}", *line], spoken)
    return Table(found["results"], found["over"])


@described(ReportOptions)
def report(
    small: Any, on: Any, path: Path_, models: Union[str, Sequence[str], None] = None, **options: "Unpack[ReportOptions]"
) -> None:
    """Write an HTML page about a condensed graph: accuracy next to the full graph's, sizes, embeddings and times.

    The page loads nothing from a network.

    Args:
        small: What condense returned, or the path of its file.
        on: The original graph, in any form that condense accepts.
        path: The file to write. Its name must end in .html. An existing file is replaced.
        models: One or more of sgc, gcn, sage, appnp, cheby and gat, as in gcn or gcn:layers=3. The default is gcn.
        **options: The flags of `cgc report`. help(cgc.report) lists them.

    Raises:
        Error: An argument is wrong. The message names it.
        UnknownArgument: There is no such argument.

    Example:
        >>> small = cgc.condense("demo", nodes=70)
        >>> cgc.report(small, "demo", "report.html", seeds=0, whole=0, ceilings=False)
    """
    line = _options.flags("report", {**options, "models": models}, ["small", "on", "path"])
    if Path(path_text(path)).suffix != ".html":
        raise Error(f"path is {os.fspath(path)}, must end in .html")
    with _handed_over("on", on, {}, line) as (graph, home, spoken, _):
        file, page = _file(small, home, spoken), home / "report.html"
        run(["report", file, f"--on={graph}", f"--output={page}", *line], spoken)
        text = page.read_text(encoding="utf-8").replace(f"{home}{os.sep}", "")  # the temporary folder will be deleted
        with _condensed.whole(path) as fresh:
            fresh.write_text(text, encoding="utf-8")


@described(TrainOptions)
def train(
    small: Any, on: Any, models: Union[str, Sequence[str], None] = None, **options: "Unpack[TrainOptions]"
) -> Model:
    """Train models on a condensed graph, and return the best on the validation nodes of the original graph.

    Args:
        small: What condense returned, or the path of its file.
        on: The original graph, in any form that condense accepts.
        models: One or more of sgc, gcn, sage, appnp, cheby and gat, as in gcn or gcn:layers=3. The default is gcn.
        **options: The flags of `cgc train`. help(cgc.train) lists them.

    Returns:
        The Model of the best training run, at its best epoch. Its method to_pyg makes a torch.nn.Module.

    Raises:
        Error: An argument is wrong. The message names it.
        UnknownArgument: There is no such argument.

    Example:
        >>> small = cgc.condense("demo", nodes=70)
        >>> cgc.train(small, "demo", seeds=2, epochs=50).description["validation"] > 80
        True
    """
    line = _options.flags("train", {**options, "models": models}, ["small", "on"])
    with _handed_over("on", on, {}, line) as (graph, home, spoken, _):
        file, out = _file(small, home, spoken), home / "model.safetensors"
        run(["train", file, f"--on={graph}", f"--output={out}", *line], spoken)
        return load_model(out)


@described(PredictOptions)
def predict(model: Union[Model, Path_], on: Any, **options: "Unpack[PredictOptions]") -> Predictions:
    """Predict the classes of the nodes of a graph.

    Args:
        model: What train returned, or the path of a file of `cgc train`.
        on: A graph with the same features as in training, in any form that condense accepts. It needs no labels.
        **options: The flags of `cgc predict`. help(cgc.predict) lists them.

    Returns:
        The Predictions: nodes, y and probabilities.

    Raises:
        Error: An argument is wrong. The message names it.
        UnknownArgument: There is no such argument.

    Example:
        >>> model = cgc.train(cgc.condense("demo", nodes=70), "demo", seeds=1, epochs=50)
        >>> nodes, y, probabilities = cgc.predict(model, "demo", part="test")
        >>> probabilities.shape[1]
        7
    """
    line = _options.flags("predict", options, ["model", "on"])
    with _handed_over("on", on, {}, line, True) as (graph, home, spoken, _):
        out = home / "predictions.safetensors"
        run(["predict", _model_file(model, home, spoken), f"--on={graph}", f"--output={out}", *line], spoken)
        tensors, _metadata = _safetensors.read(out)
    return Predictions(tensors["nodes"], tensors["class"], tensors["probabilities"])


@described(SummarizeOptions)
def summarize(model: Union[Model, Path_], on: Any, **options: "Unpack[SummarizeOptions]") -> Model:
    """Summarise a graph, so that a model predicts new nodes without it.

    The nodes of the graph are divided into groups with similar predictions. For each group, the summary holds the
    values that the model aggregates, averaged over the group's known nodes.

    Args:
        model: What train returned, or the path of a file of `cgc train`.
        on: The graph of the known nodes, in any form that condense accepts.
        **options: The flags of `cgc summarize`. help(cgc.summarize) lists them.

    Returns:
        The Model with the summary. Its method predict_new predicts new nodes.

    Raises:
        Error: An argument is wrong. The message names it.
        UnknownArgument: There is no such argument.

    Example:
        >>> model = cgc.train(cgc.condense("demo", nodes=70), "demo", seeds=1, epochs=50)
        >>> cgc.summarize(model, "demo", groups=100).known.means[0].shape
        (100, 96)
    """
    line = _options.flags("summarize", options, ["model", "on"])
    with _handed_over("on", on, {}, line, True) as (graph, home, spoken, _):
        out = home / "summary.safetensors"
        run(["summarize", _model_file(model, home, spoken), f"--on={graph}", f"--output={out}", *line], spoken)
        return load_model(out)


def _model_file(model: Union[Model, Path_], home: Path, spoken: dict[str, str]) -> str:
    """Return the path of a model. A model in memory is first written to a file in home."""
    if isinstance(model, (str, os.PathLike)):
        return operand(model)
    if not isinstance(model, Model):
        raise Error(f"model is a {type(model).__qualname__}, must be what cgc.train returned, or the path of its file")
    file = str(home / "model.safetensors")
    spoken[file] = "model"
    model.save(file)
    return file


@described(PropagateOptions)
def propagate(data: Any, path: Path_, **options: "Unpack[PropagateOptions]") -> Propagated:
    """Propagate the features of a graph, which may be larger than memory, and write an array for each hop.

    SIGN, SGC and other models without message passing train on these arrays.

    Args:
        data: The graph, as for condense.
        path: The folder to write. A folder of an earlier call is replaced.
        **options: The flags of `cgc propagate`. help(cgc.propagate) lists them.

    Returns:
        The Propagated features, memory-mapped from the folder.

    Raises:
        Error: An argument is wrong. The message names it.
        UnknownArgument: There is no such argument.

    Example:
        >>> found = cgc.propagate("demo", "propagated", hops=3, store="f16")
        >>> [h.dtype.name for h in found.hops]
        ['float16', 'float16', 'float16', 'float16']
    """
    line = _options.flags("propagate", options, ["data", "path"])
    if Path(path_text(path)).suffix == ".safetensors":
        raise Error(f"path is {os.fspath(path)}, must be a folder: `cgc propagate` writes a file for embeddings")
    taken = os.listdir(path) if os.path.isdir(path) else os.path.exists(path)
    if taken and not (Path(path) / "propagate.json").exists():
        raise Error(f"path is {os.fspath(path)}, which exists, must be new, an empty folder or one of an earlier call")
    with _handed_over("data", data, {}, line, True) as (graph, _, spoken, _ids):
        spoken[f"-o {os.path.normpath(path)}"] = f"path {os.fspath(path)}"
        run(["propagate", graph, f"--output={os.path.join(path, '')}", *line], spoken)  # a folder, whatever its name
    return load_propagated(os.fspath(path))


def _file(small: Any, home: Path, spoken: dict[str, str], argument: str = "small") -> str:
    """Return the path of a condensed graph. A graph in memory is first written to a file in home."""
    if isinstance(small, (str, os.PathLike)):
        return operand(small)
    file = str(home / "small.safetensors")
    spoken[f"--{argument} {file}"] = spoken[file] = argument
    _condensed.write(small, file, argument)
    return file


def load_dataset(
    name: Any,
    *,
    split: int = 0,
    without: Optional[Path_] = None,
    nodes_sql: Optional[str] = None,
    edges_sql: Optional[str] = None,
) -> Graph:
    """Load a graph by its name, its path or the address of its database, or convert one that condense accepts.

    Args:
        name: A name (`demo`, `cora`, …), the path of a file or folder, an SQLite file or `postgres://…`, or a graph in
            any form that condense accepts. Names are looked up in the folders of $CGC_DATA and in the user's cache.
            cora, citeseer and pubmed are downloaded if they are in neither.
        split: The number of the split, from 0, if the graph has several.
        without: A file with the ids of nodes to leave out, one on each line.
        nodes_sql: The query that gives the nodes of a database. The default is the table nodes.
        edges_sql: The query that gives the edges of a database. The default is the table edges.

    Returns:
        A Graph: undirected, without self-loops, with a split. Its method to_pyg makes a torch_geometric Data.

    Raises:
        Error: There is no such graph, or it cannot be read.

    Example:
        >>> cgc.load_dataset("demo")
        Graph(demo: 4000 nodes, 24000 directed edges, 96 features, 7 classes)
    """
    reading = {"split": split, "without": without, "nodes_sql": nodes_sql, "edges_sql": edges_sql}
    given = _options.flags("condense", reading)
    with _handed_over("name", name, {}, given, True) as (graph, home, spoken, ids):
        out = home / "read.safetensors"
        run(["data", "convert", graph, str(out), *given], spoken)
        found = read_graph(out, str(name))
    return found if isinstance(name, (str, os.PathLike)) else replace(found, ids=_own(found.ids, ids))


@contextlib.contextmanager
def _handed_over(
    argument: str, data: Any, given: dict[str, Any], line: list[str], unlabelled: bool = False
) -> Iterator[_Handed]:
    """Write a graph for the command. With unlabelled, it needs no labels.

    Of several splits, the one that a flag in line chooses is written, and the flag is removed from line.
    Yields its name, a temporary folder, the caller's names for these paths, and the caller's ids of the nodes.
    """
    if isinstance(data, (str, os.PathLike)):
        extra = [k for k, v in given.items() if v is not None]
        if extra:
            raise Error(f"{extra[0]} and the path {os.fspath(data)} are given, must be one of them")
        with folder(0) as home:
            yield operand(data), home, {}, None
        return
    if data is None and all(part is None for part in given.values()):
        parts_too = ", or its parts by name: x, y and edge_index" if given else ""
        raise Error(
            f"{argument} is None, must be " + ("the graph to test on" if argument == "on" else "a graph") + parts_too
        )
    parts = parts_of(argument, data, given)
    flag = next((f for f in line if f.startswith("--split=")), "--split=0")
    if parts.choose(flag.removeprefix("--split=")) and flag in line:
        line.remove(flag)
    tensors = parts.tensors(unlabelled)
    with folder(sum(t.array.size * t.type().itemsize for t in tensors)) as home:
        path = home / "graph.safetensors"
        parts.write(path, tensors)
        try:
            yield str(path), home, {str(path): ""}, parts.ids
        except Error as e:
            raise Error(parts.named(str(e))) from None


def _own(written: Optional[Sequence[str]], ids: Optional[Sequence[Any]]) -> Optional[list[Any]]:
    """Convert the ids in a file, which are strings, to the caller's ids. Without ids, they are numbers."""
    if written is None:
        return None
    own = int if ids is None else dict(zip(_names.texts(ids), ids)).__getitem__
    return [own(i) for i in written]


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
        raise Error(f"config is a {type(config).__name__}, must be a dictionary (small.origin.config) or a path")
    spoken[str(path)] = "config"
    return [f"--config={path}"]

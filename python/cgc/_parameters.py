"""The keyword arguments that are flags of the command. "go generate ./cmd/cgc" writes this file."""
# fmt: off

import os
from collections.abc import Mapping, Sequence
from typing import Any, Optional, TypedDict, Union

__all__ = [
    "FLAGS",
    "MODELS",
    "SPACE",
    "CondenseOptions",
    "CutOptions",
    "EvaluateOptions",
    "PredictOptions",
    "PropagateOptions",
    "ReportOptions",
    "SearchOptions",
    "SummarizeOptions",
    "TrainOptions",
    "TuneOptions",
]


class CondenseOptions(TypedDict, total=False):
    """The flags of `cgc condense`."""

    nodes: Optional[int]
    ratio: Optional[Union[float, str]]
    label_ratio: Optional[Union[float, str]]
    lossless: float
    method: str
    seed: int
    partition: str
    propagation: str
    hops: int
    augment: float
    normalize_features: bool
    standardize: bool
    inductive: bool
    causal: bool
    nodes_sql: Optional[str]
    edges_sql: Optional[str]
    split: int
    without: Optional[Union[str, os.PathLike[str]]]
    timings: bool
    params: Optional[Mapping[str, Any]]
    teleport: float
    temperature: float
    threshold: float
    degree: float
    alpha: float
    memory: Optional[Union[int, str]]
    precision: str
    embeddings: Optional[Union[str, os.PathLike[str]]]
    threads: Optional[int]


class CutOptions(TypedDict, total=False):
    """The flags of `cgc cut`."""

    nodes: int
    threads: Optional[int]


class TuneOptions(TypedDict, total=False):
    """The flags of `cgc tune`."""

    nodes: Optional[int]
    ratio: Optional[Union[float, str]]
    label_ratio: Optional[Union[float, str]]
    trials: Optional[int]
    seconds: Optional[float]
    method: str
    seed: int
    partition: str
    propagation: str
    hops: int
    augment: float
    normalize_features: bool
    standardize: bool
    inductive: bool
    causal: bool
    nodes_sql: Optional[str]
    edges_sql: Optional[str]
    split: int
    without: Optional[Union[str, os.PathLike[str]]]
    models: Union[str, Sequence[str]]
    epochs: int
    hidden: int
    dropout: float
    input_dropout: float
    lr: float
    weight_decay: float
    weighted: bool
    validate_every: int
    params: Optional[Mapping[str, Any]]
    teleport: float
    temperature: float
    threshold: float
    degree: float
    alpha: float
    memory: Optional[Union[int, str]]
    precision: str
    threads: Optional[int]


class SearchOptions(TypedDict, total=False):
    """The flags of `cgc search`."""

    nodes: Optional[int]
    ratio: Optional[Union[float, str]]
    label_ratio: Optional[Union[float, str]]
    method: str
    seed: int
    partition: str
    propagation: str
    hops: int
    augment: float
    normalize_features: bool
    standardize: bool
    inductive: bool
    causal: bool
    nodes_sql: Optional[str]
    edges_sql: Optional[str]
    split: int
    without: Optional[Union[str, os.PathLike[str]]]
    models: Optional[Union[str, Sequence[str]]]
    trials: int
    seconds: Optional[float]
    epochs: int
    finalists: Optional[int]
    compare: int
    params: Optional[Mapping[str, Any]]
    teleport: float
    temperature: float
    threshold: float
    degree: float
    alpha: float
    memory: Optional[Union[int, str]]
    precision: str
    threads: Optional[int]


class EvaluateOptions(TypedDict, total=False):
    """The flags of `cgc evaluate`."""

    other_graph: bool
    nodes_sql: Optional[str]
    edges_sql: Optional[str]
    split: int
    without: Optional[Union[str, os.PathLike[str]]]
    seeds: int
    epochs: int
    hidden: int
    dropout: float
    input_dropout: float
    lr: float
    weight_decay: float
    weighted: bool
    validate_every: int
    seed: int
    memory: Optional[Union[int, str]]
    threads: Optional[int]


class TrainOptions(TypedDict, total=False):
    """The flags of `cgc train`."""

    other_graph: bool
    nodes_sql: Optional[str]
    edges_sql: Optional[str]
    split: int
    without: Optional[Union[str, os.PathLike[str]]]
    seeds: int
    epochs: int
    hidden: int
    dropout: float
    input_dropout: float
    lr: float
    weight_decay: float
    weighted: bool
    validate_every: int
    seed: int
    threads: Optional[int]


class PredictOptions(TypedDict, total=False):
    """The flags of `cgc predict`."""

    part: Union[str, Sequence[str]]
    only: Optional[Union[str, os.PathLike[str]]]
    nodes_sql: Optional[str]
    edges_sql: Optional[str]
    split: int
    without: Optional[Union[str, os.PathLike[str]]]
    memory: Optional[Union[int, str]]
    threads: Optional[int]


class SummarizeOptions(TypedDict, total=False):
    """The flags of `cgc summarize`."""

    groups: Optional[int]
    seed: int
    nodes_sql: Optional[str]
    edges_sql: Optional[str]
    split: int
    without: Optional[Union[str, os.PathLike[str]]]
    threads: Optional[int]


class PropagateOptions(TypedDict, total=False):
    """The flags of `cgc propagate`."""

    propagation: str
    hops: int
    teleport: float
    add: bool
    relabel: bool
    part: Union[str, Sequence[str]]
    only: Optional[Union[str, os.PathLike[str]]]
    normalize_features: bool
    standardize: bool
    inductive: bool
    causal: bool
    nodes_sql: Optional[str]
    edges_sql: Optional[str]
    split: int
    without: Optional[Union[str, os.PathLike[str]]]
    store: str
    memory: Optional[Union[int, str]]
    precision: str
    threads: Optional[int]


class ReportOptions(TypedDict, total=False):
    """The flags of `cgc report`."""

    other_graph: bool
    nodes_sql: Optional[str]
    edges_sql: Optional[str]
    split: int
    without: Optional[Union[str, os.PathLike[str]]]
    seeds: int
    epochs: int
    hidden: int
    dropout: float
    input_dropout: float
    lr: float
    weight_decay: float
    weighted: bool
    validate_every: int
    whole: Optional[int]
    seed: int
    figures: Optional[Union[str, os.PathLike[str]]]
    ceilings: bool
    threads: Optional[int]


# By function: the name, default (None if the help says it), group and help of each argument.
FLAGS: dict[str, list[tuple[str, Any, str, str]]] = {
    "condense": [
        ("nodes", None, "Size",
         "number of condensed nodes (default 10 per class, but at most half of the training nodes)"),
        ("ratio", None, "Size",
         "number of condensed nodes as a fraction of all nodes (of the training nodes with inductive): "
         "2.6% or 0.026"),
        ("label_ratio", None, "Size",
         "number of condensed nodes as a fraction of the training nodes: 50% or 0.5"),
        ("lossless", 0.0, "Size",
         "condense to the smallest size that loses at most this many points of accuracy, as estimated on "
         "the validation nodes; nodes, ratio or label_ratio sets the largest size to try; 0 turns this off"),
        ("method", "auto", "Method",
         "condensation method; auto chooses the best on the validation nodes, or cgc if an argument sets a "
         "parameter of cgc: cgc, cgc-x, simdm, cgc-d, auto, random, herding, k-center, vn-classwise, "
         "a-cm-classwise, sntk, sntk-x, gcgp, gcond, gcond-x, doscond, msgc, sgdd, gcdm, gcdm-x, simgc, "
         "sfgc, geom, gcsr, bonsai, clustgdd, gecc, deepcgc"),
        ("seed", 0, "Method",
         "random seed"),
        ("partition", "kmeans", "Method",
         "how the training nodes of a class are clustered: kmeans, spectral, random"),
        ("propagation", "sgc", "Method",
         "how features are propagated over the graph: sgc, ppr, sage"),
        ("hops", 2, "Method",
         "number of propagation steps"),
        ("augment", 0.0, "Method",
         "number of extra embeddings, taken after fewer hops, as a multiple of the training nodes; 0 adds "
         "none"),
        ("normalize_features", False, "Graph",
         "row-normalise the features: divide those of each node by the sum of their absolute values"),
        ("standardize", False, "Graph",
         "scale each feature to mean 0 and variance 1 over the training nodes"),
        ("inductive", False, "Graph",
         "inductive setting: condense the subgraph of the training nodes, test on the subgraph of the test "
         "nodes"),
        ("causal", False, "Graph",
         "each node sees only neighbours that arrived before it; nodes must be in the order of their "
         "arrival"),
        ("nodes_sql", None, "Graph",
         "query that returns the nodes: id, label, split and features (default the table nodes)"),
        ("edges_sql", None, "Graph",
         "query that returns the edges: source, target and weight (default the table edges)"),
        ("split", 0, "Graph",
         "which split to use if the graph has several, counted from 0"),
        ("without", None, "Graph",
         "leave out the nodes whose ids are in this file, one per line, as if the graph had never had them"),
        ("timings", False, "Output",
         "write the seconds of each step into the file, for cgc report; two runs then give different bytes"),
        ("params", None, "Advanced",
         "parameters of a method that is not cgc's own, by name"),
        ("teleport", 0.1, "Advanced",
         "teleport probability of propagation ppr"),
        ("temperature", 1.0, "Advanced",
         "softmax temperature of the confidence weights within a group; inf gives uniform weights"),
        ("threshold", 0.85, "Advanced",
         "cosine similarity above which two condensed nodes are connected, -1 to 1"),
        ("degree", 1.0, "Advanced",
         "maximum mean degree of the condensed graph: threshold is raised until it holds; 0 sets no "
         "maximum"),
        ("alpha", 1.0, "Advanced",
         "weight of the smoothness of the condensed features over the condensed edges"),
        ("memory", None, "Advanced",
         "memory limit for the graph and its propagation, such as 2GiB or 500MB; propagation is then "
         "slower (default none)"),
        ("precision", "float32", "Advanced",
         "precision of the features between hops; half is faster on large graphs but less exact: float32, "
         "half"),
        ("embeddings", None, "Advanced",
         "use the embeddings that cgc propagate wrote to this file; data is then optional"),
        ("threads", None, "General",
         "number of threads (default all cores); results do not depend on it"),
    ],
    "cut": [
        ("nodes", 0, "Size",
         "number of condensed nodes, at least one for each class"),
        ("threads", None, "General",
         "number of threads (default all cores); results do not depend on it"),
    ],
    "tune": [
        ("nodes", None, "Size",
         "number of condensed nodes (default 10 per class, but at most half of the training nodes)"),
        ("ratio", None, "Size",
         "number of condensed nodes as a fraction of all nodes (of the training nodes with inductive): "
         "2.6% or 0.026"),
        ("label_ratio", None, "Size",
         "number of condensed nodes as a fraction of the training nodes: 50% or 0.5"),
        ("trials", None, "Method",
         "number of configurations to rank (default 200, or as many as seconds allows)"),
        ("seconds", None, "Method",
         "time limit in seconds: about a third for ranking, the rest for training (default none)"),
        ("method", "auto", "Method",
         "condensation method; auto compares configurations of cgc, cgc-x and cgc-d with what auto "
         "chooses, or with cgc if an argument sets a parameter of cgc: auto, cgc, cgc-x, simdm, cgc-d"),
        ("seed", 0, "Method",
         "random seed"),
        ("partition", "kmeans", "Method",
         "how the training nodes of a class are clustered: kmeans, spectral, random"),
        ("propagation", "sgc", "Method",
         "how features are propagated over the graph: sgc, ppr, sage"),
        ("hops", 2, "Method",
         "number of propagation steps"),
        ("augment", 0.0, "Method",
         "number of extra embeddings, taken after fewer hops, as a multiple of the training nodes; 0 adds "
         "none"),
        ("normalize_features", False, "Graph",
         "row-normalise the features: divide those of each node by the sum of their absolute values"),
        ("standardize", False, "Graph",
         "scale each feature to mean 0 and variance 1 over the training nodes"),
        ("inductive", False, "Graph",
         "inductive setting: condense the subgraph of the training nodes, test on the subgraph of the test "
         "nodes"),
        ("causal", False, "Graph",
         "each node sees only neighbours that arrived before it; nodes must be in the order of their "
         "arrival"),
        ("nodes_sql", None, "Graph",
         "query that returns the nodes: id, label, split and features (default the table nodes)"),
        ("edges_sql", None, "Graph",
         "query that returns the edges: source, target and weight (default the table edges)"),
        ("split", 0, "Graph",
         "which split to use if the graph has several, counted from 0"),
        ("without", None, "Graph",
         "leave out the nodes whose ids are in this file, one per line, as if the graph had never had them"),
        ("models", "gcn", "Training",
         "models to train: sgc, gcn, sage, appnp, cheby, gat; gcn:layers=3 sets a parameter"),
        ("epochs", 1000, "Training",
         "number of training epochs"),
        ("hidden", 256, "Training",
         "number of hidden units"),
        ("dropout", 0.5, "Training",
         "dropout probability"),
        ("input_dropout", 0.0, "Training",
         "dropout probability of the input features"),
        ("lr", 0.01, "Training",
         "learning rate"),
        ("weight_decay", 0.0005, "Training",
         "weight decay"),
        ("weighted", True, "Training",
         "weight each condensed node by the number of its source nodes; False weights all equally, as in "
         "the paper"),
        ("validate_every", 0, "Training",
         "number of epochs between validations; 0 chooses it by the size of the graph"),
        ("params", None, "Advanced",
         "parameters of a method that is not cgc's own, by name"),
        ("teleport", 0.1, "Advanced",
         "teleport probability of propagation ppr"),
        ("temperature", 1.0, "Advanced",
         "softmax temperature of the confidence weights within a group; inf gives uniform weights"),
        ("threshold", 0.85, "Advanced",
         "cosine similarity above which two condensed nodes are connected, -1 to 1"),
        ("degree", 1.0, "Advanced",
         "maximum mean degree of the condensed graph: threshold is raised until it holds; 0 sets no "
         "maximum"),
        ("alpha", 1.0, "Advanced",
         "weight of the smoothness of the condensed features over the condensed edges"),
        ("memory", None, "Advanced",
         "memory limit for the graph and its propagation, such as 2GiB or 500MB; propagation is then "
         "slower (default none)"),
        ("precision", "float32", "Advanced",
         "precision of the features between hops; half is faster on large graphs but less exact: float32, "
         "half"),
        ("threads", None, "General",
         "number of threads (default all cores); results do not depend on it"),
    ],
    "search": [
        ("nodes", None, "Size",
         "number of condensed nodes (default 10 per class, but at most half of the training nodes)"),
        ("ratio", None, "Size",
         "number of condensed nodes as a fraction of all nodes (of the training nodes with inductive): "
         "2.6% or 0.026"),
        ("label_ratio", None, "Size",
         "number of condensed nodes as a fraction of the training nodes: 50% or 0.5"),
        ("method", "cgc", "Method",
         "condensation method; candidates are ranked better on a graph condensed by cgc than by auto, "
         "because cgc learns only from labelled nodes, as training on the full graph does: cgc, cgc-x, "
         "simdm, cgc-d, auto, random, herding, k-center, vn-classwise, a-cm-classwise, sntk, sntk-x, gcgp, "
         "gcond, gcond-x, doscond, msgc, sgdd, gcdm, gcdm-x, simgc, sfgc, geom, gcsr, bonsai, clustgdd, "
         "gecc, deepcgc"),
        ("seed", 0, "Method",
         "random seed"),
        ("partition", "kmeans", "Method",
         "how the training nodes of a class are clustered: kmeans, spectral, random"),
        ("propagation", "sgc", "Method",
         "how features are propagated over the graph: sgc, ppr, sage"),
        ("hops", 2, "Method",
         "number of propagation steps"),
        ("augment", 0.0, "Method",
         "number of extra embeddings, taken after fewer hops, as a multiple of the training nodes; 0 adds "
         "none"),
        ("normalize_features", False, "Graph",
         "row-normalise the features: divide those of each node by the sum of their absolute values"),
        ("standardize", False, "Graph",
         "scale each feature to mean 0 and variance 1 over the training nodes"),
        ("inductive", False, "Graph",
         "inductive setting: condense the subgraph of the training nodes, test on the subgraph of the test "
         "nodes"),
        ("causal", False, "Graph",
         "each node sees only neighbours that arrived before it; nodes must be in the order of their "
         "arrival"),
        ("nodes_sql", None, "Graph",
         "query that returns the nodes: id, label, split and features (default the table nodes)"),
        ("edges_sql", None, "Graph",
         "query that returns the edges: source, target and weight (default the table edges)"),
        ("split", 0, "Graph",
         "which split to use if the graph has several, counted from 0"),
        ("without", None, "Graph",
         "leave out the nodes whose ids are in this file, one per line, as if the graph had never had them"),
        ("models", None, "Training",
         "models to choose from, with parameters as in gcn:layers=3 (default three variants of each)"),
        ("trials", 1000, "Training",
         "number of candidates"),
        ("seconds", None, "Training",
         "time limit of the search on the condensed graph, in seconds; at least 27 candidates are tried "
         "(default none)"),
        ("epochs", 300, "Training",
         "number of epochs of a candidate that is not stopped early"),
        ("finalists", None, "Training",
         "number of candidates to train on the full graph (default 24 up to 5,000 nodes, 6 up to 20,000, "
         "else 0)"),
        ("compare", 0, "Training",
         "number of random candidates to train on both graphs, at least 3"),
        ("params", None, "Advanced",
         "parameters of a method that is not cgc's own, by name"),
        ("teleport", 0.1, "Advanced",
         "teleport probability of propagation ppr"),
        ("temperature", 1.0, "Advanced",
         "softmax temperature of the confidence weights within a group; inf gives uniform weights"),
        ("threshold", 0.85, "Advanced",
         "cosine similarity above which two condensed nodes are connected, -1 to 1"),
        ("degree", 1.0, "Advanced",
         "maximum mean degree of the condensed graph: threshold is raised until it holds; 0 sets no "
         "maximum"),
        ("alpha", 1.0, "Advanced",
         "weight of the smoothness of the condensed features over the condensed edges"),
        ("memory", None, "Advanced",
         "memory limit for the graph and its propagation, such as 2GiB or 500MB; propagation is then "
         "slower (default none)"),
        ("precision", "float32", "Advanced",
         "precision of the features between hops; half is faster on large graphs but less exact: float32, "
         "half"),
        ("threads", None, "General",
         "number of threads (default all cores); results do not depend on it"),
    ],
    "evaluate": [
        ("other_graph", False, "Graph",
         "allow a graph or a split other than the one small was condensed from; the output then says so"),
        ("nodes_sql", None, "Graph",
         "query that returns the nodes: id, label, split and features (default the table nodes)"),
        ("edges_sql", None, "Graph",
         "query that returns the edges: source, target and weight (default the table edges)"),
        ("split", 0, "Graph",
         "which split to use if the graph has several, counted from 0"),
        ("without", None, "Graph",
         "leave out the nodes whose ids are in this file, one per line, as if the graph had never had them"),
        ("models", "gcn", "Training",
         "models to train: sgc, gcn, sage, appnp, cheby, gat; gcn:layers=3 sets a parameter"),
        ("seeds", 5, "Training",
         "number of training runs of each model"),
        ("epochs", 1000, "Training",
         "number of training epochs"),
        ("hidden", 256, "Training",
         "number of hidden units"),
        ("dropout", 0.5, "Training",
         "dropout probability"),
        ("input_dropout", 0.0, "Training",
         "dropout probability of the input features"),
        ("lr", 0.01, "Training",
         "learning rate"),
        ("weight_decay", 0.0005, "Training",
         "weight decay"),
        ("weighted", True, "Training",
         "weight each condensed node by the number of its source nodes; False weights all equally, as in "
         "the paper"),
        ("validate_every", 0, "Training",
         "number of epochs between validations; 0 chooses it by the size of the graph"),
        ("seed", 0, "Training",
         "random seed"),
        ("memory", None, "Advanced",
         "memory limit for testing, such as 2GiB or 500MB; cgc stops if a model needs more (default none)"),
        ("threads", None, "General",
         "number of threads (default all cores); results do not depend on it"),
    ],
    "train": [
        ("other_graph", False, "Graph",
         "allow a graph or a split other than the one small was condensed from; the output then says so"),
        ("nodes_sql", None, "Graph",
         "query that returns the nodes: id, label, split and features (default the table nodes)"),
        ("edges_sql", None, "Graph",
         "query that returns the edges: source, target and weight (default the table edges)"),
        ("split", 0, "Graph",
         "which split to use if the graph has several, counted from 0"),
        ("without", None, "Graph",
         "leave out the nodes whose ids are in this file, one per line, as if the graph had never had them"),
        ("models", "gcn", "Training",
         "models to train: sgc, gcn, sage, appnp, cheby, gat; gcn:layers=3 sets a parameter"),
        ("seeds", 5, "Training",
         "number of training runs of each model; the best of all is kept"),
        ("epochs", 1000, "Training",
         "number of training epochs"),
        ("hidden", 256, "Training",
         "number of hidden units"),
        ("dropout", 0.5, "Training",
         "dropout probability"),
        ("input_dropout", 0.0, "Training",
         "dropout probability of the input features"),
        ("lr", 0.01, "Training",
         "learning rate"),
        ("weight_decay", 0.0005, "Training",
         "weight decay"),
        ("weighted", True, "Training",
         "weight each condensed node by the number of its source nodes; False weights all equally, as in "
         "the paper"),
        ("validate_every", 0, "Training",
         "number of epochs between validations; 0 chooses it by the size of the graph"),
        ("seed", 0, "Training",
         "random seed"),
        ("threads", None, "General",
         "number of threads (default all cores); results do not depend on it"),
    ],
    "predict": [
        ("part", "all", "Graph",
         "nodes to predict (all, parts of the split, or unlabelled nodes): all, train, val, test, "
         "unlabelled"),
        ("only", None, "Graph",
         "predict only the nodes whose ids are in this file, one per line"),
        ("nodes_sql", None, "Graph",
         "query that returns the nodes: id, label, split and features (default the table nodes)"),
        ("edges_sql", None, "Graph",
         "query that returns the edges: source, target and weight (default the table edges)"),
        ("split", 0, "Graph",
         "which split to use if the graph has several, counted from 0"),
        ("without", None, "Graph",
         "leave out the nodes whose ids are in this file, one per line, as if the graph had never had them"),
        ("memory", None, "Advanced",
         "memory limit, such as 2GiB or 500MB; a larger graph in a native file is read in order (default "
         "none)"),
        ("threads", None, "General",
         "number of threads (default all cores); results do not depend on it"),
    ],
    "summarize": [
        ("groups", None, "Size",
         "number of groups (default 1000, at most a tenth of the nodes, at least one for each predicted "
         "class)"),
        ("seed", 0, "Graph",
         "random seed"),
        ("nodes_sql", None, "Graph",
         "query that returns the nodes: id, label, split and features (default the table nodes)"),
        ("edges_sql", None, "Graph",
         "query that returns the edges: source, target and weight (default the table edges)"),
        ("split", 0, "Graph",
         "which split to use if the graph has several, counted from 0"),
        ("without", None, "Graph",
         "leave out the nodes whose ids are in this file, one per line, as if the graph had never had them"),
        ("threads", None, "General",
         "number of threads (default all cores); results do not depend on it"),
    ],
    "propagate": [
        ("propagation", "sgc", "Method",
         "how features are propagated over the graph: sgc, ppr, sage"),
        ("hops", 2, "Method",
         "number of propagation steps"),
        ("teleport", 0.1, "Method",
         "teleport probability of propagation ppr"),
        ("add", False, "Graph",
         "add the new nodes in the folder or database given in place of data to the output folder of an "
         "earlier run with causal"),
        ("relabel", False, "Graph",
         "set labels (and the split, if given) in such a folder from the .csv file or database given in "
         "place of data"),
        ("part", "all", "Graph",
         "nodes to write to a folder (all, parts of the split, or unlabelled nodes): all, train, val, "
         "test, unlabelled"),
        ("only", None, "Graph",
         "write to a folder only the nodes whose ids are in this file, one per line"),
        ("normalize_features", False, "Graph",
         "row-normalise the features: divide those of each node by the sum of their absolute values"),
        ("standardize", False, "Graph",
         "scale each feature to mean 0 and variance 1 over the training nodes"),
        ("inductive", False, "Graph",
         "propagate over the subgraph of the training nodes"),
        ("causal", False, "Graph",
         "each node sees only neighbours that arrived before it; nodes must be in the order of their "
         "arrival"),
        ("nodes_sql", None, "Graph",
         "query that returns the nodes: id, label, split and features (default the table nodes)"),
        ("edges_sql", None, "Graph",
         "query that returns the edges: source, target and weight (default the table edges)"),
        ("split", 0, "Graph",
         "which split to use if the graph has several, counted from 0"),
        ("without", None, "Graph",
         "leave out the nodes whose ids are in this file, one per line, as if the graph had never had them"),
        ("store", "f32", "Output",
         "number type of the arrays in a folder: f32, f16"),
        ("memory", None, "Advanced",
         "memory limit for the graph and its propagation, such as 2GiB or 500MB; propagation is then "
         "slower (default none)"),
        ("precision", "float32", "Advanced",
         "precision of the features between hops; half is faster on large graphs but less exact: float32, "
         "half"),
        ("threads", None, "General",
         "number of threads (default all cores); results do not depend on it"),
    ],
    "report": [
        ("other_graph", False, "Graph",
         "allow a graph or a split other than the one small was condensed from; the output then says so"),
        ("nodes_sql", None, "Graph",
         "query that returns the nodes: id, label, split and features (default the table nodes)"),
        ("edges_sql", None, "Graph",
         "query that returns the edges: source, target and weight (default the table edges)"),
        ("split", 0, "Graph",
         "which split to use if the graph has several, counted from 0"),
        ("without", None, "Graph",
         "leave out the nodes whose ids are in this file, one per line, as if the graph had never had them"),
        ("models", "gcn", "Training",
         "models to train: sgc, gcn, sage, appnp, cheby, gat; gcn:layers=3 sets a parameter"),
        ("seeds", 5, "Training",
         "number of training runs of each model on the condensed graph; 0 trains none"),
        ("epochs", 1000, "Training",
         "number of training epochs"),
        ("hidden", 256, "Training",
         "number of hidden units"),
        ("dropout", 0.5, "Training",
         "dropout probability"),
        ("input_dropout", 0.0, "Training",
         "dropout probability of the input features"),
        ("lr", 0.01, "Training",
         "learning rate"),
        ("weight_decay", 0.0005, "Training",
         "weight decay"),
        ("weighted", True, "Training",
         "weight each condensed node by the number of its source nodes; False weights all equally, as in "
         "the paper"),
        ("validate_every", 0, "Training",
         "number of epochs between validations; 0 chooses it by the size of the graph"),
        ("whole", None, "Training",
         "number of training runs on the full graph; 0 for none (default as seeds up to 20,000 nodes, else "
         "0)"),
        ("seed", 0, "Training",
         "random seed of the training runs"),
        ("figures", None, "Output",
         "also write each plot as .svg and .png to this folder, which is created if needed"),
        ("ceilings", True, "Output",
         "compare the speed of each step with the peak rates of this machine, if condensing took a second "
         "or more (measuring takes two seconds and 600 MB of memory)"),
        ("threads", None, "General",
         "number of threads (default all cores); results do not depend on it"),
    ],
}

# The parameters that the name of a model may set, with their defaults.
MODELS: dict[str, dict[str, float]] = {
    "sgc": {"hops": 2},
    "gcn": {"layers": 2},
    "sage": {"layers": 2},
    "appnp": {"alpha": 0.1, "hops": 10},
    "cheby": {"layers": 2, "order": 2},
    "gat": {"heads": 8},
}

# The values that search chooses from by default.
SPACE: dict[str, list[Any]] = {
    "models": [
        "sgc",
        "sgc:hops=3",
        "sgc:hops=4",
        "gcn:layers=1",
        "gcn",
        "gcn:layers=3",
        "sage:layers=1",
        "sage",
        "sage:layers=3",
        "appnp:hops=5",
        "appnp",
        "appnp:alpha=0.2",
        "cheby:order=1",
        "cheby",
        "cheby:order=3",
        "gat:heads=1",
        "gat:heads=4",
        "gat",
    ],
    "hidden": [16, 32, 64, 128, 256],
    "dropout": [0, 0.25, 0.5, 0.75],
    "input_dropout": [0, 0.5],
    "learning_rate": [0.002, 0.01, 0.05],
    "weight_decay": [0, 0.00005, 0.0005, 0.005],
    "weighted": [False, True],
}

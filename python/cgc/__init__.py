"""Graph condensation: make a small graph on which a GNN trains about as well as on the large one.

>>> import cgc
>>> small = cgc.condense("demo", nodes=70)
>>> small
Condensed(demo: 70 of 4,000 nodes (1.8%), 0 edges, 96 features, 7 classes, method cgc-d unsmoothed)

Accepted graphs:

* a torch_geometric Data, or a data set with one graph: x, y, edge_index (or adj_t), edge_weight, masks or OGB's split;
* a DGL graph with one type of nodes and edges: node data feat (or x), label (or y) and masks, edge data weight;
* a networkx graph: node attributes x (or feat), y (or label), split (train, val, test) or masks, edge attribute weight;
* two tables: cgc.tables(nodes, edges);
* named parts, or a dictionary of them: numpy arrays, torch tensors, lists, scipy.sparse matrices;
* a cgc.Graph, the name or path of a graph, or the address of a database.

Each function runs the command `cgc` in a separate process and returns its result. A call that takes over a second shows
a progress bar in terminals and notebooks. Ctrl-C stops the process and raises KeyboardInterrupt. A wrong argument, or a
file that cannot be read or written, raises Error. An unknown argument raises UnknownArgument.
"""

from ._api import (
    condense,
    cut,
    evaluate,
    load_dataset,
    objective,
    predict,
    propagate,
    report,
    search,
    summarize,
    train,
    tune,
)
from ._condensed import Condensed, Origin, load, save
from ._error import Error, GraphWarning, UnknownArgument
from ._frames import Tables, tables
from ._graph import Graph
from ._model import Model, Predictions, load_model
from ._propagated import Propagated, load_propagated
from ._search import SearchResult
from ._table import Score, Table

__version__ = "0.1.0.dev0"
__all__ = [
    "Condensed", "Error", "Graph", "GraphWarning", "Model", "Origin", "Predictions", "Propagated", "Score",
    "SearchResult", "Table", "Tables", "UnknownArgument", "__version__", "condense", "cut", "evaluate", "load",
    "load_dataset", "load_model", "load_propagated", "objective", "predict", "propagate", "report", "save", "search",
    "summarize", "tables", "train", "tune",
]  # fmt: skip

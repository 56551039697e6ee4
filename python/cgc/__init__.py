"""Graph condensation: make a small graph on which a GNN trains about as well as on the large one.

>>> import cgc
>>> small = cgc.condense(data, nodes=70)  # doctest: +SKIP

condense, tune and evaluate take a torch_geometric Data, a DGL or networkx graph, or arrays. They run the command of
the package, and give what it gives. Mistakes are cgc.Error.
"""

from ._api import condense, evaluate, load_dataset, report, tune
from ._condensed import Condensed, Origin, load, save
from ._error import Error, UnknownArgument
from ._frames import Tables, tables
from ._graph import Graph
from ._table import Score, Table

__all__ = [
    "Condensed", "Error", "Graph", "Origin", "Score", "Table", "Tables", "UnknownArgument",
    "condense", "evaluate", "load", "load_dataset", "report", "save", "tables", "tune",
]  # fmt: skip

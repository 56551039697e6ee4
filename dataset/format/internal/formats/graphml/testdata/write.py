"""Write networkx.graphml, packed.graphml.gz.b64 and igraph.graphml: the path a–b–c and the node d.

Needs networkx and igraph: python3 write.py
"""

import base64
import os

import igraph
import networkx as nx

os.chdir(os.path.dirname(os.path.abspath(__file__)))

# age is an integer for some nodes and a float for others, so networkx declares two attributes of that name.
g = nx.DiGraph()
g.add_node("a", age=3, label="red", member=True, split="train", note="x < y & z")
g.add_node("b & co", age=1.5, label="blue", member=False, split="val", note="")
g.add_node("c", age=-2, label="red", member=True, split="test", note="é")
g.add_node("d", age=0.25, member=False)
g.add_edge("a", "b & co", weight=2.5, since=1999)
g.add_edge("b & co", "a", weight=0.5)
g.add_edge("c", "b & co", weight=1)
nx.write_graphml(g, "networkx.graphml")
nx.write_graphml(g, "packed.graphml.gz")
with open("packed.graphml.gz", "rb") as f, open("packed.graphml.gz.b64", "wb") as out:
    out.write(base64.encodebytes(f.read()))
os.remove("packed.graphml.gz")

h = igraph.Graph(n=4, edges=[(0, 1), (2, 1)])
h.vs["name"] = ["a", "b & co", "c", "d"]
h.vs["age"] = [3, 1.5, -2, 0.25]
h.vs["member"] = [True, False, True, False]
h.vs["class"] = [1, 0, 1, float("nan")]
h.vs["train_mask"] = [True, False, False, False]
h.vs["val_mask"] = [False, True, False, False]
h.vs["test_mask"] = [False, False, True, False]
h.es["weight"] = [2.5, 1]
h.write_graphml("igraph.graphml")

"""Write the folder "made" with pandas and PyYAML, as the documentation of DGL's CSVDataset does, and let DGL load it.

It holds the path a–b–c and the node d, with names as ids and an index column as pandas adds it. Needs dgl and torch:
python3 write.py
"""

import os
import shutil

os.environ["DGLBACKEND"] = "pytorch"

import dgl
import pandas as pd
import yaml

os.chdir(os.path.dirname(os.path.abspath(__file__)))
os.makedirs("made", exist_ok=True)

meta = {
    "version": "1.0.0",
    "dataset_name": "made",
    "edge_data": [{"file_name": "edges_0.csv", "etype": ["_V", "_E", "_V"]}],
    "node_data": [{"file_name": "nodes_0.csv", "ntype": "_V"}],
}
with open("made/meta.yaml", "w") as f:
    yaml.dump(meta, f, sort_keys=False)
nodes = pd.DataFrame({
    "node_id": ["a", "b", "c", "d, e"], "label": [1, 2, 1, -1], "age": [3.5, 1, 0, 0.25],
    "train_mask": [True, False, False, False], "val_mask": [False, True, False, False],
    "test_mask": [False, False, True, False],
    "feat": ["1.0, 0.5", "0.0, -0.002", "0, 0", "3,4e0"], "graph_id": [0, 0, 0, 0],
})
nodes.to_csv("made/nodes_0.csv")
edges = pd.DataFrame({
    "src_id": ["a", "b", "c"], "dst_id": ["b", "a", "b"], "weight": [2.5, 0.5, 1.0], "feat": ["1,2", "3,4", "5,6"],
})
edges.to_csv("made/edges_0.csv", index=False)

g = dgl.data.CSVDataset("made", force_reload=True)[0]
assert g.ndata["feat"].tolist()[3] == [3.0, 4.0] and g.edata["weight"].tolist() == [2.5, 0.5, 1.0], (g.ndata, g.edata)
assert g.ndata["label"].tolist() == [1, 2, 1, -1]
shutil.rmtree("made/made")  # DGL's cache of the data set

"""Condense Cora to 70 nodes, train a GCN of PyTorch Geometric on them, and test it on the original graph."""

import torch
from torch.nn.functional import cross_entropy
from torch_geometric.nn import GCN

import cgc

data = cgc.load_dataset("cora").to_pyg()  # your own Data: cgc.load_dataset(own).to_pyg()
small = cgc.condense(data, nodes=70)
print(small.origin)
torch.manual_seed(0)
model = GCN(data.num_features, 256, num_layers=2, out_channels=7, dropout=0.5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for _ in range(100):
    optimizer.zero_grad()
    loss = cross_entropy(model(small.x, small.edge_index, small.edge_weight), small.target, reduction="none")
    (loss @ small.weight / small.weight.sum()).backward()
    optimizer.step()
model.eval()
correct = model(data.x, data.edge_index).argmax(dim=1) == data.y
print(f"test accuracy on the original graph: {correct[data.test_mask].float().mean():.1%}")

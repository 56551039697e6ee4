package overview

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// training returns a Python program that trains a GCN on the condensed graph and tests it on the original graph as cgc
// does: it uses the weights of the condensed nodes, and the features and test nodes of the condensation's setting.
func (s Subject) training() string {
	small := s.Condensed
	target := "small.y"
	if small.Soft != nil {
		target = "small.y_soft"
	}
	source := strconv.Quote(s.Source)
	for flag := range slices.Chunk(s.Reading, 2) {
		name, value := strings.ReplaceAll(strings.TrimPrefix(flag[0], "--"), "-", "_"), flag[1]
		if name != "split" { // a number
			value = strconv.Quote(value)
		}
		source += ", " + name + "=" + value
	}
	text := `import cgc
import torch
import torch.nn.functional as F
from torch_geometric.nn import GCN

small = cgc.load(` + strconv.Quote(s.File) + `).to_pyg()
data = cgc.load_dataset(` + source + `).to_pyg()
`
	if small.NormalizedFeatures {
		text += "data.x = data.x / data.x.abs().sum(1, keepdim=True).clamp(min=1e-12)\n"
	}
	if small.Scaling != nil {
		text += "data.x = (data.x - small.scaling_mean) / small.scaling_std\n"
	}
	if small.Inductive {
		text += "data = data.subgraph(data.test_mask)\n"
	}
	weights := ""
	if s.Graph.Adj.Data != nil {
		weights = ", edge_weight=data.edge_weight"
	}
	return text + fmt.Sprintf(`
model = GCN(small.num_features, 256, num_layers=2, out_channels=%d, dropout=0.5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
weight = small.weight / small.weight.sum()
for epoch in range(200):
    model.train()
    optimizer.zero_grad()
    out = model(small.x, small.edge_index, edge_weight=small.edge_weight)
    loss = (weight * F.cross_entropy(out, %s, reduction="none")).sum()
    loss.backward()
    optimizer.step()

model.eval()
with torch.no_grad():
    predicted = model(data.x, data.edge_index%s).argmax(1)
right = (predicted == data.y)[data.test_mask]
print(f"test accuracy {right.float().mean():.1%%}")
`, s.Graph.Classes, target, weights)
}

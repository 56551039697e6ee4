package overview

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/experiment"
)

// Moment is the number of seconds of condensation below which a page collapses the times of the steps.
const Moment = 1.0

// accuracies plots the test accuracy of each model after training on condensed graphs and on the full graph.
func (s Subject) accuracies() *report.Plot {
	bars := &report.Bars{Axis: "test accuracy, %", Points: true}
	for _, score := range s.Small {
		bars.Rows = append(bars.Rows, score.Model)
	}
	intervals := false
	add := func(name string, scores []experiment.Score) {
		series := report.BarSeries{Name: name, Digits: 1}
		for _, model := range bars.Rows {
			mean, half, samples := math.NaN(), 0.0, []float64(nil)
			if score := of(scores, model); score != nil {
				mean, _ = score.TestMean()
				half, samples = score.TestCI95(), score.Test
			}
			series.Estimate(mean, half, len(samples))
			series.Samples = append(series.Samples, samples)
			series.Detail = append(series.Detail, report.Plural(len(samples), "training run"))
			intervals = intervals || !math.IsNaN(series.Low[len(series.Low)-1])
		}
		bars.Series = append(bars.Series, series)
	}
	add("trained on the condensed graph", s.Small)
	caption := "Accuracy on the test nodes of the original graph. Large dots are means, small ones single training runs. "
	if intervals {
		caption += "Error bars are 95% intervals of the mean over " + s.Over + " (Student's t). "
	}
	if len(s.Whole) > 0 {
		add("trained on the full graph", s.Whole)
		caption += "Ideally, the condensed graph's dots lie as far to the right as the full graph's."
	} else {
		caption += "No model was trained on the full graph to compare with."
	}
	return &report.Plot{
		Name: "accuracy", Title: "Accuracy by model", Caption: caption, Data: bars, Numbers: s.scores(),
	}
}

// scores returns a table of accuracies, with a row for each model and each graph that it was trained on.
func (s Subject) scores() *report.Table {
	t := &report.Table{Columns: []report.Column{
		{Name: "model"}, {Name: "trained on"}, {Name: "accuracy", Unit: "%", Parts: report.MeanParts},
		{Name: "time", Unit: "s", Key: "seconds of a training"},
	}}
	for _, small := range s.Small {
		t.Row(small.Model, "condensed", meanOf(small), secondsOf(small))
		if whole := of(s.Whole, small.Model); whole != nil {
			t.Row(small.Model, "full", meanOf(*whole), secondsOf(*whole))
		}
	}
	return t
}

// secondsOf formats the time of one training run of a model, in seconds.
func secondsOf(s experiment.Score) report.Cell { return report.Significant(s.Seconds, 2) }

func meanOf(s experiment.Score) report.Cell {
	mean, std := s.TestMean()
	return report.Mean(mean, std, len(s.Test), 1)
}

// confusion compares the predictions of the first model on the test nodes after training on the condensed graph and on
// the full graph. It returns nil if there are no predictions.
func (s Subject) confusion(names []string) []report.Block {
	truth := s.Graph.Labels(s.Graph.Split.Test)
	small := s.Small[0]
	if len(truth) == 0 || len(small.Predicted) != len(truth) {
		return nil
	}
	count := func(predicted []int32) [][]int {
		counts := make([][]int, s.Graph.Classes)
		for c := range counts {
			counts[c] = make([]int, s.Graph.Classes)
		}
		for i, c := range truth {
			if c >= 0 {
				counts[c][predicted[i]]++
			}
		}
		return counts
	}
	on := report.Sheet{Name: "condensed", Values: count(small.Predicted)}
	matrix := &report.Heatmap{
		X: "predicted", Y: "true class", Rows: names, Columns: names, Sheets: []report.Sheet{on},
	}
	p := &report.Plot{
		Name: "confusion", Title: "Predictions on the test nodes", Data: matrix,
		Caption: "Test nodes by true class (row) and predicted class (column). " +
			"Colours follow the square root of the number. ",
	}
	whole := of(s.Whole, small.Model)
	if whole == nil || len(whole.Predicted) != len(truth) {
		p.Caption += fmt.Sprintf("The %s was trained on the condensed graph, with the first seed. Ideally, "+
			"the diagonal holds most nodes of each row.", small.Model)
		return []report.Block{p}
	}
	full := report.Sheet{Name: "full", Values: count(whole.Predicted)}
	change := report.Sheet{Name: "difference", Signed: true, Values: count(small.Predicted)}
	same := 0
	for i := range truth {
		if small.Predicted[i] == whole.Predicted[i] {
			same++
		}
	}
	for i, row := range full.Values {
		for j, n := range row {
			change.Values[i][j] -= n
		}
	}
	matrix.Sheets = []report.Sheet{change, on, full}
	p.Title = "What condensing changed in the predictions"
	p.Caption += fmt.Sprintf("The difference is the count of the %s trained on the condensed graph minus that "+
		"of the %s trained on the full graph. Ideally, all differences are small; above 0 on the diagonal is a "+
		"gain. The two agree on %s of %s test nodes (%s), with the first seed of each.", small.Model, small.Model,
		report.Count(same), report.Count(len(truth)), report.Percent(100*float64(same)/float64(len(truth)), 1).Text)
	return []report.Block{p}
}

// time compares the seconds of each step with the minimum that the machine needs for its work. The block is collapsed
// if the steps take less than a second in total. time returns nil if the seconds were not measured.
func (s Subject) time() []report.Block {
	total := s.Condensed.Seconds.Total
	if total <= 0 {
		return nil
	}
	digits := 2
	if total < Moment {
		digits = 3
	}
	bars := &report.Bars{Axis: "seconds"}
	took := report.BarSeries{Name: "measured", Digits: digits}
	least := report.BarSeries{Name: "fewest possible", Digits: digits, Tick: true}
	bound := false
	for _, step := range s.Condensed.Seconds.Steps {
		if step.Seconds < 1e-3*total {
			continue // the method has no such step, or it does nothing
		}
		bars.Rows = append(bars.Rows, step.Name)
		floor, why := math.NaN(), ""
		for _, known := range s.Steps {
			if known.Name == step.Name && known.Work != nil && known.Share > 0 {
				floor, bound = known.Seconds*known.Share, true
				why = fmt.Sprintf("%.0f%% of the speed of %s", 100*known.Share, ceilings[string(known.Ceiling)])
			}
		}
		took.Values, took.Detail = append(took.Values, step.Seconds), append(took.Detail, "")
		least.Values, least.Detail = append(least.Values, floor), append(least.Detail, why)
	}
	bars.Series = []report.BarSeries{took}
	title := fmt.Sprintf("Seconds by step: %s in total", report.Decimal(total, digits).Text)
	caption := "From the graph in memory to the condensed graph in memory."
	if bound {
		bars.Series = append(bars.Series, least)
		caption += " The fewest possible follow from the work of the step and the measured speed of this machine (cgc " +
			"bench); work that fits into a cache can be faster. Ideally, the two are close."
	}
	if s.Peak > 0 {
		caption += " Peak memory, including all training runs: " + report.Bytes(s.Peak) + "."
	}
	p := &report.Plot{Name: "seconds", Title: title, Caption: caption, Data: bars}
	if total >= Moment {
		return []report.Block{p}
	}
	t := p.Table()
	t.Title, t.Foot, t.Folded = title, caption, true
	return []report.Block{t}
}

// ceilings maps each ceiling to the name of its resource.
var ceilings = map[string]string{
	"stream": "memory read in order", "gather": "memory read at random", "compute": "matrix products",
}

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
	if small.Causal {
		text += "earlier = data.edge_index[0] < data.edge_index[1]\ndata.edge_index = data.edge_index[:, earlier]\n"
		if s.Graph.Adj.Data != nil {
			text += "data.edge_weight = data.edge_weight[earlier]\n"
		}
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

package overview

import (
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/report"
)

// accuracies draws the test accuracy of each model: trained on condensed graphs, and on the whole graph.
func (s Subject) accuracies() *report.Plot {
	bars := &report.Bars{Axis: "test accuracy, %", Points: true}
	for _, score := range s.Small {
		bars.Rows = append(bars.Rows, score.Model)
	}
	add := func(name string, scores []experiment.Score) {
		series := report.BarSeries{Name: name, Digits: 1}
		for _, model := range bars.Rows {
			mean, low, high, detail := math.NaN(), math.NaN(), math.NaN(), ""
			for _, score := range scores {
				if score.Model == model {
					mean, _ = score.TestMean()
					half := score.TestCI95()
					low, high = max(0, mean-half), min(100, mean+half)
					detail = report.Plural(len(score.Test), "training")
				}
			}
			series.Values = append(series.Values, mean)
			series.Low, series.High = append(series.Low, low), append(series.High, high)
			series.Detail = append(series.Detail, detail)
		}
		bars.Series = append(bars.Series, series)
	}
	add("trained on the condensed graph", s.Small)
	caption := "Accuracy on the test nodes of the original graph. "
	if len(s.Small[0].Test) > 1 {
		caption += "Strokes are 95% intervals of the mean over " + s.Over + ", by Student's t."
	} else {
		caption += "One training each, so there are no intervals."
	}
	if len(s.Whole) > 0 {
		add("trained on the whole graph", s.Whole)
	} else {
		caption += " No model was trained on the whole graph."
	}
	return &report.Plot{Name: "accuracy", Title: "Accuracy by model", Caption: caption, Data: bars}
}

// scores is the table of the accuracies.
func (s Subject) scores() *report.Table {
	parts := []string{"mean", "std"}
	t := &report.Table{Columns: []report.Column{
		{Name: "test accuracy, %", Key: "model"}, {Name: "on condensed", Parts: parts}, {Name: "seconds of a training"},
	}}
	if len(s.Whole) > 0 {
		t.Columns = append(t.Columns, report.Column{Name: "on the whole graph", Parts: parts},
			report.Column{Name: "seconds of a training", Key: "seconds on the whole graph"},
			report.Column{Name: "share of the whole graph's"})
	}
	for _, small := range s.Small {
		row := []report.Cell{report.Word(small.Model), meanOf(small), report.Significant(small.Seconds, 2)}
		for _, whole := range s.Whole {
			if whole.Model == small.Model {
				a, _ := small.TestMean()
				b, _ := whole.TestMean()
				row = append(row, meanOf(whole), report.Significant(whole.Seconds, 2))
				if b > 0 {
					row = append(row, report.Percent(100*a/b, 1))
				}
			}
		}
		t.Row(row...)
	}
	return t
}

func meanOf(s experiment.Score) report.Cell {
	mean, std := s.TestMean()
	if len(s.Test) < 2 {
		return report.Decimal(mean, 1)
	}
	return report.PlusMinus(mean, std, 1)
}

// confusion compares what the first model predicts on the test nodes, trained on the condensed graph and on the whole
// one; nil if there are no predictions.
func (s Subject) confusion(names []string) *report.Plot {
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
	matrix := &report.Heatmap{X: "predicted", Y: "true class", Rows: names, Columns: names}
	on := report.Sheet{Name: "condensed", Values: count(small.Predicted)}
	for _, whole := range s.Whole {
		if whole.Model != small.Model || len(whole.Predicted) != len(truth) {
			continue
		}
		of := report.Sheet{Name: "whole", Values: count(whole.Predicted)}
		change := report.Sheet{Name: "difference", Signed: true, Values: count(small.Predicted)}
		same := 0
		for i := range truth {
			if small.Predicted[i] == whole.Predicted[i] {
				same++
			}
		}
		for i, row := range of.Values {
			for j, n := range row {
				change.Values[i][j] -= n
			}
		}
		matrix.Sheets = []report.Sheet{change, on, of}
		return &report.Plot{
			Name: "confusion", Title: "What condensing changed in the predictions", Data: matrix,
			Caption: fmt.Sprintf("Test nodes by their true and their predicted class: the number with a %s trained on the "+
				"condensed graph, less the number with one trained on the whole graph. A gain on the diagonal is a gain in "+
				"accuracy. The two agree on %s of %s test nodes (%.1f%%), with the first seed of each. "+
				"Colours follow the root of the number.", small.Model,
				report.Count(same), report.Count(len(truth)), 100*float64(same)/float64(len(truth))),
		}
	}
	matrix.Sheets = []report.Sheet{on}
	return &report.Plot{
		Name: "confusion", Title: "Predictions on the test nodes", Data: matrix,
		Caption: fmt.Sprintf("Test nodes by their true and their predicted class, with a %s trained on the condensed graph "+
			"of the first seed. No model was trained on the whole graph to compare with. Colours follow the root of the number.",
			small.Model),
	}
}

// time draws the seconds of each step beside the least that the machine needs for its work.
func (s Subject) time() []report.Block {
	if s.Condensed.Seconds.Total <= 0 {
		return nil
	}
	bars := &report.Bars{Axis: "seconds"}
	took := report.BarSeries{Name: "took", Digits: 4}
	least := report.BarSeries{Name: "least by the ceiling", Digits: 4, Tick: true}
	bound := false
	for _, step := range s.Condensed.Seconds.Steps {
		if step.Seconds < 1e-3*s.Condensed.Seconds.Total {
			continue // not a step of this method, or nothing to do in it
		}
		bars.Rows = append(bars.Rows, step.Name)
		floor, why := math.NaN(), ""
		for _, known := range s.Steps {
			if known.Name == step.Name && known.Work != nil && known.Share > 0 {
				floor, bound = known.Seconds*known.Share, true
				why = fmt.Sprintf("%.0f%% of the ceiling of %s", 100*known.Share, ceilings[string(known.Ceiling)])
			}
		}
		took.Values, took.Detail = append(took.Values, step.Seconds), append(took.Detail, "")
		least.Values, least.Detail = append(least.Values, floor), append(least.Detail, why)
	}
	bars.Series = []report.BarSeries{took}
	caption := fmt.Sprintf("Seconds of each step; all together %s s, from the graph in memory to the condensed graph in "+
		"memory.", report.Significant(s.Condensed.Seconds.Total, 3).Text)
	if bound {
		bars.Series = append(bars.Series, least)
		caption += " The stroke is the least time that this machine needs for the work of the step, by its measured speed " +
			"of memory or of arithmetic (cgc bench). Work that fits into a cache can be faster."
	}
	if s.Peak > 0 {
		caption += " Peak memory, with all that was trained: " + report.Bytes(s.Peak) + "."
	}
	return []report.Block{
		report.Heading("Time"), &report.Plot{Name: "seconds", Title: "Seconds by step", Caption: caption, Data: bars},
	}
}

// ceilings says what a ceiling is of.
var ceilings = map[string]string{
	"stream": "memory read in order", "gather": "memory read at random", "compute": "matrix products",
}

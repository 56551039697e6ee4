// Package findings defines the results of `cgc experiment`, `cgc tune` and `cgc search`: their JSON objects, the
// documents that a terminal shows, and the documents with plots that HTML pages show.
package findings

import (
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
)

// Experiment is the outcome of an experiment on one or more graphs. Its JSON keys are a contract
// (docs/reference/json.md).
type Experiment struct {
	// Summaries has one entry for each graph, method, size and model, grouped by graph.
	Summaries []experiment.Summary `json:"summaries"`
	// Comparisons has an entry for each comparison of a method with the first method: on one graph, with one size and
	// one model, and in one setting (inductive or transductive).
	Comparisons []experiment.Comparison `json:"comparisons"`
	// Trained is the number of training runs that were carried out. Kept is the number of training runs that were already
	// in the log.
	Trained int `json:"trained"`
	Kept    int `json:"kept"`
	// Records, RecordsCSV and SummaryCSV are the paths of the files that were written.
	Records    string `json:"records"`
	RecordsCSV string `json:"records_csv"`
	SummaryCSV string `json:"summary_csv"`
}

// Document returns a report of the outcome: the accuracies on each graph, and the methods compared over the same seeds.
func (o *Experiment) Document() *report.Document { return o.document(false) }

// Picture returns Document's report with a plot of the accuracies on each graph, for HTML pages.
func (o *Experiment) Picture() *report.Document { return o.document(true) }

func (o *Experiment) document(plots bool) *report.Document {
	d := new(report.Document)
	for from := 0; from < len(o.Summaries); {
		to := from
		for to < len(o.Summaries) && o.Summaries[to].Graph.Fingerprint == o.Summaries[from].Graph.Fingerprint {
			to++
		}
		g := o.Summaries[from].Graph
		d.Add(report.Paragraph(fmt.Sprintf("%s: %s, %s, %s, %s, %s", g.Name, report.Plural(g.Nodes, "node"),
			report.Plural(g.Edges, "edge"), report.Plural(g.Features, "feature"), report.Plural(g.Classes, "class"),
			report.Plural(g.Train, "training node"))))
		d.Add(accuracies(o.Summaries[from:to]))
		if plots {
			d.Add(picture(g.Name, o.Summaries[from:to]))
		}
		if t := comparisons(o.Comparisons, g); len(t.Rows) > 0 {
			d.Add(t)
		}
		from = to
	}
	d.Add(o.notes(), report.Paragraph(fmt.Sprintf("%s done, %s kept from before; records: %s",
		report.Plural(o.Trained, "training run"), report.Count(o.Kept), o.Records)))
	return d
}

// accuracies returns a table with a row for each summary. The column "of full graph" is the accuracy as a percentage of
// the same model's accuracy after training on the full graph. Columns for the metrics are added where accuracy may
// mislead.
func accuracies(summaries []experiment.Summary) *report.Table {
	whole, within, uneven, ranked := map[string]float64{}, false, false, false
	for _, s := range summaries {
		if s.IsWhole() {
			whole[setting(s)] = s.Test.Mean
		}
		within = within || s.Within > 0
		uneven = uneven || Metrics(s.Metrics, s.Test.Mean, s.Graph.Classes, nil) != ""
		ranked = ranked || s.Metrics.AUC > 0
	}
	t := &report.Table{Columns: []report.Column{
		{Name: "test accuracy, %", Key: "arm"}, {Name: "nodes"}, {Name: "model"},
		{Name: "mean ± std", Key: "test", Parts: report.MeanParts},
		{Name: "95% interval", Key: "test 95% interval", Parts: report.IntervalParts}, {Name: "seeds"},
	}}
	if within {
		t.Columns = append(t.Columns, report.Column{Name: "within"})
	}
	if uneven {
		t.Columns = append(t.Columns, report.Column{Name: "balanced"}, report.Column{Name: "macro-F1"})
	}
	if ranked {
		t.Columns = append(t.Columns, report.Column{Name: "ROC AUC"}, report.Column{Name: "average precision"})
	}
	t.Columns = append(t.Columns, report.Column{Name: "condense s"}, report.Column{Name: "train s"})
	if len(whole) > 0 {
		t.Columns = append(t.Columns, report.Column{Name: "of full graph", Key: "% of whole"})
	}
	for _, s := range summaries {
		arm := s.Arm
		if s.IsWhole() {
			arm = "full graph"
		}
		var interval, condense report.Cell
		if len(s.Seeds) > 1 {
			interval = report.Interval(max(0, s.Test.Mean-s.Test.CI95), min(100, s.Test.Mean+s.Test.CI95), 1)
		}
		var spread, more, ofWhole []report.Cell // columns that not all tables have
		if within {
			spread = []report.Cell{{}}
			if len(s.Seeds) > 0 && s.Seeds[0].Trainings > 1 { // training runs on the same condensed graph
				spread[0] = report.Decimal(s.Within, 1)
			}
		}
		m := s.Metrics
		if uneven {
			more = append(more, metric(m.Balanced), metric(m.MacroF1))
		}
		if ranked {
			more = append(more, metric(m.AUC), metric(m.AveragePrecision))
		}
		if !s.IsWhole() {
			condense = report.Significant(s.Condense, 2)
			if w := whole[setting(s)]; w > 0 {
				ofWhole = []report.Cell{report.Percent(100*s.Test.Mean/w, 1)}
			}
		}
		t.Row(arm, s.Nodes, s.Model, report.Mean(s.Test.Mean, s.Test.Std, len(s.Seeds), 1), interval, len(s.Seeds), spread,
			more, condense, report.Significant(s.Train, 2), ofWhole)
	}
	return t
}

// picture draws the accuracies with their intervals. It has a row for each arm and size, and a series for each model.
func picture(name string, summaries []experiment.Summary) *report.Plot {
	bars := &report.Bars{Axis: "test accuracy, %", Points: true}
	rowOf := func(s experiment.Summary) string {
		return fmt.Sprintf("%s, %s", s.Arm, report.Plural(s.Nodes, "node"))
	}
	var models []string
	for _, s := range summaries {
		if row := rowOf(s); !slices.Contains(bars.Rows, row) {
			bars.Rows = append(bars.Rows, row)
		}
		if !slices.Contains(models, s.Model) {
			models = append(models, s.Model)
		}
	}
	for _, model := range models {
		series := report.BarSeries{Name: model, Digits: 1}
		for _, row := range bars.Rows {
			shown := experiment.Summary{Test: experiment.Estimate{Mean: math.NaN()}}
			for _, s := range summaries {
				if s.Model == model && rowOf(s) == row {
					shown = s
				}
			}
			series.Estimate(shown.Test.Mean, shown.Test.CI95, len(shown.Seeds))
		}
		bars.Series = append(bars.Series, series)
	}
	return &report.Plot{
		Title: "Accuracy on " + name, Data: bars,
		Caption: "Mean accuracy on the test nodes of the original graph. Error bars are 95% intervals of the mean " +
			"(Student's t), for at least three seeds. Ideally, few nodes reach as far to the right as the full graph.",
	}
}

// setting identifies the training on the full graph that a summary is compared with.
func setting(s experiment.Summary) string {
	training := s.Training
	training.Weighted = false
	return fmt.Sprint(s.Model, s.Setting, training)
}

// comparisons returns a table with a row for each comparison on one graph.
func comparisons(all []experiment.Comparison, g graph.Identity) *report.Table {
	t := &report.Table{Columns: []report.Column{
		{Name: "points of difference", Key: "arms"}, {Name: "nodes"}, {Name: "model"},
		{Name: "mean ± std", Key: "difference", Parts: report.MeanParts},
		{Name: "95% interval", Key: "difference 95% interval", Parts: report.IntervalParts}, {Name: "seeds"},
		{Name: "", Key: "verdict"},
	}}
	for _, c := range all {
		if c.Fingerprint != g.Fingerprint || c.Seeds == 0 {
			continue
		}
		var interval report.Cell
		if d := c.Difference; c.Seeds > 1 {
			interval = report.Interval(d.Mean-d.CI95, d.Mean+d.CI95, 2)
		}
		t.Row(c.Arm+" − "+c.Base, c.Nodes, c.Model, report.Mean(c.Difference.Mean, c.Difference.Std, c.Seeds, 2), interval,
			c.Seeds, c.Verdict)
	}
	return t
}

// notes explains the columns.
func (o *Experiment) notes() report.Notes {
	several, whole, within := false, false, false
	for _, s := range o.Summaries {
		several = several || len(s.Seeds) > 1
		whole = whole || s.IsWhole()
		within = within || s.Within > 0
	}
	notes := report.Notes{"one seed each: no ± and no interval"}
	if several {
		over := "±: standard deviation over condensation seeds"
		if whole {
			over += "; of the full graph, over training seeds"
		}
		notes = report.Notes{over, "95% interval: of the mean, by Student's t"}
	}
	if within {
		notes = append(notes,
			"within: standard deviation over training runs on one condensed graph; each seed counts with their mean")
	}
	if len(o.Comparisons) > 0 && several {
		notes = append(notes, fmt.Sprintf(
			"differences: between condensations of the same seeds; %s or %s where the interval excludes 0",
			experiment.Better, experiment.Worse))
	}
	return notes
}

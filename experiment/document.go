package experiment

import (
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/report"
)

// Outcome is what an experiment on one or more graphs found. Its JSON keys are a contract (docs/formats.md).
type Outcome struct {
	// Summaries has one entry for each graph, arm, size and model, the entries of a graph together. Comparisons puts
	// the arms beside the first of each graph, size and model.
	Summaries   []Summary    `json:"summaries"`
	Comparisons []Comparison `json:"comparisons"`
	// Trained is the number of trainings that were done, Kept the number that the log held already.
	Trained int `json:"trained"`
	Kept    int `json:"kept"`
	// Records is the path of the log, RecordsCSV and SummaryCSV those of the tables.
	Records    string `json:"records"`
	RecordsCSV string `json:"records_csv"`
	SummaryCSV string `json:"summary_csv"`
}

// Document shows the outcome: for each graph the accuracies, and the methods compared on the same seeds.
func (o *Outcome) Document() *report.Document { return o.document(false) }

// Picture is Document with a plot of the accuracies on each graph, for pages.
func (o *Outcome) Picture() *report.Document { return o.document(true) }

func (o *Outcome) document(plots bool) *report.Document {
	d := new(report.Document)
	for from := 0; from < len(o.Summaries); {
		to := from
		for to < len(o.Summaries) && o.Summaries[to].Graph.Fingerprint == o.Summaries[from].Graph.Fingerprint {
			to++
		}
		g := o.Summaries[from].Graph
		d.Add(report.Paragraph(fmt.Sprintf("%s: %s nodes, %s edges, %s features, %s classes, %s training nodes", g.Name,
			report.Count(g.Nodes), report.Count(g.Edges), report.Count(g.Features), report.Count(g.Classes),
			report.Count(g.Train))))
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
		report.Plural(o.Trained, "training"), report.Count(o.Kept), o.Records)))
	return d
}

// meanParts and intervalParts name the values of cells by report.PlusMinus and report.Interval.
var (
	meanParts     = []string{"mean", "std"}
	intervalParts = []string{"low", "high"}
)

// accuracies has a row for each summary. "of whole" is the share of the accuracy that the same model has when it is
// trained on the whole graph.
func accuracies(summaries []Summary) *report.Table {
	whole, within := map[string]float64{}, false
	for _, s := range summaries {
		if s.IsWhole() {
			whole[s.setting()] = s.Test.Mean
		}
		within = within || s.Within > 0
	}
	t := &report.Table{Columns: []report.Column{
		{Name: "test accuracy, %", Key: "arm"}, {Name: "nodes"}, {Name: "model"},
		{Name: "mean ± std", Key: "test", Parts: meanParts},
		{Name: "95% interval", Key: "test 95% interval", Parts: intervalParts}, {Name: "seeds"},
	}}
	if within {
		t.Columns = append(t.Columns, report.Column{Name: "within"})
	}
	t.Columns = append(t.Columns, report.Column{Name: "condense s"}, report.Column{Name: "train s"})
	if len(whole) > 0 {
		t.Columns = append(t.Columns, report.Column{Name: "of whole", Key: "% of whole"})
	}
	for _, s := range summaries {
		row := []report.Cell{
			report.Word(s.Arm), report.Integer(s.Nodes), report.Word(s.Model), plusMinus(s.Test, len(s.Seeds), 1),
			interval95(s), report.Integer(len(s.Seeds)),
		}
		if within {
			row = append(row, withinCell(s))
		}
		var condense, ofWhole report.Cell
		if !s.IsWhole() {
			condense = report.Decimal(s.Condense, 3)
		}
		row = append(row, condense, report.Decimal(s.Train, 1))
		if w := whole[s.setting()]; len(whole) > 0 {
			if w > 0 && !s.IsWhole() {
				ofWhole = report.Percent(100*s.Test.Mean/w, 1)
			}
			row = append(row, ofWhole)
		}
		t.Row(row...)
	}
	return t
}

// picture draws the accuracies with their intervals, a row for each arm and size, a series for each model.
func picture(name string, summaries []Summary) *report.Plot {
	bars := &report.Bars{Axis: "test accuracy, %", Points: true}
	type place struct{ row, series int }
	at := map[place]Estimate{}
	rows, models := map[string]int{}, map[string]int{}
	for _, s := range summaries {
		row := fmt.Sprintf("%s, %s", s.Arm, report.Plural(s.Nodes, "node"))
		if _, is := rows[row]; !is {
			rows[row] = len(rows)
			bars.Rows = append(bars.Rows, row)
		}
		if _, is := models[s.Model]; !is {
			models[s.Model] = len(models)
			bars.Series = append(bars.Series, report.BarSeries{Name: s.Model, Digits: 1})
		}
		at[place{rows[row], models[s.Model]}] = s.Test
	}
	for k := range bars.Series {
		series := &bars.Series[k]
		for i := range bars.Rows {
			e, is := at[place{i, k}]
			if !is {
				e = Estimate{Mean: math.NaN()}
			}
			series.Values = append(series.Values, e.Mean)
			series.Low = append(series.Low, max(0, e.Mean-e.CI95))
			series.High = append(series.High, min(100, e.Mean+e.CI95))
		}
	}
	return &report.Plot{
		Title: "Accuracy on " + name, Data: bars,
		Caption: "Accuracy on the test nodes of the original graph. Strokes are 95% intervals of the mean, by Student's t; " +
			"one seed has none.",
	}
}

// setting names what a training on the whole graph has in common with one on a condensed graph.
func (s Summary) setting() string {
	training := s.Training
	training.Weighted = false
	return fmt.Sprint(s.Model, s.Setting, training)
}

// withinCell is the standard deviation over the trainings on one condensed graph; blank for one training.
func withinCell(s Summary) report.Cell {
	if len(s.Seeds) == 0 || s.Seeds[0].Trainings < 2 {
		return report.Cell{}
	}
	return report.Decimal(s.Within, 1)
}

// comparisons has a row for each comparison on one graph.
func comparisons(all []Comparison, g graph.Identity) *report.Table {
	t := &report.Table{Columns: []report.Column{
		{Name: "points of difference", Key: "arms"}, {Name: "nodes"}, {Name: "model"},
		{Name: "mean ± std", Key: "difference", Parts: meanParts},
		{Name: "95% interval", Key: "difference 95% interval", Parts: intervalParts}, {Name: "seeds"},
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
		t.Row(report.Word(c.Arm+" − "+c.Base), report.Integer(c.Nodes), report.Word(c.Model),
			plusMinus(c.Difference, c.Seeds, 2), interval, report.Integer(c.Seeds), report.Word(c.Verdict))
	}
	return t
}

// notes says what the columns are.
func (o *Outcome) notes() report.Notes {
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
			over += fmt.Sprintf("; of the %s graph, over training seeds", Whole)
		}
		notes = report.Notes{over, "95% interval: of the mean, by Student's t"}
	}
	if within {
		notes = append(notes,
			"within: standard deviation over trainings on one condensed graph; each seed counts with their mean")
	}
	if len(o.Comparisons) > 0 && several {
		notes = append(notes, fmt.Sprintf(
			"differences: between condensations of the same seeds; %s or %s where the interval leaves out 0", Better, Worse))
	}
	return notes
}

// plusMinus shows mean ± standard deviation, or the mean alone of one seed.
func plusMinus(e Estimate, seeds, digits int) report.Cell {
	if seeds < 2 {
		return report.Decimal(e.Mean, digits)
	}
	return report.PlusMinus(e.Mean, e.Std, digits)
}

// interval95 shows the 95% interval of the mean accuracy within 0 to 100; blank for one seed.
func interval95(s Summary) report.Cell {
	if len(s.Seeds) < 2 {
		return report.Cell{}
	}
	return report.Interval(max(0, s.Test.Mean-s.Test.CI95), min(100, s.Test.Mean+s.Test.CI95), 1)
}

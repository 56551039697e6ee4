package paper

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
)

// Document returns what a reader needs first: where a method is better than Ours, one row of accuracies and one of
// costs for each method, and a comparison with the paper. WriteCSV has all other numbers. If Ours was not measured,
// nothing is compared with it.
func (s *Standings) Document() *report.Document {
	d := &report.Document{Title: "Board"}
	graphs := s.graphs()
	if len(graphs) == 0 {
		return d
	}
	if s.comparable() {
		d.Add(report.Heading("Where a method is significantly better than " + Ours))
		if t := s.Losses(); len(t.Rows) > 0 {
			d.Add(t)
		} else {
			d.Add(report.Paragraph("Nowhere."))
		}
	}
	d.Add(report.Heading(fmt.Sprintf("Test accuracy in %% (%s)", s.Places[0].Model)), s.Accuracies())
	for _, text := range []string{s.uncounted(), s.againstPaper()} {
		if text != "" {
			d.Add(report.Paragraph(text))
		}
	}
	d.Add(report.Heading("Cost of condensing"), s.Costs())
	return d
}

// A column is a graph of the tables, with the middle one of its sizes.
type column struct {
	graph.Identity
	nodes int
}

// graphs returns a column for each graph, in the order in which they were measured.
func (s *Standings) graphs() (columns []column) {
	sizes := map[string][]int{}
	for _, p := range s.Places {
		of := p.Graph.Fingerprint
		if p.IsWhole() || slices.Contains(sizes[of], p.Nodes) {
			continue
		}
		if sizes[of] == nil {
			columns = append(columns, column{Identity: p.Graph})
		}
		sizes[of] = append(sizes[of], p.Nodes)
	}
	for i := range columns {
		of := sizes[columns[i].Fingerprint]
		slices.Sort(of)
		columns[i].nodes = of[len(of)/2]
	}
	return columns
}

// at returns the place of a method and the first model in a column, or nil.
func (s *Standings) at(c column, arm string) *Place {
	return s.place(c.Fingerprint, arm, c.nodes, s.Places[0].Model)
}

// comparable reports whether Ours was measured.
func (s *Standings) comparable() bool { return slices.Contains(s.arms(), Ours) }

// arms returns the names of the methods, in the order in which they were measured.
func (s *Standings) arms() (names []string) {
	for _, p := range s.Places {
		if !p.IsWhole() && !slices.Contains(names, p.Arm) {
			names = append(names, p.Arm)
		}
	}
	for _, u := range s.Unmeasured {
		if !slices.Contains(names, u.Arm) {
			names = append(names, u.Arm)
		}
	}
	return names
}

// ranked returns the names of the methods by their mean difference from Ours. If Ours was not measured, they are ranked
// by their accuracy on the first graph. Methods without either come last.
func (s *Standings) ranked() []string {
	arms, first, compared := s.arms(), s.graphs()[0], s.comparable()
	rank := func(arm string) float64 {
		c := s.tally(func(a string) bool { return a == arm })
		p := s.at(first, arm)
		switch {
		case c.all > 0 || compared && arm == Ours:
			return c.mean()
		case !compared && p != nil:
			return p.Test.Mean
		}
		return math.Inf(-1)
	}
	slices.SortStableFunc(arms, func(a, b string) int { return cmp.Compare(rank(b), rank(a)) })
	return arms
}

// accuracy formats an accuracy, and marks it if it differs significantly from the accuracy of Ours.
func (p *Place) accuracy() report.Cell {
	if p == nil {
		return report.Missing()
	}
	text := Accuracy(p.Summary).Text
	switch p.verdict() {
	case "better":
		text += " ▲"
	case "worse":
		text += " ▽"
	}
	return report.Word(text)
}

func rightColumns(names ...string) (columns []report.Column) {
	for _, name := range names {
		columns = append(columns, report.Column{Name: name, Side: report.Right})
	}
	return columns
}

// Losses lists the places where a method is significantly better than Ours, largest difference first.
func (s *Standings) Losses() *report.Table {
	t := &report.Table{Columns: append(append(report.Columns("graph"), rightColumns("N′")...),
		append(report.Columns("model", "method"), rightColumns("its accuracy", Ours, "difference, 95% interval")...)...)}
	lost := slices.DeleteFunc(slices.Clone(s.Places), func(p Place) bool { return p.verdict() != "better" })
	slices.SortStableFunc(lost, func(a, b Place) int {
		return cmp.Compare(b.Against.Difference.Mean, a.Against.Difference.Mean)
	})
	for _, p := range lost {
		ours := s.place(p.Graph.Fingerprint, Ours, p.Nodes, p.Model)
		t.Row(GraphName(p.Graph.Name, s.ChosenOn), p.Nodes, p.Model, p.Arm, Accuracy(p.Summary), ours.accuracy(),
			Difference(p.Against.Difference, false))
	}
	return t
}

// Accuracies returns a row for each method: its accuracy with the first model at the middle size of each graph, and
// the outcome of all comparisons with Ours.
func (s *Standings) Accuracies() *report.Table {
	t, graphs, compared := &report.Table{Columns: report.Columns("method")}, s.graphs(), s.comparable()
	for _, c := range graphs {
		name := GraphName(c.Name, s.ChosenOn)
		t.Columns = append(t.Columns, rightColumns(fmt.Sprintf("%s, %s", name, report.Count(c.nodes)))...)
	}
	if compared {
		t.Columns = append(t.Columns, rightColumns("compared", "▲", "▽", "mean difference")...)
	}
	for _, arm := range append(s.ranked(), experiment.Whole) {
		row := []report.Cell{report.Word(called(arm))}
		for _, c := range graphs {
			p := s.at(c, arm)
			if p == nil && s.unmeasured(c, arm) {
				row = append(row, report.Word("failed"))
			} else {
				row = append(row, p.accuracy())
			}
		}
		if of := s.tally(func(a string) bool { return a == arm }); of.all > 0 {
			row = append(row, report.Integer(of.all), report.Integer(of.better), report.Integer(of.worse),
				report.Signed(of.mean(), 1))
		}
		t.Row(row)
	}
	return t
}

// called returns the name of a method in tables.
func called(arm string) string {
	if arm == experiment.Whole {
		return "full graph"
	}
	return arm
}

// unmeasured reports whether condensing a graph by a method failed or was stopped.
func (s *Standings) unmeasured(c column, arm string) bool {
	return slices.ContainsFunc(s.Unmeasured, func(u Unmeasured) bool {
		return u.Graph.Fingerprint == c.Fingerprint && u.Arm == arm
	})
}

// Costs returns a row for each method, with the first model and the middle sizes: the seconds on each graph, the peak
// memory on the first and on the largest graph, and the break-even on the first.
func (s *Standings) Costs() *report.Table {
	t, graphs := &report.Table{Columns: report.Columns("method")}, s.graphs()
	for _, c := range graphs {
		t.Columns = append(t.Columns, rightColumns(GraphName(c.Name, nil)+", s")...)
	}
	largest := slices.MaxFunc(graphs, func(a, b column) int { return cmp.Compare(a.Nodes, b.Nodes) })
	weighed := slices.CompactFunc([]column{graphs[0], largest}, func(a, b column) bool {
		return a.Fingerprint == b.Fingerprint
	})
	for _, c := range weighed {
		t.Columns = append(t.Columns, rightColumns(GraphName(c.Name, nil)+", MB")...)
	}
	t.Columns = append(t.Columns, rightColumns(GraphName(graphs[0].Name, nil)+", break-even")...)
	for _, arm := range s.ranked() {
		row := []report.Cell{report.Word(arm)}
		add := func(c column, cell func(*Place) report.Cell) {
			if p := s.at(c, arm); p != nil {
				row = append(row, cell(p))
			} else {
				row = append(row, report.Missing())
			}
		}
		for _, c := range graphs {
			add(c, func(p *Place) report.Cell { return report.Significant(p.Processor, 2) })
		}
		for _, c := range weighed {
			add(c, func(p *Place) report.Cell { return report.Decimal(float64(p.Peak)/1e6, 0) })
		}
		add(graphs[0], func(p *Place) report.Cell { return orMissing(s.breakEven(p)) })
		t.Row(row)
	}
	return t
}

// breakEven returns the number of training runs at which condensing pays off: the smallest n with c + n·t ≤ n·f, where
// condensing takes c seconds, training t, and training on the full graph f. It is "never" if t ≥ f, and empty if no
// model was trained on the full graph.
func (s *Standings) breakEven(p *Place) string {
	whole := s.place(p.Graph.Fingerprint, experiment.Whole, 0, p.Model)
	switch {
	case whole == nil || p.IsWhole():
		return ""
	case whole.Train <= p.Train:
		return "never"
	}
	return strconv.Itoa(int(math.Ceil(p.Processor / (whole.Train - p.Train))))
}

// printed returns the accuracy that table 3 of the paper reports, with the paper's model, for a place; or nil.
func (s *Standings) printed(p *Place) *Value {
	if p.Model != s.Places[0].Model {
		return nil
	}
	v := PrintedAccuracy(p.Graph, p.Nodes, printedMethod(strings.Replace(p.Arm, PublishedName, "CGC", 1)))
	if v == nil || v.OutOfMemory {
		return nil
	}
	return v
}

// uncounted names the methods with which Ours is not compared, and says why. It is empty if there are none.
func (s *Standings) uncounted() string {
	var reasons []string
	arms := map[string][]string{} // by reason
	for _, arm := range s.arms() {
		if text := altered(arm); text != "" && s.comparable() {
			if arms[text] == nil {
				reasons = append(reasons, text)
			}
			arms[text] = append(arms[text], arm)
		}
	}
	for i, text := range reasons {
		reasons[i] = fmt.Sprintf("%s (%s)", strings.Join(arms[text], ", "), text)
	}
	if reasons == nil {
		return ""
	}
	return "Not compared: " + strings.Join(reasons, "; ") + "."
}

// againstPaper compares the accuracies with table 3 of the paper, in one sentence. It is empty if the table has no
// accuracy of these methods on these graphs.
func (s *Standings) againstPaper() string {
	var parts []string
	for _, arm := range s.arms() {
		n, sum := 0, 0.0
		for i := range s.Places {
			if p := &s.Places[i]; p.Arm == arm {
				if v := s.printed(p); v != nil {
					n, sum = n+1, sum+p.Test.Mean-v.Mean
				}
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s (%d)", arm, report.Signed(sum/float64(n), 1).Text, n))
		}
	}
	if parts == nil {
		return ""
	}
	return "Mean difference from the accuracies in table 3 of the paper, in points, and the number of accuracies: " +
		strings.Join(parts, ", ") + "."
}

// WriteCSV writes a line for each graph, model, size and method, and then one for each condensation that failed or was
// stopped. Accuracies have four decimals, and times have six significant digits.
func (s *Standings) WriteCSV(w io.Writer) error {
	t := &report.Table{Columns: report.Columns("graph", "chosen_on", "model", "nodes", "method", "seeds", "test_mean",
		"test_std", "paired_seeds", "difference", "difference_ci95", "verdict", "processor_seconds", "peak_rss_bytes",
		"condensed_bytes", "training_seconds", "break_even", "paper_mean", "paper_std", "paper_difference", "failure")}
	on := func(g graph.Identity) []any {
		name := GraphName(g.Name, nil)
		return []any{name, slices.Contains(s.ChosenOn, name)}
	}
	for _, c := range s.graphs() {
		for _, p := range s.on(c) {
			row := append(on(p.Graph), p.Model, p.Nodes, called(p.Arm), len(p.Seeds), points(p.Test.Mean),
				several(len(p.Seeds), p.Test.Std))
			if against := p.Against; against.Seeds > 0 {
				row = append(row, against.Seeds, points(against.Difference.Mean),
					several(against.Seeds, against.Difference.CI95), p.verdict())
			} else {
				row = append(row, nil, nil, nil, nil)
			}
			if p.IsWhole() {
				row = append(row, nil, nil, nil)
			} else {
				row = append(row, seconds(p.Processor), p.Peak, int64(math.Round(p.Bytes())))
			}
			row = append(row, seconds(p.Train), s.breakEven(p))
			if v := s.printed(p); v != nil {
				row = append(row, v.Mean, v.Std, points(p.Test.Mean-v.Mean))
			}
			t.Full(row...)
		}
	}
	for _, u := range s.Unmeasured {
		row := make([]any, len(t.Columns))
		copy(row, append(on(u.Graph), nil, u.Nodes, u.Arm))
		row[len(row)-1] = u.Error()
		t.Full(row...)
	}
	return report.CSV(w, &report.Document{Blocks: []report.Block{t}})
}

// several rounds a spread over seeds like points. It is missing if there is only one seed.
func several(seeds int, v float64) any {
	if seeds < 2 {
		return nil
	}
	return points(v)
}

// on returns the places on a graph: the first model first, small sizes first, and the most accurate method first.
func (s *Standings) on(c column) (places []*Place) {
	var models []string
	for i := range s.Places {
		if p := &s.Places[i]; p.Graph.Fingerprint == c.Fingerprint {
			places = append(places, p)
		}
		if !slices.Contains(models, s.Places[i].Model) {
			models = append(models, s.Places[i].Model)
		}
	}
	slices.SortStableFunc(places, func(a, b *Place) int {
		return cmp.Or(cmp.Compare(slices.Index(models, a.Model), slices.Index(models, b.Model)),
			cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(b.Test.Mean, a.Test.Mean))
	})
	return places
}

// points rounds an accuracy or a difference to four decimals, which are equal on all processors. A zero has no sign.
func points(v float64) float64 { return math.Round(v*1e4)/1e4 + 0 }

// seconds rounds a time to six significant digits.
func seconds(v float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	return rounded
}

package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
)

// Ours is the method with which a board compares all others: the default of the command.
const Ours = "auto"

// Standings is what a Board measured, on any number of graphs.
type Standings struct {
	Places     []Place
	Unmeasured []Unmeasured
	// ChosenOn names the graphs on which defaults of cgc were chosen.
	ChosenOn []string
}

// Place is the outcome of a method with one graph, size and model.
type Place struct {
	experiment.Summary
	// Peak is the largest resident set during a condensation, in bytes. Processor is the mean processor time of a
	// condensation, in seconds. Both are of the condensations for this model: other models may have been measured on
	// another machine.
	Peak      int64
	Processor float64
	// Against is the paired difference to Ours. It has no seeds if there is nothing to compare.
	Against experiment.Comparison
	// Significant reports whether the difference is significant at 5% by Holm's procedure over all places.
	Significant bool
}

// NewStandings returns the standings of records. For each method, graph, size and model, it keeps the training
// configuration with the most seeds; ties go to the highest mean validation accuracy.
func NewStandings(records []experiment.Record, un []Unmeasured, chosenOn []string) *Standings {
	s := &Standings{Unmeasured: un, ChosenOn: chosenOn}
	peaks, processor := map[string]int64{}, map[string]map[uint64]float64{} // processor time by seed
	for _, r := range records {
		key := fmt.Sprint(r.Graph.Fingerprint, r.Arm, r.Nodes, r.Model)
		peaks[key] = max(peaks[key], r.Peak)
		if processor[key] == nil {
			processor[key] = map[uint64]float64{}
		}
		processor[key][r.Seed] = r.Processor
	}
	at := map[string]int{}
	for _, sum := range experiment.Summarize(records) {
		key := fmt.Sprint(sum.Graph.Fingerprint, sum.Arm, sum.Nodes, sum.Model)
		place := Place{Summary: sum, Peak: peaks[key]}
		for _, m := range sum.Seeds {
			place.Processor += processor[key][m.Seed] / float64(len(sum.Seeds))
		}
		i, is := at[key]
		switch {
		case !is:
			at[key] = len(s.Places)
			s.Places = append(s.Places, place)
		case len(sum.Seeds) > len(s.Places[i].Seeds),
			len(sum.Seeds) == len(s.Places[i].Seeds) && sum.Val.Mean > s.Places[i].Val.Mean:
			s.Places[i] = place
		}
	}
	var pValues []float64
	for i := range s.Places {
		p := &s.Places[i]
		if ours := s.place(p.Graph.Fingerprint, Ours, p.Nodes, p.Model); ours != nil && p.Arm != Ours {
			p.Against = experiment.Compare(p.Summary, ours.Summary)
		}
		if p.Against.Seeds >= 2 {
			pValues = append(pValues, PValue(p.Against))
		}
	}
	bound := Holm(pValues)
	for i := range s.Places {
		p := &s.Places[i]
		p.Significant = p.Against.Seeds >= 2 && PValue(p.Against) <= bound
	}
	return s
}

// place returns the place for a graph, a method, a size and a model, or nil. The size does not matter for the full
// graph.
func (s *Standings) place(fingerprint, arm string, nodes int, model string) *Place {
	return first(s.Places, func(p *Place) bool {
		return p.Graph.Fingerprint == fingerprint && p.Arm == arm && p.Model == model &&
			(p.Nodes == nodes || arm == experiment.Whole)
	})
}

// PValue returns the p-value of a difference by the two-sided paired t-test; 1 if the difference is the same for all
// seeds, as in experiment.Comparison.
func PValue(d experiment.Comparison) float64 {
	if d.Difference.Std < 1e-9 {
		return 1
	}
	t := math.Abs(d.Difference.Mean) * math.Sqrt(float64(d.Seeds)) / d.Difference.Std
	return 2 * distuv.StudentsT{Sigma: 1, Nu: float64(d.Seeds - 1)}.Survival(t)
}

// Holm returns the largest p-value that is significant by Holm's step-down procedure: the probability that any of the
// tests is significant by chance is at most 5%. It is −1 if none is significant.
func Holm(pValues []float64) (significant float64) {
	significant = -1
	for i, p := range slices.Sorted(slices.Values(pValues)) {
		if p > 0.05/float64(len(pValues)-i) {
			break
		}
		significant = p
	}
	return significant
}

// Bytes returns the size of the condensed graph: X′ as float32, each direction of an edge as two int32 and a float32,
// and an int32 label per node.
func (p Place) Bytes() float64 {
	return 4*float64(p.Nodes)*float64(p.Graph.Features+1) + 2*12*p.Edges
}

// GraphName returns the name of a graph for a table, marked if defaults were chosen on it.
func GraphName(name string, chosenOn []string) string {
	name = strings.ReplaceAll(name, "_", "-")
	if slices.Contains(chosenOn, name) {
		name += " ᵃ"
	}
	return name
}

func (s *Standings) graphName(p Place) string { return GraphName(p.Graph.Name, s.ChosenOn) }

// Accuracy formats the test accuracy and its standard deviation as one cell.
func Accuracy(s experiment.Summary) report.Cell {
	return report.Word(report.Mean(s.Test.Mean, s.Test.Std, len(s.Seeds), 1).Text)
}

// accuracy formats an accuracy, and marks it if it differs significantly from the accuracy of Ours.
func (p *Place) accuracy() report.Cell {
	if p == nil {
		return report.Missing()
	}
	text := Accuracy(p.Summary).Text
	switch {
	case p.Significant && p.Against.Difference.Mean > 0:
		text += " ▲"
	case p.Significant:
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
	lost := slices.DeleteFunc(slices.Clone(s.Places), func(p Place) bool {
		return !p.Significant || p.Against.Difference.Mean <= 0
	})
	slices.SortStableFunc(lost, func(a, b Place) int {
		return cmp.Compare(b.Against.Difference.Mean, a.Against.Difference.Mean)
	})
	for _, p := range lost {
		ours := s.place(p.Graph.Fingerprint, Ours, p.Nodes, p.Model)
		t.Row(s.graphName(p), p.Nodes, p.Model, p.Arm, Accuracy(p.Summary), ours.accuracy(),
			Difference(p.Against.Difference, false))
	}
	return t
}

// Difference formats a mean difference with its 95% interval: "+2.2 (+1.8 to +2.6)". bold sets the mean in bold, for
// Markdown.
func Difference(d experiment.Estimate, bold bool) report.Cell {
	mean := report.Signed(d.Mean, 1).Text
	if bold {
		mean = "**" + mean + "**"
	}
	return report.Word(fmt.Sprintf("%s (%s to %s)", mean, report.Signed(d.Mean-d.CI95, 1).Text,
		report.Signed(d.Mean+d.CI95, 1).Text))
}

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

// Counts returns a table with a row for each method: in how many places it is better or worse than Ours, significantly
// and otherwise, and its mean difference.
func (s *Standings) Counts() *report.Table {
	t := &report.Table{Columns: append(report.Columns("method"), rightColumns("compared", "significantly better",
		"better", "equal or worse", "significantly worse", "mean difference", "failed or stopped")...)}
	type row struct {
		cells []any
		mean  float64
	}
	var rows []row
	for _, arm := range s.arms() {
		if arm == Ours {
			continue
		}
		c, missing := s.tally(func(a string) bool { return a == arm }), 0
		for _, u := range s.Unmeasured {
			if u.Arm == arm {
				missing++
			}
		}
		n := c.better + c.above + c.below + c.worse
		mean := report.Missing()
		if n > 0 {
			mean = report.Signed(c.sum/float64(n), 1)
		}
		rows = append(rows, row{
			[]any{arm, n, c.better, c.above, c.below, c.worse, mean, missing}, c.sum / float64(max(n, 1)),
		})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.mean, a.mean) })
	for _, r := range rows {
		t.Row(r.cells...)
	}
	return t
}

// Graph returns a table with a row for each method on a graph: the accuracies of the first model at all sizes and of
// the other models at the middle size, and the cost of condensing to the middle size.
func (s *Standings) Graph(name string) *report.Table {
	var of []Place
	var nodes []int
	var models []string
	for _, p := range s.Places {
		if p.Graph.Name != name {
			continue
		}
		of = append(of, p)
		if !p.IsWhole() && !slices.Contains(nodes, p.Nodes) {
			nodes = append(nodes, p.Nodes)
		}
		if !slices.Contains(models, p.Model) {
			models = append(models, p.Model)
		}
	}
	if len(nodes) == 0 {
		return &report.Table{}
	}
	slices.Sort(nodes)
	middle, fingerprint := nodes[len(nodes)/2], of[0].Graph.Fingerprint
	t := &report.Table{Columns: report.Columns("method")}
	type column struct {
		nodes int
		model string
	}
	var columns []column
	for _, n := range nodes {
		columns = append(columns, column{n, models[0]})
	}
	for _, m := range models[1:] {
		columns = append(columns, column{middle, m})
	}
	for _, c := range columns {
		t.Columns = append(t.Columns, rightColumns(fmt.Sprintf("%s, %d", c.model, c.nodes))...)
	}
	t.Columns = append(t.Columns, rightColumns("seconds", "peak, MB", "size, kB", "break-even")...)
	whole := s.place(fingerprint, experiment.Whole, 0, models[0])
	rank := func(arm string) float64 {
		if p := s.place(fingerprint, arm, middle, models[0]); p != nil {
			return p.Test.Mean
		}
		return -1
	}
	arms := slices.DeleteFunc(s.arms(), func(arm string) bool {
		return rank(arm) < 0 && s.unmeasured(fingerprint, arm) == nil
	})
	slices.SortStableFunc(arms, func(a, b string) int { return cmp.Compare(rank(b), rank(a)) })
	for _, arm := range append(arms, experiment.Whole) {
		title := arm
		if arm == experiment.Whole {
			title = "full graph"
		}
		var row []report.Cell
		for _, c := range columns {
			row = append(row, s.place(fingerprint, arm, c.nodes, c.model).accuracy())
		}
		if p := s.place(fingerprint, arm, middle, models[0]); p != nil && arm != experiment.Whole {
			row = append(row, report.Significant(p.Processor, 2), report.Decimal(float64(p.Peak)/1e6, 0),
				report.Decimal(p.Bytes()/1e3, 0), breakEven(p, whole))
		} else if u := s.unmeasured(fingerprint, arm); u != nil {
			row[0] = report.Word(u.Error())
		}
		t.Row(title, row)
	}
	return t
}

// unmeasured returns the first entry for a method on a graph, or nil.
func (s *Standings) unmeasured(fingerprint, arm string) *Unmeasured {
	return first(s.Unmeasured, func(u *Unmeasured) bool { return u.Graph.Fingerprint == fingerprint && u.Arm == arm })
}

// breakEven returns the number of training runs at which condensing pays off: the smallest n with condense + n·train ≤
// n·train on the full graph.
func breakEven(p, whole *Place) report.Cell {
	if whole == nil {
		return report.Missing()
	}
	saved := whole.Train - p.Train
	if saved <= 0 {
		return report.Word("never")
	}
	return report.Integer(int(math.Ceil(p.Processor / saved)))
}

// Authors compares the accuracies of the first model with table 3 of the paper, for the methods and graphs in that
// table.
func (s *Standings) Authors() *report.Table {
	t := &report.Table{Columns: append(report.Columns("method", "graph"),
		rightColumns("N′", "here", "printed in the paper", "difference")...)}
	places := slices.Clone(s.Places)
	slices.SortStableFunc(places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Graph.Name, b.Graph.Name), cmp.Compare(a.Nodes, b.Nodes))
	})
	for _, arm := range s.arms() {
		for _, p := range places {
			v := PrintedAccuracy(p.Graph, p.Nodes, printedMethod(strings.Replace(p.Arm, PublishedName, "CGC", 1)))
			if p.Arm != arm || p.Model != s.Places[0].Model || v == nil || v.OutOfMemory {
				continue
			}
			t.Row(arm, s.graphName(p), p.Nodes, Accuracy(p.Summary), v.String(), report.Signed(p.Test.Mean-v.Mean, 1))
		}
	}
	return t
}

// Compared counts the comparisons of other methods with Ours: all of them, and those in which Ours is significantly
// better and significantly worse.
func (s *Standings) Compared() (all, better, worse int) {
	c := s.tally(func(arm string) bool { return arm != Ours })
	return c.better + c.above + c.below + c.worse, c.worse, c.better
}

// tally counts comparisons of other methods with Ours: significantly better, better, equal or worse, and significantly
// worse than it. sum is the sum of the differences.
type tally struct {
	better, above, below, worse int
	sum                         float64
}

// tally counts the comparisons of the methods that are counted.
func (s *Standings) tally(counted func(arm string) bool) (c tally) {
	for _, p := range s.Places {
		if !counted(p.Arm) || p.Against.Seeds == 0 {
			continue
		}
		up := p.Against.Difference.Mean > 0
		c.sum += p.Against.Difference.Mean
		switch {
		case p.Significant && up:
			c.better++
		case p.Significant:
			c.worse++
		case up:
			c.above++
		default:
			c.below++
		}
	}
	return c
}

// PrintedAccuracy returns the number in a column of table 3 of the paper for a graph and a number of condensed nodes,
// or nil. It returns nil if the paper's data set of that name has another number of features.
func PrintedAccuracy(g graph.Identity, nodes int, column string) *Value {
	of, is := Published().SizesOf(g.Name)
	stats, _ := Published().Of(g.Name)
	if !is || stats.Features != g.Features {
		return nil
	}
	for i, ratio := range of.Ratios {
		if condensedNodes(of.OfTrain[i], g.Train) == nodes {
			return printed(g.Name, ratio, "", column, "table3")
		}
	}
	return nil
}

// Document returns all tables. If Ours was not measured, nothing is compared with it.
func (s *Standings) Document() *report.Document {
	d := &report.Document{Title: "Board"}
	if slices.Contains(s.arms(), Ours) {
		d.Add(report.Heading("Where a method is significantly better than " + Ours))
		if t := s.Losses(); len(t.Rows) > 0 {
			d.Add(t)
		} else {
			d.Add(report.Paragraph("Nowhere."))
		}
		d.Add(report.Heading("Each method against "+Ours), s.Counts())
	}
	var names []string
	for _, p := range s.Places {
		if !slices.Contains(names, p.Graph.Name) {
			names = append(names, p.Graph.Name)
			d.Add(report.Heading(s.graphName(p)), s.Graph(p.Graph.Name))
		}
	}
	if t := s.Authors(); len(t.Rows) > 0 {
		d.Add(report.Heading("Against the paper's numbers"), t)
	}
	return d
}

package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
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
	// Against is the paired difference from Ours. It has no seeds if there is nothing to compare, or if the method is a
	// condense.Altered.
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
		ours := s.place(p.Graph.Fingerprint, Ours, p.Nodes, p.Model)
		if ours != nil && p.Arm != Ours && altered(p.Arm) == "" {
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

// altered says how a method differs from the published method that it is named after. It is empty if the method is not
// a condense.Altered.
func altered(arm string) string {
	m, err := condense.New(arm, nil)
	if a, is := m.(condense.Altered); err == nil && is {
		return a.Altered()
	}
	return ""
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

// Accuracy formats the test accuracy and its standard deviation as one cell.
func Accuracy(s experiment.Summary) report.Cell {
	return report.Word(report.Mean(s.Test.Mean, s.Test.Std, len(s.Seeds), 1).Text)
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

// Compared counts the comparisons of the given methods, or of all others, with Ours: all of them, and those in which
// Ours is significantly better and significantly worse.
func (s *Standings) Compared(methods ...string) (all, better, worse int) {
	c := s.tally(func(arm string) bool { return arm != Ours && (methods == nil || slices.Contains(methods, arm)) })
	return c.all, c.worse, c.better
}

// tally counts comparisons of other methods with Ours: all of them, and those in which the other method is
// significantly better and significantly worse. sum is the sum of the differences.
type tally struct {
	all, better, worse int
	sum                float64
}

// mean returns the mean difference, or 0 if there is none.
func (c tally) mean() float64 { return c.sum / float64(max(c.all, 1)) }

// tally returns the tally of the methods for which counted is true.
func (s *Standings) tally(counted func(arm string) bool) (c tally) {
	for _, p := range s.Places {
		if !counted(p.Arm) || p.Against.Seeds == 0 {
			continue
		}
		c.all++
		c.sum += p.Against.Difference.Mean
		switch p.verdict() {
		case "better":
			c.better++
		case "worse":
			c.worse++
		}
	}
	return c
}

// verdict says whether a method is significantly "better" or "worse" than Ours, or "neither". It is empty if there is
// nothing to compare.
func (p *Place) verdict() string {
	switch {
	case p.Against.Seeds == 0:
		return ""
	case !p.Significant:
		return "neither"
	case p.Against.Difference.Mean > 0:
		return "better"
	}
	return "worse"
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

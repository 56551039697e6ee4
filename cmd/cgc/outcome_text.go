package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/report"
)

// document shows sizes, the method, seconds, and accuracies where models were trained.
func (r *outcome) document() *report.Document {
	d := new(report.Document)
	d.Add(r.sizes(), report.Notes{"method: " + method(r.Config), r.budget()})
	if r.Seconds.Condense > 0 {
		d.Add(r.seconds())
		if r.PeakRSS > 0 {
			d.Add(report.Paragraph("peak memory: " + report.Bytes(r.PeakRSS)))
		}
	}
	if len(r.Results) > 0 {
		d.Add(r.accuracies(), r.notes())
	}
	if r.File != "" {
		of := ""
		if r.condensations() > 1 {
			of = fmt.Sprintf(" of seed %d", r.Config.Seed)
		}
		d.Add(report.Paragraph(fmt.Sprintf("condensed graph%s: %s", of, r.File)))
	}
	return d
}

// condensations returns the number of condensations that the outcome is about.
func (r *outcome) condensations() int {
	if len(r.Results) == 0 || r.Over != overCondensations {
		return 1
	}
	return r.Results[0].Seeds
}

// sizes puts the condensed graph below the original one, and the ratios below both.
func (r *outcome) sizes() *report.Table {
	edges := report.Integer(r.Condensed.Edges)
	if r.Config.Method != cgc.CGC {
		edges = report.Cell{Text: "none", Values: []any{0}}
	}
	features, classes := report.Integer(r.Features), report.Integer(r.Classes)
	t := &report.Table{Columns: []report.Column{
		{Name: "graph"}, {Name: "nodes"}, {Name: "edges"}, {Name: "features"}, {Name: "classes"}, {Name: "training nodes"},
	}}
	t.Row(report.Word(r.Graph), report.Integer(r.Nodes), report.Integer(r.Edges), features, classes, report.Integer(r.Train))
	t.Row(report.Word("condensed"), report.Integer(r.Condensed.Nodes), edges, features, classes,
		report.Integer(r.Condensed.Nodes))
	t.Row(report.Word("ratio"), ratio(r.Condensed.Nodes, r.Nodes), report.Cell{}, report.Cell{}, report.Cell{},
		ratio(r.Condensed.Nodes, r.Train))
	return t
}

// ratio shows a part of a whole in percent, with at most three significant digits and without an exponent.
func ratio(part, whole int) report.Cell {
	if whole == 0 {
		return report.Cell{}
	}
	percent := 100 * float64(part) / float64(whole)
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(percent, 'g', 3, 64), 64)
	if err != nil {
		return report.Cell{}
	}
	return report.Cell{Text: strconv.FormatFloat(rounded, 'f', -1, 64) + "%", Values: []any{percent}}
}

// budget lists the condensed nodes of each class, in lines of at most 100 characters.
func (r *outcome) budget() string {
	line, room := "condensed nodes of each class:", 100
	for _, n := range r.Condensed.Budget {
		word := " " + strconv.Itoa(n)
		if at := strings.LastIndexByte(line, '\n'); len(line[at+1:])+len(word) > room {
			line, word, room = line+"\n", word[1:], 98 // further lines are indented by two
		}
		line += word
	}
	return line
}

// method says in a line what makes one condensation differ from another.
func method(c cgc.Config) string {
	said := []string{string(c.Method)}
	add := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	hops := "hops"
	if c.Hops == 1 {
		hops = "hop"
	}
	if len(c.HopWeights) > 0 {
		hops += " weighted " + c.HopWeights.String()
	}
	add("%s with %d %s", c.Propagation, c.Hops, hops)
	if c.Method != cgc.SimDM {
		if c.Partitions > 1 {
			add("best of %d %s partitions", c.Partitions, c.Partition)
		} else {
			add("%s partition", c.Partition)
		}
		add("augmentation %g", c.Augment)
		if c.PseudoLabels > 0 {
			add("pseudo-labels %g", c.PseudoLabels)
		}
		if c.SoftLabels {
			add("soft labels")
		}
		add("temperature %s", c.Temperature)
	}
	if c.Method == cgc.CGC {
		if c.Edges == cgc.RealEdges {
			add("real edges")
		} else {
			add("threshold %g", c.Threshold)
		}
		if c.Degree > 0 {
			add("degree %g", c.Degree)
		}
		add("alpha %g", c.Alpha)
	}
	if c.Standardize {
		add("standardized")
	}
	if c.Inductive {
		add("inductive")
	}
	return strings.Join(said, ", ")
}

// seconds has a column for each step.
func (r *outcome) seconds() *report.Table {
	over := ""
	if seeds := r.condensations(); seeds > 1 {
		over = fmt.Sprintf("mean of %d", seeds)
	}
	t := &report.Table{Columns: []report.Column{{Name: "seconds"}}}
	row := []report.Cell{report.Word(over)}
	s := r.Seconds
	for _, part := range []struct {
		name    string
		seconds float64
		shown   bool
	}{
		{"load", s.Load, true}, {"propagate", s.Propagate, true}, {"assess", s.Assess, true}, {"augment", s.Augment, true},
		{"partition", s.Partition, true}, {"generate", s.Generate, r.Config.Method == cgc.CGC},
		{"condense (all but load)", s.Condense, true},
	} {
		if part.shown {
			t.Columns = append(t.Columns, report.Column{Name: part.name})
			row = append(row, report.Decimal(part.seconds, 3))
		}
	}
	t.Row(row...)
	return t
}

// accuracies has a row for each model: trained on the condensed graph and, where that was done, on the whole graph.
func (r *outcome) accuracies() *report.Table {
	whole := map[string]modelScore{}
	for _, a := range r.Whole {
		whole[a.Model] = a
	}
	mean, ends := []string{"mean", "std"}, []string{"low", "high"}
	several := r.Results[0].Seeds > 1
	t := &report.Table{Columns: []report.Column{
		{Name: "test accuracy, %", Key: "model"}, {Name: "trained on condensed", Parts: mean},
	}}
	if several {
		t.Columns = append(t.Columns, report.Column{Name: "95% interval", Parts: ends})
	}
	t.Columns = append(t.Columns, report.Column{Name: "seconds"})
	if len(r.Whole) > 0 {
		t.Columns = append(t.Columns, report.Column{Name: "on the whole graph", Parts: mean},
			report.Column{Name: "seconds", Key: "seconds on the whole graph"}, report.Column{Name: "ratio", Key: "ratio %"})
	}
	for _, a := range r.Results {
		row := []report.Cell{report.Word(a.Model), a.test()}
		if several {
			row = append(row, report.Interval(max(0, a.TestMean-a.TestCI95), min(100, a.TestMean+a.TestCI95), 1))
		}
		row = append(row, report.Decimal(a.Seconds, 1))
		if w, is := whole[a.Model]; is && w.TestMean > 0 {
			row = append(row, w.test(), report.Decimal(w.Seconds, 1), report.Percent(100*a.TestMean/w.TestMean, 1))
		}
		t.Row(row...)
	}
	return t
}

// test shows mean ± standard deviation, or the mean alone of one seed.
func (a modelScore) test() report.Cell {
	if a.Seeds < 2 {
		return report.Decimal(a.TestMean, 1)
	}
	return report.PlusMinus(a.TestMean, a.TestStd, 1)
}

// notes says what the deviations and intervals are; none for one seed.
func (r *outcome) notes() report.Notes {
	seeds := r.Results[0].Seeds
	if seeds < 2 {
		return nil
	}
	over := fmt.Sprintf("±: standard deviation over %d %s", seeds, r.Over)
	if r.Over == overCondensations {
		over += ", each with a training of its own"
	} else {
		over += " on this one condensed graph"
	}
	if len(r.Whole) > 0 {
		over += fmt.Sprintf("; of the whole graph, over %d %s", r.Whole[0].Seeds, overTrainings)
	}
	return report.Notes{over, "95% interval: of the mean, by Student's t"}
}

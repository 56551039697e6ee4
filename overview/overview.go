// Package overview shows what condensing did to a graph: sizes before and after, the training embeddings with the
// condensed nodes among them, the condensed graph, budgets, accuracies, what changed in the predictions, and time.
//
// A Subject is a graph and its condensed graph, with as much of what was measured on them as there is. Its Document has
// plots, for package report/html or report/chart:
//
//	d, err := overview.Subject{Graph: g, Condensed: small}.Document(ctx)
//	page, err := html.Render(d)
package overview

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/bench"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/report"
)

// Subject is what an overview is about. Graph and Condensed are needed. What else is left out is not shown.
type Subject struct {
	// Graph is the original graph, Condensed was condensed from it.
	Graph     *graph.Graph
	Condensed *condense.Condensed
	// Small holds the scores of models that were trained on condensed graphs, Whole of those that were trained on the
	// whole graph. Over says what the repetitions of Small are: "condensation seeds", "training seeds".
	Small, Whole []experiment.Score
	Over         string
	// Steps are the steps of the condensation, with their work and their share of the machine's ceiling (bench.Steps).
	Steps []bench.Step
	// Peak is the largest resident set of the process that condensed, in bytes; 0 if it is not known.
	Peak int64
	// Command is the command line that makes Condensed again; empty if there is none.
	Command string
}

// Check returns an error if Condensed is not of Graph: their sizes differ.
func (s Subject) Check() error {
	g, small := s.Graph, s.Condensed
	if small.X.Cols != g.Features() || small.Classes != g.Classes || small.GraphNodes != g.Nodes() {
		return fmt.Errorf("overview: the condensed graph is of %d nodes, %d features and %d classes, "+
			"graph %s has %d, %d and %d: it was condensed from another (%s)", small.GraphNodes, small.X.Cols, small.Classes,
			g.Name, g.Nodes(), g.Features(), g.Classes, small.Graph)
	}
	return nil
}

// Document returns the overview. The error is that of Check, of reading features, or of ctx. The same subject gives the
// same document.
func (s Subject) Document(ctx context.Context) (*report.Document, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	g, small := s.Graph, s.Condensed
	names := classNames(g, small)
	d := &report.Document{Title: fmt.Sprintf("%s, condensed to %s", g.Name, report.Plural(small.Nodes(), "node"))}
	for _, warning := range small.Warnings {
		d.Add(report.Warning(warning))
	}
	d.Add(s.sizes())
	embeddings, err := s.embeddings(ctx, names)
	if err != nil {
		return nil, err
	}
	network, err := s.network(ctx, names)
	if err != nil {
		return nil, err
	}
	d.Add(embeddings, network, s.budgets(names))
	if len(s.Small) > 0 {
		d.Add(report.Heading("What models learn from it"), s.accuracies())
		if changed := s.confusion(names); changed != nil {
			d.Add(changed)
		}
		d.Add(s.scores())
	}
	d.Add(s.time()...)
	d.Add(report.Heading("How to repeat it"))
	if s.Command != "" {
		d.Add(report.Command(s.Command))
	}
	d.Add(s.configuration())
	return d, nil
}

// classNames returns the names of the classes; "class 3" where the graph has none.
func classNames(g *graph.Graph, small *condense.Condensed) []string {
	names := g.ClassNames
	if names == nil {
		names = small.ClassNames
	}
	if names != nil {
		return names
	}
	names = make([]string, g.Classes)
	for c := range names {
		names[c] = "class " + strconv.Itoa(c)
	}
	return names
}

// sizes puts before, after and the factor beside one another.
func (s Subject) sizes() *report.Table {
	g, small := s.Graph, s.Condensed
	t := &report.Table{Lead: true, Columns: []report.Column{
		{Name: "", Key: "what"}, {Name: "before"}, {Name: "after"}, {Name: "factor"},
	}}
	row := func(name string, before, after int) {
		t.Row(report.Word(name), report.Integer(before), report.Integer(after), factor(before, after))
	}
	row("nodes", g.Nodes(), small.Nodes())
	row("edges", g.Edges(), small.Edges())
	row("labelled nodes to train on", len(g.Split.Train), small.Nodes())
	before, after := bytesOf(g.Adj, g.X, len(g.Y)), bytesOf(small.Adj, small.X, len(small.Y))
	t.Row(report.Word("bytes of A, X and y in memory"), report.Cell{Text: short(before), Values: []any{before}},
		report.Cell{Text: short(after), Values: []any{after}}, factor(before, after))
	return t
}

// factor says how many times smaller after is than before.
func factor(before, after int) report.Cell {
	if after == 0 {
		return report.Cell{}
	}
	ratio := float64(before) / float64(after)
	text := strconv.FormatFloat(ratio, 'f', 1, 64)
	if ratio >= 100 {
		text = report.Count(int(ratio + 0.5))
	}
	if ratio < 1 {
		return report.Cell{Text: strconv.FormatFloat(1/ratio, 'f', 1, 64) + " times larger", Values: []any{ratio}}
	}
	return report.Cell{Text: text + " times smaller", Values: []any{ratio}}
}

// bytesOf returns the memory of a graph: adjacency, features and labels.
func bytesOf(a *mat.CSR, x mat.Matrix, labels int) int {
	bytes := 4 * labels
	for _, m := range []mat.Matrix{a, x} {
		switch m := m.(type) {
		case *mat.CSR:
			if m != nil {
				bytes += 8*len(m.Indptr) + 4*len(m.Indices) + 4*len(m.Data)
			}
		case *mat.Dense:
			bytes += 4 * len(m.Data)
		default:
			rows, cols := m.Dims()
			bytes += 4 * rows * cols
		}
	}
	return bytes
}

// short writes a number of bytes with three digits.
func short(n int) string {
	v, unit := float64(n), "B"
	for _, next := range []string{"kB", "MB", "GB", "TB"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, next
	}
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', max(0, 2-len(strconv.Itoa(int(v)))), 64), ".0") + " " + unit
}

// budgets puts the shares of classes among the condensed nodes beside those among the training nodes.
func (s Subject) budgets(names []string) *report.Plot {
	counts, nodes := s.Graph.Counts(s.Graph.Split.Train), condense.CountBudget(s.Condensed.Y, s.Condensed.Classes)
	of := func(name string, count []int) report.BarSeries {
		series := report.BarSeries{Name: name, Digits: 1}
		sum := 0
		for _, n := range count {
			sum += n
		}
		for _, n := range count {
			series.Values = append(series.Values, 100*float64(n)/float64(max(1, sum)))
			series.Detail = append(series.Detail, report.Plural(n, "node"))
		}
		return series
	}
	return &report.Plot{
		Name: "budgets", Title: "Class budgets",
		Caption: "Each class gets condensed nodes in proportion to its training nodes, and at least one.",
		Data: &report.Bars{Rows: names, Axis: "share, %", Series: []report.BarSeries{
			of("condensed nodes", nodes), of("training nodes", counts),
		}},
	}
}

// configuration lists the parameters of the condensation and the program.
func (s Subject) configuration() *report.Table {
	t := &report.Table{Columns: []report.Column{{Key: "parameter"}, {Key: "value"}}}
	for _, p := range condense.Parameters(s.Condensed.Config) {
		t.Row(report.Word(strings.ReplaceAll(p.Key, "_", " ")), report.Word(strings.Trim(string(p.Value), `"`)))
	}
	build := experiment.ThisBuild()
	program := strings.Join(slices.DeleteFunc([]string{"cgc", build.Version, build.Revision, build.Kernels + " kernels",
		build.Platform}, func(w string) bool { return w == "" }), " ")
	t.Row(report.Word("this report by"), report.Word(program))
	return t
}

// Package overview reports on the condensation of a graph: accuracies and sizes before and after, the embeddings of
// training nodes and condensed nodes, changes in the predictions, the condensed graph, how to train on it, the time it
// took, and the command line that repeats it.
//
// A Subject is a graph and its condensed graph, with optional measurements. Its Document has plots for packages html
// and chart, and omits plots without content, such as the plot of a graph without edges:
//
//	d, err := overview.Subject{Graph: g, Condensed: small}.Document(ctx)
//	err = html.Render(w, d)
package overview

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/internal/object"
	"github.com/graph-condensation/cgc/mat"
)

// Subject holds the data of an overview. Graph and Condensed are required; other empty fields are not shown.
type Subject struct {
	// Condensed was condensed from Graph.
	Graph     *graph.Graph
	Condensed *condense.Condensed
	// Small holds the scores of models trained on condensed graphs, and Whole holds the scores of models trained on the
	// full graph. The page compares the first model of Small in detail. Over names the repetitions of Small: "condensation
	// seeds" or "training seeds".
	Small, Whole []experiment.Score
	Over         string
	// Steps lists the steps of the condensation, each with its work and its share of the machine's ceiling (bench.Steps).
	Steps []bench.Step
	// Peak is the largest resident set of the condensing process, in bytes; 0 if it is unknown.
	Peak int64
	// Command is the command line that makes Condensed again; empty if there is none.
	Command string
	// Source is the name or path with which cgc opens Graph, and File is the path of Condensed. The page uses them in a
	// training program. Reading holds the flags that select what is read from Graph, such as --split, each followed by its
	// value.
	Source, File string
	Reading      []string
	// Date is the date of the report, such as "2026-11-23"; empty to omit it.
	Date string
	// OtherGraph allows Condensed to have been made from another graph of the same sizes, or from another split.
	OtherGraph bool
}

// Check returns an error if the sizes of Condensed and Graph do not match.
func (s Subject) Check() error {
	g, small := s.Graph, s.Condensed
	known, _, err := small.Matched(g)
	if err != nil {
		return err
	}
	otherSize := small.GraphNodes > 0 && small.GraphNodes != g.Nodes()
	if small.X.Cols != known.Features() || small.Classes != known.Classes || otherSize {
		return fmt.Errorf("the condensed graph is of %d nodes, %d features and %d classes, "+
			"graph %s has %d, %d and %d: it was condensed from another (%s)", small.GraphNodes, small.X.Cols, small.Classes,
			g.Name, g.Nodes(), g.Features(), g.Classes, small.Graph)
	}
	return nil
}

// Document returns the overview. It returns an error if Check does, if Condensed was made from another graph or split
// and OtherGraph is not set, if features cannot be read, or if ctx ends. Equal subjects give equal documents.
func (s Subject) Document(ctx context.Context) (*report.Document, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	g, small := s.Graph, s.Condensed
	compared, err := small.CheckTarget(g)
	if err != nil {
		return nil, err
	}
	if err := compared.Err(); err != nil && !s.OtherGraph {
		return nil, err
	}
	given := s
	if s.Graph, _, err = small.Matched(g); err != nil {
		return nil, err
	}
	names := classNames(s.Graph, small)
	d := &report.Document{Title: fmt.Sprintf("%s, condensed to %s", g.Name, report.Plural(small.Nodes(), "node"))}
	d.Add(given.origin())
	for _, sentence := range append(slices.Clone(small.Warnings), compared.Reason(), compared.Note()) {
		if sentence != "" {
			d.Add(report.Warning(sentence))
		}
	}
	d.Add(s.tiles())
	embeddings, err := s.embeddings(ctx, names)
	if err != nil {
		return nil, err
	}
	d.Add(embeddings)
	if len(s.Small) > 0 {
		d.Add(report.Heading("What models learn from it"))
		if len(s.Small) > 1 || len(s.Small[0].Test) > 1 || len(s.Whole) > 0 {
			d.Add(s.accuracies())
		}
		d.Add(s.confusion(names)...)
	}
	parts, err := s.parts(ctx, names)
	if err != nil {
		return nil, err
	}
	d.Add(parts...)
	if s.File != "" {
		how := "With PyTorch Geometric."
		if small.Members != nil {
			how += " The weight in the loss is the number of nodes that a condensed node represents."
		}
		d.Add(report.Heading("Train on it"), report.Paragraph(how), report.Code(s.training()))
	}
	d.Add(report.Heading("How it was made"))
	if s.Command != "" {
		d.Add(report.Command(s.Command))
	}
	d.Add(s.choice()...)
	configuration, err := given.configuration()
	if err != nil {
		return nil, err
	}
	d.Add(configuration)
	d.Add(s.time()...)
	return d, nil
}

// origin describes what was condensed, how and when.
func (s Subject) origin() report.Paragraph {
	g := s.Graph
	method := s.Condensed.Method
	if a, err := auto.AccountOf(s.Condensed); err == nil {
		method = a.String() // the method that was chosen, and why
	}
	text := fmt.Sprintf("The graph has %s, %s, %s and %s. Condensed by %s.", report.Plural(g.Nodes(), "node"),
		report.Plural(g.Edges(), "edge"), report.Plural(g.Classes, "class"),
		report.Plural(len(g.Split.Train), "training node"), method)
	if n := s.Condensed.CutFrom(); n > 0 {
		text += " Cut from " + report.Plural(n, "condensed node") + "."
	}
	if s.Date != "" {
		text += " Report of " + s.Date + "."
	}
	return report.Paragraph(text)
}

// choice lists the candidates of auto and how they were judged; nil for other methods.
func (s Subject) choice() []report.Block {
	a, err := auto.AccountOf(s.Condensed)
	if err != nil {
		return nil
	}
	t := &report.Table{
		Columns: report.Columns("candidate", "validation accuracy, %", "gain in score", "standard error"),
	}
	notes := report.Notes{"The score is the mean of the validation accuracy and of the geometric mean of the " +
		"probabilities of the true classes, in percent."}
	for _, c := range a.Candidates {
		name := c.Name
		if name == a.Chosen {
			name += " (chosen)"
		}
		row := []report.Cell{report.Decimal(c.Accuracy, 1), report.Signed(c.Gain, 1), report.Decimal(c.Error, 1)}
		if c.LeftOut != "" || a.Validation == 0 {
			row = []report.Cell{report.Missing(), report.Missing(), report.Missing()}
		}
		if c.LeftOut != "" {
			notes = append(notes, c.Name+" was left out: "+c.LeftOut+".")
		}
		t.Row(name, row)
	}
	blocks := []report.Block{t, notes}
	if len(a.Sizes) == 0 {
		return blocks
	}
	tried := &report.Table{
		Columns: report.Columns("condensed nodes", "method", "validation accuracy, %", "loss", "standard error"),
	}
	for _, z := range a.Sizes {
		tried.Row(z.Nodes, z.Chosen, report.Decimal(z.Accuracy, 1), report.Decimal(z.Loss, 1), report.Decimal(z.Error, 1))
	}
	return append(blocks, tried)
}

// parts plots the condensed graph and its number of nodes per class, under a heading. It omits the graph if there are
// fewer edges than a quarter of the nodes, and the numbers if the classes are balanced.
func (s Subject) parts(ctx context.Context, names []string) (blocks []report.Block, err error) {
	if s.Condensed.Edges() > 0 && 4*s.Condensed.Edges() >= s.Condensed.Nodes() {
		network, err := s.network(ctx, names)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, network)
	}
	if !s.balanced() {
		blocks = append(blocks, s.budgets(names))
	}
	if blocks != nil {
		blocks = append([]report.Block{report.Heading("The condensed graph")}, blocks...)
	}
	return blocks, nil
}

// classNames returns the names of the classes, or names such as "class 3" if the graph has none.
func classNames(g *graph.Graph, small *condense.Condensed) []string {
	for _, names := range [][]string{g.ClassNames, small.ClassNames} {
		if names != nil {
			return names
		}
	}
	names := make([]string, g.Classes)
	for c := range names {
		names[c] = "class " + strconv.Itoa(c)
	}
	return names
}

// tiles returns the main results: accuracy and training time compared with the full graph, and sizes.
func (s Subject) tiles() *report.Table {
	g, small := s.Graph, s.Condensed
	t := &report.Table{Lead: true, Columns: []report.Column{{Key: "what"}, {Key: "value"}, {Key: "compared with"}}}
	if len(s.Small) > 0 {
		on := s.Small[0]
		accuracy := "not compared with the full graph (--whole 1 does)"
		seconds := "mean of " + report.Plural(len(on.Test), "training run")
		if len(on.Test) == 1 {
			seconds = "one training run"
		}
		if whole := of(s.Whole, on.Model); whole != nil {
			mean, _ := whole.TestMean()
			accuracy = report.Percent(mean, 1).Text + " if trained on the full graph"
			seconds = quotient(whole.Seconds, on.Seconds, "faster", "slower") + " than on the full graph (" +
				secondsOf(*whole).Text + " s)"
		}
		mean, _ := on.TestMean()
		t.Row("test accuracy, "+on.Model, report.Percent(mean, 1), accuracy)
		if took := secondsOf(on); on.Seconds > 0 {
			took.Text += " s"
			t.Row("training time, "+on.Model, took, seconds)
		}
	}
	edges := "; no edges"
	if small.Edges() > 0 {
		way := "down"
		if small.Edges() > g.Edges() {
			way = "up"
		}
		edges = fmt.Sprintf("; %s, %s from %s", report.Plural(small.Edges(), "edge"), way, report.Count(g.Edges()))
	}
	t.Row("nodes", report.Integer(small.Nodes()),
		quotient(float64(g.Nodes()), float64(small.Nodes()), "fewer", "more")+" than "+report.Count(g.Nodes())+edges)
	before, after := bytesOf(g.Adj, g.X, len(g.Y)), bytesOf(small.Adj, small.X, len(small.Y))
	t.Row("memory", report.Cell{Text: short(after), Values: []any{after}},
		quotient(float64(before), float64(after), "less", "more")+" than "+short(before))
	return t
}

// of returns the score of a model, or nil.
func of(scores []experiment.Score, model string) *experiment.Score {
	for i := range scores {
		if scores[i].Model == model {
			return &scores[i]
		}
	}
	return nil
}

// quotient formats before / after, as in "38.7× fewer".
func quotient(before, after float64, less, more string) string {
	ratio, word := before/after, less
	if ratio < 1 {
		ratio, word = 1/ratio, more
	}
	if ratio >= 100 {
		return report.Count(int(ratio+0.5)) + "× " + word
	}
	return report.Decimal(ratio, 1).Text + "× " + word
}

// bytesOf returns the number of bytes of a graph: adjacency, features and labels.
func bytesOf(a *mat.CSR, x mat.Matrix, labels int) int {
	rows, cols := x.Dims()
	features := 4 * rows * cols
	if x, sparse := x.(*mat.CSR); sparse {
		features = int(budget.Sparse(x))
	}
	if a == nil {
		return features + 4*labels
	}
	return features + 4*labels + int(budget.Sparse(a))
}

// short formats a number of bytes in the largest unit that fits, with one decimal if the value is below 10.
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

// balanced reports whether all classes have the same number of training nodes and the same number of condensed nodes.
func (s Subject) balanced() bool {
	for _, counts := range [][]int{s.Graph.Counts(s.Graph.Split.Train), s.Condensed.Budget} {
		if len(counts) > 0 && slices.Min(counts) != slices.Max(counts) {
			return false
		}
	}
	return true
}

// budgets compares the share of each class among the condensed nodes and among the training nodes.
func (s Subject) budgets(names []string) *report.Plot {
	shares := func(name string, count []int) report.BarSeries {
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
		Name: "budgets", Title: "Nodes of each class",
		Caption: "The share of each class among the condensed nodes and among the training nodes. Ideally, " +
			"both bars of a class are about equally long; a rare class has at least one condensed node.",
		Data: &report.Bars{Rows: names, Axis: "share, %", Series: []report.BarSeries{
			shares("condensed nodes", condense.CountBudget(s.Condensed.Y, s.Condensed.Classes)),
			shares("training nodes", s.Graph.Counts(s.Graph.Split.Train)),
		}},
	}
}

// configuration returns a table of the parameters of the condensation, the program, and the graph.
func (s Subject) configuration() (*report.Table, error) {
	t := &report.Table{
		Title: "All parameters", Folded: true, Columns: []report.Column{{Key: "parameter"}, {Key: "value"}},
	}
	for _, p := range object.Fields(s.Condensed.Config) {
		t.Row(strings.ReplaceAll(p.Key, "_", " "), strings.Trim(string(p.Value), `"`))
	}
	build := experiment.ThisBuild()
	program := strings.Join(slices.DeleteFunc([]string{"cgc", build.Version, build.Revision, build.Kernels + " kernels",
		build.Platform}, func(w string) bool { return w == "" }), " ")
	t.Row("this report by", program)
	id, err := graph.Identify(s.Graph)
	if err != nil {
		return nil, err
	}
	t.Row("graph and its split", id.Name+", fingerprint "+id.Fingerprint)
	return t, nil
}

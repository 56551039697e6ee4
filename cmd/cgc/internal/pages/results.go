package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/chart"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/paper"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
)

// A header is the first line of a file in results/. It describes how the other lines were produced.
type header struct {
	// Command is the command line that produced the file. Date is the date, and Machine is the processor.
	Command string `json:"command"`
	Date    string `json:"date"`
	Machine string `json:"machine"`
}

// readLines reads results/NAME.jsonl: a header, then one value per line.
func readLines[T any](root, name string) (values []T) {
	path := filepath.Join(root, "results", name+".jsonl")
	first, rest, _ := bytes.Cut(must(os.ReadFile(path)), []byte("\n"))
	var h header
	if err := json.Unmarshal(first, &h); err != nil || h.Command == "" || h.Date == "" || h.Machine == "" {
		check(fmt.Errorf("%s line 1: a header must have command, date and machine (%v)", path, err))
	}
	n := 1
	for line := range bytes.Lines(rest) {
		n++
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			check(fmt.Errorf("%s line %d: %w", path, n, err))
		}
		values = append(values, v)
	}
	return values
}

// accuracyFiles lists the experiments in the accuracy tables, in the order of their rows. Each has a second file, with
// the prefix auto-, for the method auto.
var accuracyFiles = []string{
	"cora", "cora-normalized", "citeseer", "citeseer-normalized", "demo", "amazon-photo", "arxiv",
	"arxiv-inductive", "acm", "dblp", "blogcatalog",
}

// chosenOn lists the graphs whose validation nodes were used to choose a default, or the ranking or the priors of cgc
// tune.
var chosenOn = []string{"cora", "citeseer", "demo", "amazon-photo", "arxiv"}

// measured holds the results on one graph with one feature treatment at one size: summaries by method, including the
// full graph.
type measured struct {
	graph      string
	nodes      int // number of condensed nodes
	normalized bool
	inductive  bool
	of         int // number of nodes of the graph
	methods    map[string]experiment.Summary
}

// measure returns the results of the named experiments, grouped by graph, treatment and size.
func measure(root string, names []string) []measured {
	var all []measured
	for _, name := range names {
		records := append(readLines[experiment.Record](root, name), readLines[experiment.Record](root, "auto-"+name)...)
		var full *experiment.Summary
		first := len(all)
		for _, s := range experiment.Summarize(records) {
			if s.IsWhole() {
				full = &s
				continue
			}
			at := slices.IndexFunc(all[first:], func(c measured) bool { return c.nodes == s.Nodes }) + first
			if at < first {
				at = len(all)
				all = append(all, measured{s.Graph.Name, s.Nodes, s.NormalizeFeatures, s.Inductive, s.Graph.Nodes,
					map[string]experiment.Summary{}})
			}
			all[at].methods[s.Arm] = s
		}
		slices.SortFunc(all[first:], func(a, b measured) int { return cmp.Compare(a.nodes, b.nodes) })
		if full != nil {
			for _, c := range all[first:] {
				c.methods[experiment.Whole] = *full
			}
		}
	}
	return all
}

// name returns the name of the graph for a table row.
func (c measured) name() string {
	name := paper.GraphName(c.graph, chosenOn)
	if c.normalized {
		name += ", row-normalised"
	}
	if c.inductive {
		name += ", inductive"
	}
	return name
}

// test formats the test accuracy of a method.
func (c measured) test(method string) report.Cell {
	if s, is := c.methods[method]; is {
		return paper.Accuracy(s)
	}
	return report.Missing()
}

// seeds returns the number of condensation seeds.
func (c measured) seeds() int { return len(c.methods["cgc"].Seeds) }

// published formats the number that the paper reports for a method.
func (c measured) published(column string) report.Cell {
	if v := paper.PrintedAccuracy(c.methods["cgc"].Graph, c.nodes, column); v != nil {
		return report.Word(v.String())
	}
	return report.Missing()
}

// compared returns a method's lead over cgc on the same seeds, and whether there are at least two such seeds.
func (c measured) compared(method string) (d experiment.Comparison, is bool) {
	s, is := c.methods[method]
	if is {
		d = experiment.Compare(s, c.methods["cgc"])
	}
	return d, d.Seeds >= 2
}

// difference formats a method's lead over cgc, with its 95% interval. It is bold if the p-value is at most the given
// one.
func (c measured) difference(method string, significant float64) report.Cell {
	d, is := c.compared(method)
	if !is {
		return report.Missing()
	}
	return paper.Difference(d.Difference, paper.PValue(d) <= significant)
}

// right returns a right-aligned column, for numbers.
func right(name string) report.Column { return report.Column{Name: name, Side: report.Right} }

func markdown(blocks ...report.Block) string {
	var b bytes.Buffer
	check(report.Markdown(&b, &report.Document{Blocks: blocks}))
	return b.String()
}

// tables maps names to the generators of the tables and texts made from results/.
var tables = map[string]func(root string) string{
	"accuracy":  accuracy,
	"authors":   authors,
	"board":     board,
	"cuts":      cuts,
	"headline":  headline,
	"lossless":  lossless,
	"new-nodes": arrivalTable,
	"searches":  searchTable,
	"splits":    splits,
	"models":    models,
	"sentence":  sentence,
	"speed":     speed,
}

// authors generates the table of accuracies with the parameters that the authors' program sets for each accuracy.
func authors(root string) string {
	t := &report.Table{Columns: []report.Column{
		{Name: "graph"}, right("N′"), {Name: "method"}, right("seeds"), right("here"), right("the paper"),
		right("difference"),
	}}
	summaries := experiment.Summarize(readLines[experiment.Record](root, "authors"))
	slices.SortStableFunc(summaries, func(a, b experiment.Summary) int {
		return cmp.Or(cmp.Compare(a.Graph.Name, b.Graph.Name), strings.Compare(a.Arm, b.Arm), a.Nodes-b.Nodes)
	})
	for _, s := range summaries {
		of, apart := report.Missing(), report.Missing()
		if v := paper.PrintedAccuracy(s.Graph, s.Nodes, s.Arm); v != nil {
			of, apart = report.Word(v.String()), report.Signed(s.Test.Mean-v.Mean, 1)
		}
		t.Row(s.Graph.Name, s.Nodes, s.Arm, len(s.Seeds), paper.Accuracy(s), of, apart)
	}
	return markdown(t)
}

// boardFiles lists the graphs and models of the board. The records are in board-GRAPH-MODEL.jsonl.
var boardFiles = []string{
	"cora-gcn", "cora-sgc", "cora-gat", "citeseer-gcn", "citeseer-sgc", "citeseer-gat", "amazon-photo-gcn",
	"amazon-photo-sgc", "amazon-photo-gat", "acm-gcn", "acm-sgc", "acm-gat", "dblp-gcn", "dblp-sgc", "dblp-gat",
	"blogcatalog-gcn", "blogcatalog-sgc", "blogcatalog-gat", "arxiv-gcn",
}

// standings reads the records of the board.
func standings(root string) *paper.Standings {
	var records []experiment.Record
	for _, name := range boardFiles {
		records = append(records, readLines[experiment.Record](root, "board-"+name)...)
	}
	return paper.NewStandings(records, readLines[paper.Unmeasured](root, "board-unmeasured"), chosenOn)
}

// board generates the tables of all methods.
func board(root string) string {
	blocks := standings(root).Document().Blocks
	for i, block := range blocks {
		if text, is := block.(report.Paragraph); is {
			blocks[i] = report.Paragraph(report.Wrap(string(text), 120, ""))
		}
	}
	return markdown(blocks...)
}

// boardCSV generates the file of all numbers of the board.
func boardCSV(root string) string {
	var b bytes.Buffer
	check(standings(root).WriteCSV(&b))
	return b.String()
}

// results generates one entry of tables.
func results(root string, args []string) string {
	if len(args) != 1 || tables[args[0]] == nil {
		check(fmt.Errorf("%q, must be the name of one table", args))
	}
	return tables[args[0]](root)
}

// sentence generates the first sentences of README: the accuracies after training on a condensed Cora and on the full
// graph, and the time to condense the largest graph.
func sentence(root string) string {
	all := measure(root, []string{"cora"})
	at := slices.IndexFunc(all, func(c measured) bool { return c.nodes == 70 })
	if at < 0 {
		check(fmt.Errorf("cora was not condensed to 70 nodes"))
	}
	pairs := readLines[pair](root, "speed")
	largest := slices.MaxFunc(pairs, func(a, b pair) int { return cmp.Compare(a.Nodes, b.Nodes) })
	var runs []side
	for _, p := range pairs {
		if p.Graph == largest.Graph {
			runs = append(runs, p.CGC)
		}
	}
	c := all[at]
	return fmt.Sprintf("**On Cora, a GCN trained on %d nodes that `auto` condenses from %s reaches %s%% test\n"+
		"accuracy (%s%% by the paper's method `cgc`); trained on the full graph, it reaches %s%%. `cgc` condenses a\n"+
		"synthetic graph with %.1f million nodes and %.0f million edges in %s s on two CPU cores.**",
		c.nodes, report.Count(c.of), c.test("auto").Text, c.test("cgc").Text, c.test(experiment.Whole).Text,
		float64(largest.Nodes)/1e6, float64(largest.Edges)/1e6, seconds(runs).Text)
}

// accuracyFigure plots the accuracy on Cora against the number of nodes of the training graph.
func accuracyFigure(root string) string {
	all := measure(root, []string{"cora"})
	lines := &report.Lines{X: "nodes it was trained on", Y: "test accuracy, %"}
	for style, method := range []string{"auto", "cgc", "herding", "k-center", "random", experiment.Whole} {
		series := report.Series{Name: method, Style: style, Joined: true}
		if method == experiment.Whole {
			series.Name, series.Hollow = "full graph", true
		}
		for _, c := range all {
			if s, is := c.methods[method]; is {
				series.Add(float64(c.nodes), s.Test.Mean, s.Test.Std)
			}
		}
		lines.Series = append(lines.Series, series)
	}
	return drawn("Test accuracy of a GCN on Cora (2,708 nodes), 20 seeds", lines)
}

// drawn returns a plot of lines as SVG.
func drawn(title string, lines *report.Lines) string {
	var b bytes.Buffer
	check(chart.SVG(&b, &report.Plot{Title: title, Data: lines}))
	return b.String()
}

// headline generates README's table, with the middle size of each public graph in the transductive setting, and a
// sentence on all comparisons of the board. Methods that select nodes are counted separately: they are easy to beat.
func headline(root string) string {
	all := measure(root, accuracyFiles)
	t := &report.Table{Columns: []report.Column{
		{Name: "graph"}, right("nodes"), right("condensed to"), right("auto"), right("cgc"), right("full graph"),
	}}
	sizes := map[string][]int{} // of each graph, by name
	for _, c := range all {
		sizes[c.name()] = append(sizes[c.name()], c.nodes)
	}
	for _, c := range all {
		of := slices.Sorted(slices.Values(sizes[c.name()]))
		if c.nodes != of[len(of)/2] || c.graph == "demo" || c.inductive {
			continue
		}
		t.Row(c.name(), c.of, c.nodes, c.test("auto"), c.test("cgc"), c.test(experiment.Whole))
	}
	board := standings(root)
	compared, better, worse := board.Compared()
	_, easy, _ := board.Compared("random", "herding", "k-center", "bonsai")
	lost := "none"
	if worse > 0 {
		lost = fmt.Sprint(worse)
	}
	return markdown(t) + fmt.Sprintf("\nIn %d comparisons with other methods ([board](docs/results/board.md)), `auto` is "+
		"significantly better in %d (%d of\nthem with methods that select nodes), worse in %s, and neither in %d "+
		"(5%%, Holm's procedure, at most five seeds each).\n", compared, better, easy, lost, compared-better-worse)
}

// accuracy generates the table of all sizes and methods, with their paired differences from cgc and the paper's
// numbers.
func accuracy(root string) string {
	all := measure(root, accuracyFiles)
	t := &report.Table{Columns: []report.Column{
		{Name: "graph"}, right("N′"), right("seeds"), right("auto"), right("cgc"), right("cgc-x"), right("cgc-d"),
		right("auto − cgc"), right("cgc-x − cgc"), right("cgc-d − cgc"), right("full graph"), right("paper, CGC"),
		right("paper, CGC-X"),
	}}
	methods := []string{"auto", "cgc-x", "cgc-d"}
	var pValues []float64 // p-values of all differences in the table
	for _, c := range all {
		for _, method := range methods {
			if d, is := c.compared(method); is {
				pValues = append(pValues, paper.PValue(d))
			}
		}
	}
	significant := paper.Holm(pValues)
	for _, c := range all {
		var differences []report.Cell
		for _, method := range methods {
			differences = append(differences, c.difference(method, significant))
		}
		t.Row(c.name(), c.nodes, c.seeds(), c.test("auto"), c.test("cgc"), c.test("cgc-x"), c.test("cgc-d"), differences,
			c.test(experiment.Whole), c.published("CGC"), c.published("CGC-X"))
	}
	return markdown(t)
}

// models generates the table of all GNNs on the condensed graphs of auto and cgc. The records of the GCN are those of
// the accuracy table.
func models(root string) string {
	t := &report.Table{Columns: []report.Column{
		{Name: "graph"}, right("N′"), {Name: "model"}, right("seeds"), right("auto"), right("cgc"), right("auto − cgc"),
	}}
	var records []experiment.Record
	for _, name := range []string{"models-cora", "cora", "auto-cora"} {
		records = append(records, readLines[experiment.Record](root, name)...)
	}
	all := experiment.Summarize(records)
	var rows []measured
	var pValues []float64
	for _, name := range gnn.Names() {
		c := measured{methods: map[string]experiment.Summary{}}
		for _, s := range all {
			if s.Model == name && s.Nodes == records[0].Nodes {
				c.graph, c.nodes, c.methods[s.Arm] = s.Graph.Name, s.Nodes, s
			}
		}
		d, _ := c.compared("auto")
		rows, pValues = append(rows, c), append(pValues, paper.PValue(d))
	}
	significant := paper.Holm(pValues)
	for i, c := range rows {
		t.Row(c.name(), c.nodes, gnn.Names()[i], c.seeds(), c.test("auto"), c.test("cgc"), c.difference("auto", significant))
	}
	return markdown(t)
}

// A pair holds a run of cgc, one of the Python program and one of auto on the same graph: a line written by
// bench/peer/pairs.py --record.
type pair struct {
	Graph     string `json:"graph"`
	Nodes     int    `json:"nodes"`
	Edges     int    `json:"edges"`
	Features  int    `json:"features"`
	Condensed int    `json:"condensed"`
	CGC       side   `json:"cgc"`
	Python    side   `json:"python"`
	Auto      side   `json:"auto"`
}

// A side is the time and memory of one program.
type side struct {
	Seconds struct {
		Condense float64 `json:"condense"`
	} `json:"seconds"`
	Peak float64 `json:"peak_rss_bytes"`
}

// speed generates the table that compares time and memory of cgc and the Python program, with medians over the pairs of
// each graph, and a sentence on small graphs.
func speed(root string) string {
	pairs := readLines[pair](root, "speed")
	t := &report.Table{Columns: []report.Column{
		{Name: "graph"}, right("nodes"), right("edges"), right("features"), right("condensed to"), right("cgc, s"),
		right("Python, s"), right("ratio"), right("auto, s"), right("cgc, GB"), right("Python, GB"), right("auto, GB"),
	}}
	for len(pairs) > 0 {
		of := pairs[0]
		var ours, theirs, autos []side
		var ratio []float64
		pairs = slices.DeleteFunc(pairs, func(p pair) bool {
			if p.Graph != of.Graph {
				return false
			}
			ours, theirs, autos = append(ours, p.CGC), append(theirs, p.Python), append(autos, p.Auto)
			ratio = append(ratio, p.Python.Seconds.Condense/p.CGC.Seconds.Condense)
			return true
		})
		t.Row(of.Graph, of.Nodes, of.Edges, of.Features, of.Condensed, seconds(ours), seconds(theirs),
			fmt.Sprintf("%.1f ×", bench.Median(ratio)), seconds(autos), memory(ours), memory(theirs), memory(autos))
	}
	return markdown(t) + "\n" + choosing(root)
}

// seconds returns a cell with the median seconds of runs.
func seconds(runs []side) report.Cell {
	return report.Significant(medianOf(runs, func(s side) float64 { return s.Seconds.Condense }), 2)
}

// memory returns a cell with the median peak of runs in GB.
func memory(runs []side) report.Cell {
	return report.Decimal(medianOf(runs, func(s side) float64 { return s.Peak / 1e9 }), 1)
}

func medianOf(runs []side, value func(side) float64) float64 {
	values := make([]float64, len(runs))
	for i, s := range runs {
		values[i] = value(s)
	}
	return bench.Median(values)
}

// choosing generates a sentence on the mean seconds of auto at all sizes of the accuracy table, on all graphs but the
// largest.
func choosing(root string) string {
	all := measure(root, accuracyFiles)
	largest := slices.MaxFunc(all, func(a, b measured) int { return cmp.Compare(a.of, b.of) })
	var means []float64
	nodes := 0
	for _, c := range all {
		if c.graph != largest.graph {
			means, nodes = append(means, c.methods["auto"].Condense), max(nodes, c.of)
		}
	}
	least, most := report.Significant(slices.Min(means), 2), report.Significant(slices.Max(means), 2)
	return fmt.Sprintf("On busy machines, `auto` took %s to %s s on the [real graphs](docs/results/accuracy.md) "+
		"with up to %s nodes.\n", least.Text, most.Text, report.Count(nodes))
}

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/findings"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/paper"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/experiment/search"
)

// cutRecord is a line that python/bench/cuts.py prints.
type cutRecord struct {
	Graph     string  `json:"graph"`
	Largest   int     `json:"largest"`
	Nodes     int     `json:"nodes"`
	Method    string  `json:"method"`
	OwnMethod string  `json:"own_method"`
	Cut       float64 `json:"cut"`
	Own       float64 `json:"own"`
}

// byKey returns the records of each key, and the keys in the order of their first records.
func byKey[K comparable, R any](records []R, key func(R) K) (order []K, of map[K][]R) {
	of = map[K][]R{}
	for _, r := range records {
		k := key(r)
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], r)
	}
	return order, of
}

// cuts generates the table of condensed graphs that were cut from a larger one, with rows for the smallest and the
// largest size of each graph, in the order of their first records.
func cuts(root string) string {
	t := &report.Table{Columns: []report.Column{
		{Name: "graph"}, right("cut from"), right("to"), {Name: "method"}, right("cut"), {Name: "method of the size"},
		right("condensed to the size"), right("difference"),
	}}
	type key struct {
		graph string
		nodes int
	}
	order, of := byKey(readLines[cutRecord](root, "cuts"), func(r cutRecord) key { return key{r.Graph, r.Nodes} })
	plusMinus := func(values []float64) string {
		e := experiment.EstimateOf(values)
		return report.PlusMinus(e.Mean, e.Std, 1).Text
	}
	for i, k := range order {
		if i > 0 && i < len(order)-1 && order[i-1].graph == k.graph && order[i+1].graph == k.graph {
			continue
		}
		var cut, own, difference []float64
		for _, r := range of[k] {
			cut, own, difference = append(cut, r.Cut), append(own, r.Own), append(difference, r.Cut-r.Own)
		}
		first := of[k][0]
		t.Row(paper.GraphName(k.graph, chosenOn), first.Largest, k.nodes, first.Method, plusMinus(cut), first.OwnMethod,
			plusMinus(own), paper.Difference(experiment.EstimateOf(difference), false))
	}
	return markdown(t)
}

// arrivals holds the fields that the table of new nodes shows, from a record of python/bench/new_nodes.py.
type arrivals struct {
	Graph        string  `json:"graph"`
	Known        int     `json:"known"`
	Model        string  `json:"model"`
	Groups       int     `json:"groups"`
	Whole        float64 `json:"whole"`
	Summary      float64 `json:"summary"`
	GraphBytes   float64 `json:"graph_bytes"`
	Bytes        float64 `json:"bytes"`
	WholeSeconds float64 `json:"whole_seconds"`
	Seconds      float64 `json:"seconds"`
}

// arrivalTable generates the table of new nodes that are predicted without the graph.
func arrivalTable(root string) string {
	t := &report.Table{Columns: []report.Column{
		{Name: "graph"}, {Name: "model"}, right("known nodes"), right("groups"), right("with the graph"),
		right("with the summary"), right("lost"), right("graph, MB"), right("summary, MB"), right("with the graph, s"),
		right("with the summary, ms"),
	}}
	for _, a := range readLines[arrivals](root, "new-nodes") {
		t.Row(a.Graph, a.Model, a.Known, a.Groups, report.Decimal(a.Whole, 1), report.Decimal(a.Summary, 1),
			report.Signed(a.Whole-a.Summary, 1), report.Decimal(a.GraphBytes/1e6, 0), report.Decimal(a.Bytes/1e6, 1),
			report.Significant(a.WholeSeconds, 2), report.Significant(1e3*a.Seconds, 2))
	}
	return markdown(t)
}

// splitRecord is a line that python/bench/random_splits.py prints.
type splitRecord struct {
	Graph      string  `json:"graph"`
	Nodes      int     `json:"nodes"`
	Normalized bool    `json:"normalize_features"`
	Auto       float64 `json:"auto"`
	CGC        float64 `json:"cgc"`
}

// splits generates the sentence about random splits: for each graph, the mean lead of auto over cgc with its 95%
// interval, and the lead on the worst split.
func splits(root string) string {
	type key struct {
		graph      string
		nodes      int
		normalized bool
	}
	order, of := byKey(readLines[splitRecord](root, "splits"), func(r splitRecord) key {
		return key{r.Graph, r.Nodes, r.Normalized}
	})
	var parts []string
	for _, k := range order {
		var leads []float64
		for _, r := range of[k] {
			leads = append(leads, r.Auto-r.CGC)
		}
		name := paper.GraphName(k.graph, chosenOn)
		if k.normalized {
			name += " (row-normalised)"
		}
		d := experiment.EstimateOf(leads)
		parts = append(parts, fmt.Sprintf("%s ± %s on %s with %d nodes (at worst %s)", report.Signed(d.Mean, 1).Text,
			report.Decimal(d.CI95, 1).Text, name, k.nodes, report.Signed(slices.Min(leads), 1).Text))
	}
	return fmt.Sprintf("On %d random splits each, `auto` − `cgc` is, in points, %s.\n", len(of[order[0]]),
		strings.Join(parts, ",\n"))
}

// searches lists the graphs and methods of searches that were compared with training runs on the full graph.
// search-GRAPH-METHOD.jsonl contains the JSON output of cgc search --compare.
var searches = []string{
	"cora-cgc", "cora-auto", "citeseer-cgc", "citeseer-auto", "amazon-photo-cgc", "dblp-cgc", "arxiv-cgc",
}

// searchTable generates the table of searches that were compared with training runs on the full graph.
func searchTable(root string) string {
	t := &report.Table{Columns: []report.Column{
		{Name: "graph"}, {Name: "condensed by"}, right("to"), right("finalists"), right("s"), right("N on the full graph, s"),
		right("all, s"), right("Spearman"), right("Kendall"), right("regret, val"), right("regret, test"),
		right("choice, val / test"), right("random search, val / test"),
	}}
	interval := func(c search.Correlation) report.Cell {
		two := func(v float64) string { return report.Decimal(v, 2).Text }
		return report.Word(fmt.Sprintf("%s (%s to %s)", two(c.Value), two(c.Low), two(c.High)))
	}
	for _, name := range searches {
		for _, s := range readLines[findings.Models](root, "search-"+name) {
			a := s.Agreement
			var compared float64 // seconds of training on the full graph
			for _, f := range a.Compared {
				compared += f.Seconds
			}
			all := compared / float64(len(a.Compared)) * float64(len(s.Trials)) // an estimate
			choice := s.Finalists[0]
			t.Row(paper.GraphName(s.Graph.Name, chosenOn), s.Method, s.Condensed, len(s.Finalists),
				report.Significant(s.CondenseSeconds+s.Total(), 2), report.Significant(compared, 2), report.Significant(all, 2),
				interval(a.Spearman), interval(a.Kendall), report.Signed(s.Regret.Val, 1), report.Signed(s.Regret.Test, 1),
				report.Word(fmt.Sprintf("%.1f / %.1f", choice.WholeVal, choice.WholeTest)),
				report.Word(fmt.Sprintf("%.1f / %.1f", s.Random.Val, s.Random.Test)))
		}
	}
	return markdown(t)
}

// sizedGraphs lists the graphs that were condensed to many sizes. The records are in sizes-NAME.jsonl.
var sizedGraphs = []string{"cora", "citeseer", "dblp", "acm", "arxiv", "amazon-photo"}

// sized returns the results of auto on a graph at all sizes, ascending, each with the results of the full graph.
func sized(root, name string) []measured {
	all := measure(root, []string{name})
	for _, s := range experiment.Summarize(readLines[experiment.Record](root, "sizes-"+name)) {
		all = append(all, measured{
			graph: s.Graph.Name, nodes: s.Nodes, of: s.Graph.Nodes,
			methods: map[string]experiment.Summary{"auto": s, experiment.Whole: all[0].methods[experiment.Whole]},
		})
	}
	slices.SortFunc(all, func(a, b measured) int { return cmp.Compare(a.nodes, b.nodes) })
	return all
}

// gain returns the test accuracy of auto minus the test accuracy of the full graph, in points.
func (c measured) gain() float64 {
	return c.methods["auto"].Test.Mean - c.methods[experiment.Whole].Test.Mean
}

// sizesFigure plots the difference in accuracy between auto and the full graph against the condensed nodes per class.
func sizesFigure(root string) string {
	lines := &report.Lines{X: "condensed nodes per class", Y: "test accuracy − that of the full graph, points", LogX: true}
	for style, name := range sizedGraphs {
		series := report.Series{Name: name, Style: style, Joined: true}
		for _, c := range sized(root, name) {
			s := c.methods["auto"]
			series.Add(float64(c.nodes)/float64(s.Graph.Classes), c.gain(), s.Test.Std)
		}
		lines.Series = append(lines.Series, series)
	}
	return drawn("Accuracy of a GCN trained on the condensed graph", lines)
}

// lossless generates the table of the sizes that cgc condense --lossless 1 finds, with the accuracy after training at
// that size. Each line of its file is the command's JSON output.
func lossless(root string) string {
	t := &report.Table{Columns: []report.Column{
		{Name: "graph"}, right("training nodes"), right("size found"), right("estimated loss"), right("auto, trained"),
		right("full graph"), right("loss after training"),
	}}
	type found struct {
		Graph     string       `json:"graph"`
		Train     int          `json:"train"`
		Choice    auto.Account `json:"choice"`
		Condensed struct {
			Nodes int `json:"nodes"`
		} `json:"condensed"`
	}
	records := readLines[found](root, "lossless")
	for _, name := range sizedGraphs {
		all := sized(root, name)
		r := records[slices.IndexFunc(records, func(f found) bool { return f.Graph == all[0].graph })]
		at := slices.IndexFunc(all, func(c measured) bool { return c.nodes == r.Condensed.Nodes })
		if at < 0 {
			continue // not trained at this size
		}
		c := all[at]
		judged := r.Choice.Sizes[len(r.Choice.Sizes)-1]
		t.Row(c.name(), r.Train, c.nodes, report.Signed(judged.Loss, 1).Text+" ± "+report.Decimal(judged.Error, 1).Text,
			c.test("auto"), c.test(experiment.Whole), report.Signed(-c.gain(), 1))
	}
	return markdown(t)
}

package main

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/chart"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/experiment"
)

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
	var b bytes.Buffer
	check(chart.SVG(&b, &report.Plot{Title: "Accuracy of a GCN trained on the condensed graph", Data: lines}))
	return b.String()
}

// lossless generates the table of the sizes that cgc condense --lossless 1 finds, with the accuracy after training at
// that size. Each line of its file is the command's JSON output.
func lossless(root string) string {
	t := &report.Table{Columns: []report.Column{
		{Name: "graph"}, right("training nodes"), right("size found"), right("judged loss"), right("auto, trained"),
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

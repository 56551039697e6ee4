package main

import (
	"fmt"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/experiment"
)

// cutRecord is a line of python/bench/cuts.py.
type cutRecord struct {
	Graph     string  `json:"graph"`
	Of        int     `json:"of"`
	Largest   int     `json:"largest"`
	Nodes     int     `json:"nodes"`
	Method    string  `json:"method"`
	OwnMethod string  `json:"own_method"`
	Cut       float64 `json:"cut"`
	Own       float64 `json:"own"`
}

// cuts generates the table of condensed graphs that were cut from a larger one. Records of a graph and size are
// neighbours after sorting by the order of their first lines.
func cuts(root string) string {
	t := &report.Table{Columns: []report.Column{
		{Name: "graph"}, right("cut from"), right("to"), right("seeds"), {Name: "method"}, right("cut"),
		{Name: "method of the size"}, right("condensed to the size"), right("difference"),
	}}
	type key struct {
		graph string
		nodes int
	}
	var order []key
	of := map[key][]cutRecord{}
	for _, r := range readLines[cutRecord](root, "cuts") {
		k := key{r.Graph, r.Nodes}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], r)
	}
	for _, k := range order {
		var cut, own, difference []float64
		for _, r := range of[k] {
			cut, own, difference = append(cut, r.Cut), append(own, r.Own), append(difference, r.Cut-r.Own)
		}
		first, e := of[k][0], experiment.EstimateOf(difference)
		c := measured{graph: k.graph, nodes: k.nodes, of: first.Of}
		t.Row(report.Word(c.name()), report.Integer(first.Largest), report.Integer(k.nodes), report.Integer(len(cut)),
			report.Word(first.Method), plusMinus(experiment.EstimateOf(cut)), report.Word(first.OwnMethod),
			plusMinus(experiment.EstimateOf(own)), report.Word(fmt.Sprintf("%s (%s to %s)",
				report.Signed(e.Mean, 1).Text, report.Signed(e.Mean-e.CI95, 1).Text, report.Signed(e.Mean+e.CI95, 1).Text)))
	}
	return markdown(t)
}

package main

import (
	"github.com/graph-condensation/cgc/cmd/cgc/internal/paper"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/experiment"
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
	var order []key
	of := map[key][]cutRecord{}
	for _, r := range readLines[cutRecord](root, "cuts") {
		k := key{r.Graph, r.Nodes}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], r)
	}
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

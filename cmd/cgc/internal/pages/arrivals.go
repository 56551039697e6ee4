package main

import "github.com/graph-condensation/cgc/cmd/cgc/internal/report"

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

package main

import (
	"fmt"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/findings"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/paper"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/experiment/search"
)

// searches lists the graphs and methods of searches that were compared with training runs on the full graph.
// search-GRAPH-METHOD.jsonl contains the JSON output of cgc search --compare.
var searches = []string{
	"cora-cgc", "cora-auto", "citeseer-cgc", "citeseer-auto", "amazon-photo-cgc", "dblp-cgc", "arxiv-cgc",
}

// seconds returns two durations. took is the time for condensing, the search and the training runs of the finalists.
// full is an estimate for training all candidates on the full graph, from the mean of the candidates trained there.
func seconds(s findings.Models) (took, full float64) {
	for _, f := range s.Agreement.Compared {
		full += f.Seconds / float64(len(s.Agreement.Compared)) * float64(len(s.Trials))
	}
	return s.CondenseSeconds + s.Total(), full
}

// searchTable generates the table of searches that were compared with training runs on the full graph.
func searchTable(root string) string {
	t := &report.Table{Columns: []report.Column{
		{Name: "graph"}, {Name: "condensed by"}, right("to"), right("finalists"), right("s"), right("on the full graph, s"),
		right("Spearman"), right("Kendall"), right("regret, val"), right("regret, test"), right("choice, test"),
		right("random search, test"),
	}}
	interval := func(c search.Correlation) report.Cell {
		return report.Word(fmt.Sprintf("%.2f (%.2f to %.2f)", c.Value, c.Low, c.High))
	}
	for _, name := range searches {
		for _, s := range readLines[findings.Models](root, "search-"+name) {
			took, full := seconds(s)
			a := s.Agreement
			t.Row(paper.GraphName(s.Graph.Name, chosenOn), s.Method, s.Condensed, len(s.Finalists),
				report.Significant(took, 2), report.Significant(full, 2), interval(a.Spearman), interval(a.Kendall),
				report.Signed(s.Regret.Val, 1), report.Signed(s.Regret.Test, 1),
				report.Decimal(s.Finalists[0].WholeTest, 1), report.Decimal(s.Random.Test, 1))
		}
	}
	return markdown(t)
}

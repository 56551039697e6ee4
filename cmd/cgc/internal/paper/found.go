package paper

import (
	"strings"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

// foundTable returns a table with the result of each cell's search and its gain in validation accuracy.
func (r *Result) foundTable() *report.Table {
	val := func(name string) report.Column { return report.Column{Name: name, Unit: "%", Side: report.Right} }
	t := &report.Table{
		Columns: []report.Column{
			{Name: "graph"}, {Name: "N′"}, {Name: "method"}, {Name: "found"}, val("validation before"), val("after"),
			val("best of the seeds"),
		},
	}
	seen := map[*Found]bool{}
	for _, c := range r.Cells {
		if c.Found == nil || seen[c.Found] { // several models share a search
			continue
		}
		seen[c.Found] = true
		var changes []string
		for _, change := range c.Found.Changes {
			changes = append(changes, change.Name+" "+change.Value)
		}
		if len(changes) == 0 {
			changes = []string{"no change"}
		}
		t.Row(r.called(c.Graph), c.Nodes, c.Arm, strings.Join(changes, ", "), report.Decimal(c.Found.Base, 1),
			report.Decimal(c.Found.Val, 1), report.Decimal(c.Best, 1))
	}
	return t
}

// searchNotes adds notes that explain the search.
func (r *Result) searchNotes(add func(string, ...any)) {
	if r.Trials == 0 {
		return
	}
	add("Search: %s for each cell, by mean validation accuracy: %d seeds each, then %d more for the best quarter. These "+
		"seeds are not those of the table. Labels of test nodes were not there to be read.",
		report.Plural(r.Trials, "candidate"), firstSeeds, moreSeeds)
	s := Published().Settings.Sets
	add("Sets searched: p in %v of the K·n embeddings, τ in %v, T in %v, α in %v, dropout in %v, and the learning rate "+
		"of methods that learn in %v.", s.Augment, s.Temperature, s.Threshold, s.Alpha, s.Dropout, s.LearningRate)
	add("The best of the seeds is the highest test accuracy of one seed. It is not an estimate; the mean is.")
}

// dataTable returns table 8: the available graphs and the paper's.
func (r *Result) dataTable() *report.Table {
	t := &report.Table{Columns: report.Columns(
		"graph", "whose", "nodes", "edges", "classes", "features", "training", "validation", "test", "task",
	)}
	row := func(name, whose string, inductive bool, numbers ...int) {
		var cells []report.Cell
		for _, n := range numbers {
			cells = append(cells, report.Integer(n))
		}
		task := "transductive"
		if inductive {
			task = "inductive"
		}
		t.Row(name, whose, cells, task)
	}
	for _, g := range r.Graphs {
		whose := "here"
		if g.Made {
			whose = "made"
		}
		row(g.Name, whose, g.Inductive, g.Nodes, g.Edges, g.Classes, g.Features, g.Train, g.Val, g.Test)
		if p, is := Published().Of(g.Name); is {
			row(g.Name, "paper", p.Task == "inductive", p.Nodes, p.Edges, p.Classes, p.Features, p.Train, p.Val, p.Test)
		}
	}
	return t
}

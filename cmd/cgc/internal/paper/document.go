package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

// Document returns r as a document: tables of the measurements next to the paper's numbers, the paper's numbers for
// methods that were not run, figures, and notes that explain the numbers.
func (r *Result) Document() *report.Document {
	d := &report.Document{Title: r.Study + ": " + r.Title}
	if len(r.Cells) > 0 {
		d.Add(r.accuracies())
	}
	if len(r.Times) > 0 {
		if len(r.Cells) > 0 {
			d.Add(report.Heading("seconds of condensation"))
		}
		d.Add(r.seconds())
	}
	if r.about().data {
		d.Add(r.dataTable())
	}
	if r.Trials > 0 {
		d.Add(report.Heading("what the search found"), r.foundTable())
	}
	for _, t := range r.others() {
		d.Add(report.Heading(t.Title), t)
		t.Title = ""
	}
	for _, f := range r.Figures() {
		d.Add(f)
	}
	d.Add(r.notes())
	return d
}

// accuracies returns the main table. Accuracies on a graph that is not the paper's are in a separate column, without a
// difference from the paper.
func (r *Result) accuracies() *report.Table {
	ours := slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Comparable })
	strange := slices.ContainsFunc(r.Cells, func(c Cell) bool { return !c.Comparable })
	printed := slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Paper != nil })
	t := new(report.Table)
	var shown []func(Cell) report.Cell
	add := func(when bool, column report.Column, cell func(Cell) report.Cell) {
		if when {
			t.Columns, shown = append(t.Columns, column), append(shown, cell)
		}
	}
	numbers := func(name string) report.Column {
		return report.Column{Name: name, Unit: "%", Parts: report.MeanParts, Side: report.Right}
	}
	add(true, report.Column{Name: "graph"}, func(c Cell) report.Cell { return report.Word(r.called(c.Graph)) })
	add(true, report.Column{Name: "r", Side: report.Right}, func(c Cell) report.Cell { return orMissing(c.Ratio) })
	add(true, report.Column{Name: "N′"}, func(c Cell) report.Cell { return report.Integer(c.Nodes) })
	add(true, report.Column{Name: "method"}, func(c Cell) report.Cell { return report.Word(c.Arm) })
	add(r.about().sweeps != nil, report.Column{Name: "edges of A′"}, func(c Cell) report.Cell {
		return report.Decimal(c.Edges, 1)
	})
	add(r.several(), report.Column{Name: "model"}, func(c Cell) report.Cell { return report.Word(c.Model) })
	add(ours, numbers("here"), func(c Cell) report.Cell { return c.test(c.Comparable) })
	add(printed, numbers("paper"), func(c Cell) report.Cell { return c.Paper.cell() })
	add(ours && printed, report.Column{Name: "difference", Side: report.Right}, Cell.difference)
	add(strange, numbers("not comparable"), func(c Cell) report.Cell { return c.test(!c.Comparable) })
	for _, c := range r.Cells {
		var row []report.Cell
		for _, cell := range shown {
			row = append(row, cell(c))
		}
		t.Row(row)
	}
	return t
}

// several reports whether the cells belong to more than one model.
func (r *Result) several() bool {
	return slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Model != r.Cells[0].Model })
}

// called returns the name of a graph, marked if the graph is synthetic.
func (r *Result) called(name string) string {
	if r.graph(name).Made {
		return name + " (synthetic)"
	}
	return name
}

func orMissing(text string) report.Cell {
	if text == "" {
		return report.Missing()
	}
	return report.Word(text)
}

// test formats the test accuracy if here is set, and otherwise returns a missing cell.
func (c Cell) test(here bool) report.Cell {
	if !here {
		return report.Missing()
	}
	return report.Mean(c.Test.Mean, c.Test.Std, c.Seeds, 1)
}

// difference formats the measured accuracy minus the paper's.
func (c Cell) difference() report.Cell {
	if !c.Comparable || c.Paper == nil || c.Paper.OutOfMemory {
		return report.Missing()
	}
	return report.Signed(c.Test.Mean-c.Paper.Mean, 1)
}

// cell formats a number of the paper. It is missing if v is nil.
func (v *Value) cell() report.Cell {
	switch {
	case v == nil:
		return report.Missing()
	case v.OutOfMemory:
		return report.Word(v.Text)
	case strings.Contains(v.Text, "±"):
		return report.Cell{Text: v.String(), Values: []any{v.Mean, v.Std}}
	}
	text := report.Count(int(v.Mean))
	if _, rest, point := strings.Cut(v.Text, "."); point {
		text += "." + rest
	}
	return report.Cell{Text: text, Values: []any{v.Mean}}
}

// seconds returns the table of times.
func (r *Result) seconds() *report.Table {
	t := &report.Table{Columns: []report.Column{{Name: "graph"}, {Name: "N′"}, {Name: "method"}}}
	steps := []string{"propagate", "assess", "augment", "partition", "generate"}
	t.Columns = append(t.Columns, report.Columns(steps...)...)
	t.Columns = append(t.Columns, report.Column{Name: "all"}, report.Column{Name: "paper", Side: report.Right})
	for _, c := range r.Times {
		s := c.Seconds
		var row []report.Cell
		for _, step := range steps {
			var cell report.Cell
			if v := s.Of(step); v > 0 { // v is 0 if the method has no such step
				cell = report.Decimal(v, 3)
			}
			row = append(row, cell)
		}
		t.Row(r.called(c.Graph), c.Nodes, c.Arm, row, report.Decimal(s.Total, 3), c.Paper.cell())
	}
	return t
}

// others returns tables with the paper's numbers, on the same graphs, for methods that were not run: one or more for
// each of the study's tables. A table of the paper whose columns are methods is transposed: the result has a column for
// each graph and ratio. A table whose columns are models becomes one table for each graph.
func (r *Result) others() (all []*report.Table) {
	run := map[string]bool{wholeName: true}
	for _, c := range r.Cells {
		run[c.Arm] = true
	}
	for _, t := range r.Times {
		run[t.Arm] = true
	}
	names := r.about().tables
	if others := r.about().others; others != nil {
		names = others
	}
	for _, name := range names {
		p := Published().Table(name)
		name = strings.TrimSuffix(name, secondsSuffix)
		if !slices.ContainsFunc(p.Rows, func(row Row) bool { return row.Method != "" }) {
			all = append(all, r.transposed(name, p, run))
			continue
		}
		for _, g := range r.Graphs {
			all = append(all, modelsOn(g.Name, name, p, run))
		}
	}
	return slices.DeleteFunc(all, func(t *report.Table) bool { return len(t.Rows) == 0 })
}

// transposed returns the columns of p, which are methods, as rows. It omits the methods in run.
func (r *Result) transposed(name string, p *Table, run map[string]bool) *report.Table {
	rows := slices.DeleteFunc(slices.Clone(p.Rows), func(row Row) bool { return !r.graph(row.Graph).Paper })
	t := printedTable("other methods", name, p.Unit)
	for _, row := range rows {
		t.Columns = append(t.Columns, printedColumn(row.Graph+" "+row.Ratio))
	}
	for c, method := range p.Columns {
		if !run[method] && len(rows) > 0 {
			printedRow(t, method, len(rows), func(i int) *Value { return &rows[i].Cells[c] })
		}
	}
	return t
}

// modelsOn returns the rows of p on a graph. Its columns are models. It omits the methods in run.
func modelsOn(graph, name string, p *Table, run map[string]bool) *report.Table {
	t := printedTable("other methods on "+graph, name, p.Unit)
	for _, model := range p.Columns {
		t.Columns = append(t.Columns, printedColumn(model))
	}
	for _, row := range p.Rows {
		if row.Graph == graph && !run[row.Method] && !run[row.Method+" "+p.Columns[0]] {
			printedRow(t, row.Method, len(row.Cells), func(i int) *Value { return &row.Cells[i] })
		}
	}
	return t
}

// printedTable returns an empty table for numbers that the paper prints in table name for the given methods.
func printedTable(methods, name, unit string) *report.Table {
	return &report.Table{
		Title: fmt.Sprintf("%s, as the paper prints them (%s, %s)", methods, name, unit), Columns: report.Columns("method"),
	}
}

// printedColumn returns a column for numbers printed in the paper.
func printedColumn(name string) report.Column {
	return report.Column{Name: name, Parts: report.MeanParts, Side: report.Right}
}

// printedRow appends a row with n numbers of a method.
func printedRow(t *report.Table, method string, n int, value func(i int) *Value) {
	var row []report.Cell
	for i := range n {
		row = append(row, value(i).cell())
	}
	t.Row(method, row)
}

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
			whose = "synthetic"
		}
		row(g.Name, whose, g.Inductive, g.Nodes, g.Edges, g.Classes, g.Features, g.Train, g.Val, g.Test)
		if p, is := Published().Of(g.Name); is {
			row(g.Name, "paper", p.Task == "inductive", p.Nodes, p.Edges, p.Classes, p.Features, p.Train, p.Val, p.Test)
		}
	}
	return t
}

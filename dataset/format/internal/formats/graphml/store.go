package graphml

import (
	"context"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format"
)

// ReadTables reads a file as tables. The column id holds the ids. All columns except x and y_soft are text.
func (Format) ReadTables(ctx context.Context, path string) (*format.Tables, error) {
	nodes, edges := newSheet("id"), newSheet("source", "target")
	d := document{
		begin: func(keys []*key) error {
			for _, k := range keys {
				switch k.of {
				case "node":
					nodes.declare(k)
				case "edge":
					edges.declare(k)
				}
			}
			return nil
		},
		node: func(e *element) error { return nodes.add(e, e.id) },
		edge: func(e *element) error { return edges.add(e, e.source, e.target) },
	}
	if err := d.read(ctx, path); err != nil {
		return nil, err
	}
	t := &format.Tables{Metadata: d.metadata()}
	for part, s := range map[*format.Table]*sheet{&t.Nodes: nodes, &t.Edges: edges} {
		var err error
		if *part, err = s.table(); err != nil {
			return nil, d.in.Fail(0, "%w", err)
		}
	}
	return t, nil
}

// metadata returns the attributes of the graph by their names.
func (d *document) metadata() map[string]string {
	meta := map[string]string{}
	for _, v := range d.graph {
		meta[v.key.name] = v.text
	}
	return meta
}

// sheet is a table of text that grows row by row.
type sheet struct {
	names, presets []string
	place          map[string]int
	rows           [][]cell // the cells that the file contains
	given          int      // the number of cells in rows
}

type cell struct {
	column int
	text   string
}

func newSheet(names ...string) *sheet {
	s := &sheet{place: map[string]int{}}
	for _, name := range names {
		s.column(name, "")
	}
	return s
}

// column returns the index of the column with that name, and adds the column if there is none.
func (s *sheet) column(name, preset string) int {
	k, known := s.place[name]
	if !known {
		k = len(s.names)
		s.place[name], s.names, s.presets = k, append(s.names, name), append(s.presets, preset)
	}
	return k
}

// declare returns the column of a key.
func (s *sheet) declare(k *key) int {
	if k.name == classColumn {
		return s.column(labelColumn, k.preset)
	}
	return s.column(k.name, k.preset)
}

// add adds an element as a row. ends are the cells of the first columns.
func (s *sheet) add(e *element, ends ...string) error {
	row := make([]cell, 0, len(ends)+len(e.data))
	for k, end := range ends {
		row = append(row, cell{k, end})
	}
	for _, d := range e.data {
		row = append(row, cell{s.declare(d.key), d.text})
	}
	s.rows, s.given = append(s.rows, row), s.given+len(row)
	return nil
}

// table returns all rows, with the columns x0, x1, … gathered into one. Cells that the file omits have the default of
// their column.
func (s *sheet) table() (t format.Table, err error) {
	const few = 1 << 22
	t.Rows = len(s.rows)
	if most := max(few, 64*s.given); len(s.names) > most/max(1, t.Rows) {
		return t, fmt.Errorf("most values of the attribute %.50q are left out", s.names[len(s.names)-1])
	}
	columns, last := make([][]string, len(s.names)), make([]int, len(s.names))
	for k, preset := range s.presets {
		columns[k] = slices.Repeat([]string{preset}, t.Rows)
	}
	for i, row := range s.rows {
		for _, c := range row {
			if last[c.column] == i+1 {
				return t, fmt.Errorf("the attribute %.50q appears twice", s.names[c.column])
			}
			columns[c.column][i], last[c.column] = c.text, i+1
		}
	}
	for k, name := range s.names {
		t.Columns = append(t.Columns, format.Column{Name: name, Data: columns[k]})
	}
	for _, name := range []string{"x", "y_soft"} {
		if err := t.Gather(name); err != nil {
			return t, err
		}
	}
	return t, nil
}

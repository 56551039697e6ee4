package graphml

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

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

// told returns the number of classes and their names, if cgc wrote the file.
func told(meta map[string]string) (classes int, names []string, own bool) {
	if meta["format"] != format.GraphKind {
		return 0, nil, false
	}
	classes, err := strconv.Atoi(meta["classes"])
	if list, named := meta["class_names"]; named && err == nil {
		err = json.Unmarshal([]byte(list), &names)
	}
	return classes, names, err == nil && (names == nil || len(names) == classes)
}

// sheet is a table of text that grows row by row.
type sheet struct {
	rows    int
	columns []*column
	of      map[*key]*column
	byName  map[string]*column
	given   int // cells that the file has
	held    int // cells in memory
}

type column struct {
	name   string
	preset string
	cells  []string
}

func newSheet(names ...string) *sheet {
	s := &sheet{of: map[*key]*column{}, byName: map[string]*column{}}
	for _, name := range names {
		s.column(name, "")
	}
	return s
}

func (s *sheet) column(name, preset string) *column {
	if c := s.byName[name]; c != nil {
		return c
	}
	c := &column{name: name, preset: preset}
	s.columns, s.byName[name] = append(s.columns, c), c
	return c
}

// declare adds a column for a key.
func (s *sheet) declare(k *key) *column {
	name := k.name
	if name == classColumn {
		name = labelColumn
	}
	s.of[k] = s.column(name, k.preset)
	return s.of[k]
}

// add adds an element as a row. ends are the cells of the first columns.
func (s *sheet) add(e *element, ends ...string) error {
	for k, end := range ends {
		if err := s.set(s.columns[k], end); err != nil {
			return err
		}
	}
	for _, d := range e.data {
		c := s.of[d.key]
		if c == nil {
			c = s.declare(d.key)
		}
		if err := s.set(c, d.text); err != nil {
			return err
		}
	}
	s.rows++
	return nil
}

// set sets a cell of the last row.
func (s *sheet) set(c *column, text string) error {
	s.given++
	if err := s.fill(c, s.rows); err != nil {
		return err
	}
	if len(c.cells) > s.rows {
		return fmt.Errorf("the attribute %.50q is there twice", c.name)
	}
	c.cells = append(c.cells, text)
	s.held++
	return nil
}

// fill appends defaults to a column until it has rows cells.
func (s *sheet) fill(c *column, rows int) error {
	const few = 1 << 22
	missing := max(0, rows-len(c.cells))
	if s.held += missing; missing > 0 && s.held > max(few, 64*s.given) {
		return fmt.Errorf("most values of the attribute %.50q are left out", c.name)
	}
	for range missing {
		c.cells = append(c.cells, c.preset)
	}
	return nil
}

// table returns all rows, with the columns x0, x1, … gathered into one.
func (s *sheet) table() (t format.Table, err error) {
	t.Rows = s.rows
	for _, c := range s.columns {
		if err := s.fill(c, s.rows); err != nil {
			return t, err
		}
		t.Columns = append(t.Columns, format.Column{Name: c.name, Data: c.cells})
	}
	for _, name := range []string{"x", "y_soft"} {
		if err := t.Gather(name); err != nil {
			return t, err
		}
	}
	return t, nil
}

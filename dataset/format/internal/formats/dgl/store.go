package dgl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/classes"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/table"
)

// The files that Write creates, and the names of the columns id and x in them.
const (
	nodesFile   = "nodes_0.csv"
	edgesFile   = "edges_0.csv"
	membersFile = "members.csv" // lists of varying lengths, which DGL cannot read

	idColumn, features = "node_id", "feat"
)

// classes returns the number of classes and their names, from the metadata.
func (m *meta) classes() (n int, names []string, err error) {
	if n, names, err = classes.Described(m.Metadata); err != nil {
		return 0, nil, &format.ReadError{File: m.path, Err: err}
	}
	return n, names, nil
}

// known returns the classes of a graph that cgc wrote. Labels are their numbers.
func (m *meta) known() (*table.Known, error) {
	n, names, err := m.classes()
	return &table.Known{Count: n, Names: names, Class: classes.Named(n, nil)}, err
}

// ReadMetadata reads meta.yaml.
func (Format) ReadMetadata(_ context.Context, path string) (map[string]string, error) {
	m, err := readMeta(path)
	if err != nil {
		return nil, err
	}
	return m.Metadata, nil
}

// ReadTables reads a folder as tables. x and y_soft hold numbers; all other columns are text.
func (Format) ReadTables(ctx context.Context, path string) (*format.Tables, error) {
	m, err := readMeta(path)
	if err != nil {
		return nil, err
	}
	t := &format.Tables{Metadata: m.Metadata}
	if t.Metadata == nil {
		t.Metadata = map[string]string{}
	}
	for part, f := range map[*format.Table]file{&t.Nodes: m.Nodes[0], &t.Edges: m.Edges[0]} {
		if err := m.read(ctx, part, filepath.Join(path, f.File)); err != nil {
			return nil, err
		}
	}
	if file := filepath.Join(path, membersFile); csvfile.Exists(file) {
		var lists format.Table
		if err := m.read(ctx, &lists, file); err != nil {
			return nil, err
		}
		if lists.Rows != t.Nodes.Rows {
			return nil, format.Wrong(file, "%d rows for %d nodes", lists.Rows, t.Nodes.Rows)
		}
		t.Nodes.Columns = append(t.Nodes.Columns, lists.Columns[1:]...)
	}
	return t, m.label(t)
}

// label replaces class numbers, which DGL requires, with class names if these are distinct.
func (m *meta) label(t *format.Tables) error {
	c := t.Nodes.Find("label")
	if c == nil || m.Metadata["class_names"] == "" {
		return nil
	}
	n, names, err := m.classes()
	if err != nil {
		return err
	}
	if len(slices.Compact(slices.Sorted(slices.Values(names)))) < len(names) {
		return nil
	}
	class, of := classes.Named(n, nil), make([]int32, t.Nodes.Rows)
	for i := range of {
		if of[i], err = class(c.Text(i)); err != nil {
			return format.Wrong(m.path, "node %d: %w", i, err)
		}
	}
	c.Data, c.Dictionary = of, names
	return nil
}

// read reads a file. The columns feat and y_soft become lists of numbers, all other columns become text.
func (m *meta) read(ctx context.Context, t *format.Table, path string) error {
	f, err := m.open(filepath.Dir(path), file{File: filepath.Base(path)})
	if err != nil {
		return err
	}
	cells := make([][]string, len(f.Header()))
	err = f.Each(ctx, func(fields [][]byte, _ int) error {
		for k, text := range fields {
			cells[k] = append(cells[k], string(text))
		}
		t.Rows++
		return nil
	})
	if err != nil {
		return err
	}
	names := map[string]string{idColumn: "id", "src_id": "source", "dst_id": "target", features: "x"}
	for k, name := range f.Header() {
		c := format.Column{Name: cmp.Or(names[name], name), Data: cells[k]}
		if name == features || name == "y_soft" {
			if err := numbers(&c, cells[k]); err != nil {
				return f.FailAt(1, fmt.Errorf("column %s: %w", name, err))
			}
		}
		t.Columns = append(t.Columns, c)
	}
	return nil
}

// numbers turns c into a column of lists of equal length.
func numbers(c *format.Column, cells []string) error {
	if len(cells) == 0 {
		return errors.New("no rows")
	}
	var all []float32
	for i, text := range cells {
		before := len(all)
		var err error
		if all, err = appendList(all, []byte(text)); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		if width := len(all) - before; i > 0 && width != c.Width {
			return fmt.Errorf("row %d holds %d numbers, and row 0 %d", i, width, c.Width)
		}
		c.Width = len(all) - before
	}
	c.Data = all
	return nil
}

package dgl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/internal/content"
)

// sheet presents a .csv file as a table with reordered and renamed columns.
type sheet struct {
	*csvfile.Table
	header []string
	places []int // the file's column for each column of header
	label  int   // the index of the label in header; −1 for edges
	graph  int   // the column graph_id, or −1
	first  []byte
}

// Header returns the names of the columns.
func (s *sheet) Header() []string { return s.header }

// errFirst stops reading after the first row.
var errFirst = errors.New("the first row")

// Runs reads the file in blocks. All rows must have the same graph_id.
func (s *sheet) Runs(ctx context.Context, _ []int, use func(run int, r table.Rows) error) error {
	if s.graph >= 0 && s.first == nil {
		err := s.Each(ctx, func(fields [][]byte, _ int) error {
			s.first = append([]byte{}, fields[s.graph]...)
			return errFirst
		})
		if err != nil && !errors.Is(err, errFirst) {
			return err
		}
	}
	return s.RunsOf(ctx, len(s.header), use, s.fill)
}

// find returns the column of that name, or −1.
func find(t *csvfile.Table, name string) int { return slices.Index(t.Header(), name) }

// labels lists the possible names of the label column.
var labels = []string{"label", "labels", "class", "y"}

// newNodes returns the table of nodes: id, label, masks and features.
func newNodes(t *csvfile.Table, f file) (*sheet, error) {
	s := &sheet{Table: t, graph: find(t, f.GraphID), label: 1}
	id, label := find(t, f.NodeID), t.Column(labels...)
	if err := table.Missing(t.Header(), [][]string{{f.NodeID}, labels}, id, label); err != nil {
		return nil, s.Fail(-1, err)
	}
	s.header, s.places = []string{"id", "label"}, []int{id, label}
	for c, name := range t.Header() {
		if c == id || c == label || c == s.graph || content.IsIndex(t.Header(), c) {
			continue
		}
		s.header, s.places = append(s.header, name), append(s.places, c)
	}
	return s, nil
}

// newEdges returns the table of edges: source, target and, if present, weight. note lists the columns that are not
// read.
func newEdges(t *csvfile.Table, f file) (s *sheet, note string, err error) {
	s = &sheet{Table: t, graph: find(t, f.GraphID), label: -1}
	source, target, weight := find(t, f.Source), find(t, f.Target), t.Column("weight")
	if err := table.Missing(t.Header(), [][]string{{f.Source}, {f.Target}}, source, target); err != nil {
		return nil, "", s.Fail(-1, err)
	}
	s.header, s.places = []string{"source", "target"}, []int{source, target}
	if weight >= 0 {
		s.header, s.places = append(s.header, "weight"), append(s.places, weight)
	}
	return s, content.Unread(t.File(), t.Header(), append([]int{s.graph}, s.places...)...), nil
}

// fill sets the cells of a row.
func (s *sheet) fill(cells []table.Cell, fields [][]byte) (err error) {
	if s.graph >= 0 && !bytes.Equal(fields[s.graph], s.first) {
		return fmt.Errorf("graph_id %.30q, and %.30q in the first row: the file holds several graphs, expected one",
			fields[s.graph], s.first)
	}
	for k, place := range s.places {
		c := &cells[k]
		switch {
		case k == s.label:
			setLabel(c, fields[place])
		case s.label >= 0 && k > s.label:
			if err = feature(c, fields[place]); err != nil {
				err = fmt.Errorf("column %s: %w", s.header[k], err)
			}
		default:
			c.Kind, c.Text = table.Text, fields[place]
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setLabel sets a cell to the label of a node. In a column with missing labels, pandas writes integers as 1.0.
func setLabel(c *table.Cell, text []byte) {
	c.Kind, c.Text = table.Text, bytes.TrimSuffix(text, []byte(".0"))
	if len(c.Text) == 0 || bytes.EqualFold(c.Text, []byte("nan")) {
		c.Kind = table.Null
	}
}

// feature sets a cell to a number, or to several separated by commas.
func feature(c *table.Cell, text []byte) (err error) {
	inner := bytes.Trim(text, "[]() ")
	if len(inner) == len(text) && bytes.IndexByte(text, ',') < 0 {
		c.Kind, c.Text = table.Text, text
		return nil
	}
	c.Kind = table.List
	c.List, err = appendList(c.List[:0], inner)
	return err
}

// appendList appends the numbers of a comma-separated list.
func appendList(list []float32, text []byte) ([]float32, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("an empty list, must be numbers")
	}
	for field := range bytes.SplitSeq(text, []byte(",")) {
		v, err := content.Float(bytes.TrimSpace(field))
		if err != nil {
			return nil, fmt.Errorf("number %d of the list is %.50q, must be a finite number", len(list)+1, field)
		}
		list = append(list, v)
	}
	return list, nil
}

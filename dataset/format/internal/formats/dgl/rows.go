package dgl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/internal/content"
)

// sheet presents a .csv file as a table with reordered and renamed columns.
type sheet struct {
	*csvfile.Table
	header []string
	places []int // the file's column for each column of header; −1 for the split
	masks  [3]int
	label  int // the index of the label in header; −1 for edges
	graph  int // the column graph_id, or −1
	first  []byte
	least  *atomic.Int64 // the smallest numeric label that is at least 0
}

// Header returns the names of the columns.
func (s *sheet) Header() []string { return s.header }

// Runs reads the file in blocks. All rows must have the same graph_id.
func (s *sheet) Runs(ctx context.Context, _ []int, use func(run int, r table.Rows) error) error {
	b, err := s.Open()
	if err != nil {
		return err
	}
	defer b.Close()
	next := func() (r *csvfile.Reader, more bool, err error) {
		r, more, err = b.Next()
		if more && s.graph >= 0 && s.first == nil {
			one := *r
			fields, err := one.Read()
			if err != nil {
				return nil, false, err
			}
			s.first = append([]byte{}, fields[s.graph]...)
		}
		return r, more, err
	}
	return table.Each(ctx, next, func(run int, r *csvfile.Reader) error {
		return use(run, &rows{Reader: r, sheet: s, cells: make([]table.Cell, len(s.header))})
	})
}

// find returns the column of that name, or −1.
func find(t *csvfile.Table, name string) int { return slices.Index(t.Header(), name) }

// labels lists the possible names of the label column.
var labels = []string{"label", "labels", "class", "y"}

// newNodes returns the table of nodes: id, label, split and features.
func newNodes(t *csvfile.Table, f file) (*sheet, error) {
	s := &sheet{Table: t, graph: find(t, f.GraphID), label: 1, least: &atomic.Int64{}}
	s.least.Store(math.MaxInt64)
	id, label := find(t, f.NodeID), t.Column(labels...)
	if err := table.Missing(t.Header(), [][]string{{f.NodeID}, labels}, id, label); err != nil {
		return nil, s.Fail(-1, err)
	}
	s.masks = [3]int{t.Column("train_mask"), t.Column("val_mask", "valid_mask"), t.Column("test_mask")}
	s.header, s.places = []string{"id", "label", "split"}, []int{id, label, -1}
	for c, name := range t.Header() {
		if c == id || c == label || c == s.graph || slices.Contains(s.masks[:], c) || content.IsIndex(t.Header(), c) {
			continue
		}
		s.header, s.places = append(s.header, name), append(s.places, c)
	}
	return s, nil
}

// newEdges returns the table of edges: source, target and, if present, weight. left lists the columns that are not
// read.
func newEdges(t *csvfile.Table, f file) (s *sheet, left []string, err error) {
	s = &sheet{Table: t, graph: find(t, f.GraphID), label: -1, masks: [3]int{-1, -1, -1}}
	source, target, weight := find(t, f.Source), find(t, f.Target), t.Column("weight")
	if err := table.Missing(t.Header(), [][]string{{f.Source}, {f.Target}}, source, target); err != nil {
		return nil, nil, s.Fail(-1, err)
	}
	s.header, s.places = []string{"source", "target"}, []int{source, target}
	if weight >= 0 {
		s.header, s.places = append(s.header, "weight"), append(s.places, weight)
	}
	for c, name := range t.Header() {
		if !slices.Contains(s.places, c) && c != s.graph && !content.IsIndex(t.Header(), c) {
			left = append(left, name)
		}
	}
	return s, left, nil
}

// rows reads records as rows.
type rows struct {
	*csvfile.Reader
	sheet   *sheet
	cells   []table.Cell
	numbers []float32
}

// At returns the line of the last row.
func (r *rows) At() int { return r.Line }

// Fail returns an error about a line.
func (r *rows) Fail(line int, err error) error { return r.sheet.FailAt(line, err) }

// Read returns the next row.
func (r *rows) Read() ([]table.Cell, error) {
	fields, err := r.Reader.Read()
	if err != nil {
		return nil, err
	}
	s := r.sheet
	if s.graph >= 0 && !bytes.Equal(fields[s.graph], s.first) {
		return nil, r.Fail(r.Line, fmt.Errorf("graph_id %.30q, and %.30q in the first row: the file holds several graphs, "+
			"expected one", fields[s.graph], s.first))
	}
	for k, place := range s.places {
		switch {
		case place < 0:
			r.cells[k], err = r.split(fields)
		case k == s.label:
			r.cells[k] = r.label(fields[place])
		case s.label >= 0 && k > s.label:
			r.cells[k], err = r.feature(s.header[k], fields[place])
		default:
			r.cells[k] = table.Cell{Kind: table.Text, Text: fields[place]}
		}
		if err != nil {
			return nil, err
		}
	}
	return r.cells, nil
}

// label returns the label of a node. In a column with missing labels, pandas writes integers as 1.0.
func (r *rows) label(text []byte) table.Cell {
	text = bytes.TrimSuffix(text, []byte(".0"))
	if v, err := decimal.Int(text); err == nil {
		for least := r.sheet.least.Load(); v >= 0 && v < least; least = r.sheet.least.Load() {
			r.sheet.least.CompareAndSwap(least, v)
		}
	}
	if bytes.EqualFold(text, []byte("nan")) {
		text = nil
	}
	return table.Cell{Kind: table.Text, Text: text}
}

// split returns the part whose mask is true.
func (r *rows) split(fields [][]byte) (cell table.Cell, err error) {
	for k, c := range r.sheet.masks {
		if c < 0 {
			continue
		}
		in, err := strconv.ParseBool(strings.ToLower(strings.TrimSuffix(string(fields[c]), ".0")))
		switch name := r.sheet.Table.Header()[c]; {
		case err != nil:
			return cell, r.Fail(r.Line, fmt.Errorf("%s %.30q, must be 0 or 1", name, fields[c]))
		case in && cell.Kind != table.Null:
			return cell, r.Fail(r.Line, fmt.Errorf("the node is in %s and in %s, must be one of them", cell.Text, name))
		case in:
			cell = table.Cell{Kind: table.Text, Text: []byte([...]string{"train", "val", "test"}[k])}
		}
	}
	return cell, nil
}

// feature returns a number, or several separated by commas.
func (r *rows) feature(name string, text []byte) (table.Cell, error) {
	inner := bytes.Trim(text, "[]() ")
	if len(inner) == len(text) && bytes.IndexByte(text, ',') < 0 {
		return table.Cell{Kind: table.Text, Text: text}, nil
	}
	list, err := appendList(r.room(bytes.Count(inner, []byte(","))+1), inner)
	if err != nil {
		return table.Cell{}, r.Fail(r.Line, fmt.Errorf("column %s: %w", name, err))
	}
	return table.Cell{Kind: table.List, List: list}, nil
}

// room returns an empty list with room for n numbers.
func (r *rows) room(n int) []float32 {
	if len(r.numbers) < n {
		r.numbers = make([]float32, max(n, 1<<14))
	}
	list := r.numbers[:0:n]
	r.numbers = r.numbers[n:]
	return list
}

// appendList appends the numbers of a comma-separated list.
func appendList(list []float32, text []byte) ([]float32, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("an empty list, must be numbers")
	}
	for field := range bytes.SplitSeq(text, []byte(",")) {
		v, err := decimal.Float(bytes.TrimSpace(field))
		if err != nil {
			return nil, fmt.Errorf("number %d of the list is %.50q, must be a finite number", len(list)+1, field)
		}
		list = append(list, v)
	}
	return list, nil
}

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
)

// sheet is a .csv file as a table whose columns have other places and names.
type sheet struct {
	*csvfile.Table
	name   string
	header []string
	places []int // of each column of header; −1 for the split
	masks  [3]int
	label  int // the place of the label in header; −1 for edges
	graph  int // the column graph_id, or −1
	first  []byte
	least  *atomic.Int64 // the smallest label from 0 on that is a number
}

// Name returns the name of the file.
func (s *sheet) Name() string { return s.name }

// File returns the path of the file.
func (s *sheet) File() string { return s.Table.File }

// Header returns the names of the columns.
func (s *sheet) Header() []string { return s.header }

// Parts reads the file in blocks. The column graph_id must have one value.
func (s *sheet) Parts(context.Context) (parts []table.Rows, err error) {
	blocks := s.Blocks()
	if s.graph >= 0 && len(blocks) > 0 {
		one := *blocks[0]
		fields, err := one.Read()
		if err != nil {
			return nil, err
		}
		s.first = slices.Clone(fields[s.graph])
	}
	for _, r := range blocks {
		parts = append(parts, &rows{Reader: r, sheet: s, cells: make([]table.Cell, len(s.header))})
	}
	return parts, nil
}

// find returns the column of that name, or −1.
func find(t *csvfile.Table, name string) int { return slices.Index(t.Header, name) }

// fold returns the column of one of the names, in any case of letters, or −1.
func fold(t *csvfile.Table, names ...string) int {
	for _, name := range names {
		if c := slices.IndexFunc(t.Header, func(h string) bool { return strings.EqualFold(h, name) }); c >= 0 {
			return c
		}
	}
	return -1
}

// newNodes returns the table of nodes: id, label, split and features.
func newNodes(t *csvfile.Table, f file) (*sheet, error) {
	s := &sheet{Table: t, name: f.File, graph: find(t, f.GraphID), label: 1, least: &atomic.Int64{}}
	s.least.Store(math.MaxInt64)
	id, label := find(t, f.NodeID), fold(t, "label", "labels", "class", "y")
	if id < 0 || label < 0 {
		return nil, s.Fail(-1, fmt.Errorf("the columns are %.200q, want %s, label and features",
			strings.Join(t.Header, ","), f.NodeID))
	}
	s.masks = [3]int{fold(t, "train_mask"), fold(t, "val_mask", "valid_mask"), fold(t, "test_mask")}
	s.header, s.places = []string{"id", "label", "split"}, []int{id, label, -1}
	for c, name := range t.Header {
		if c == id || c == label || c == s.graph || slices.Contains(s.masks[:], c) || unnamed(name) {
			continue
		}
		s.header, s.places = append(s.header, name), append(s.places, c)
	}
	return s, nil
}

// unnamed reports whether a column is the one that pandas adds for its index. DGL leaves it out.
func unnamed(name string) bool { return name == "" || strings.HasPrefix(name, "Unnamed") }

// newEdges returns the table of edges: source, target and, if it is there, weight. left are the names of the columns
// that are not read.
func newEdges(t *csvfile.Table, f file) (s *sheet, left []string, err error) {
	s = &sheet{Table: t, name: f.File, graph: find(t, f.GraphID), label: -1, masks: [3]int{-1, -1, -1}}
	source, target, weight := find(t, f.Source), find(t, f.Target), fold(t, "weight")
	if source < 0 || target < 0 {
		return nil, nil, s.Fail(-1, fmt.Errorf("the columns are %.200q, want %s, %s and, if there are weights, weight",
			strings.Join(t.Header, ","), f.Source, f.Target))
	}
	s.header, s.places = []string{"source", "target"}, []int{source, target}
	if weight >= 0 {
		s.header, s.places = append(s.header, "weight"), append(s.places, weight)
	}
	for c, name := range t.Header {
		if !slices.Contains(s.places, c) && c != s.graph && !unnamed(name) {
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
			"want one", fields[s.graph], s.first))
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

// label returns the label of a node. pandas writes 1.0 for a whole number where others have none.
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
		switch name := r.sheet.Table.Header[c]; {
		case err != nil:
			return cell, r.Fail(r.Line, fmt.Errorf("%s %.30q, want 0 or 1", name, fields[c]))
		case in && cell.Kind != table.Null:
			return cell, r.Fail(r.Line, fmt.Errorf("the node is in %s and in %s, want one of them", cell.Text, name))
		case in:
			cell = table.Cell{Kind: table.Text, Text: []byte([...]string{"train", "val", "test"}[k])}
		}
	}
	return cell, nil
}

// feature returns a number, or several with commas between them.
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

// appendList appends the numbers of a list with commas between them.
func appendList(list []float32, text []byte) ([]float32, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("an empty list, want numbers")
	}
	for field := range bytes.SplitSeq(text, []byte(",")) {
		v, err := decimal.Float(bytes.TrimSpace(field))
		if err != nil {
			return nil, fmt.Errorf("number %d of the list is %.50q, want a finite number", len(list)+1, field)
		}
		list = append(list, v)
	}
	return list, nil
}

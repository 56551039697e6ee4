package named

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
	"github.com/graph-condensation/cgc/dataset/format/internal/ids"
	"github.com/graph-condensation/cgc/graph"
)

// columns are the places of the columns of nodes.csv; −1 if there is none.
type columns struct {
	id, label, split int
	features         []int // all others
}

// findColumns looks at the header.
func findColumns(t *csvfile.Table) (c columns, err error) {
	c = columns{
		id: t.Column("id", "node_id", "node"), label: t.Column("label", "class", "y"), split: t.Column("split", "part"),
	}
	if c.id < 0 || c.label < 0 {
		return c, t.Fail("the columns are %.200q, want id, label and features", strings.Join(t.Header, ","))
	}
	for i := range t.Header {
		if i != c.id && i != c.label && i != c.split {
			c.features = append(c.features, i)
		}
	}
	if len(c.features) == 0 {
		return c, t.Fail("no column besides id, label and split, want at least one feature")
	}
	return c, nil
}

// nodes is what nodes.csv holds.
type nodes struct {
	*csvfile.Table
	columns
	ids    []string
	at     *ids.Index
	labels labels
	x      []float32
	split  graph.Split
}

// readNodes reads nodes.csv.
func readNodes(ctx context.Context, file string) (*nodes, error) {
	t, err := csvfile.OpenTable(file)
	if err != nil {
		return nil, err
	}
	c, err := findColumns(t)
	if err != nil {
		return nil, err
	}
	parts, err := csvfile.Parse(ctx, t, func(r *csvfile.Reader) (*part, error) {
		p := &part{Reader: r, columns: c, header: t.Header}
		return p, p.read()
	})
	if ctx.Err() != nil {
		return nil, err
	}
	n := &nodes{Table: t, columns: c}
	n.join(parts)
	again, first := 0, 0
	n.at, again, first = ids.New(n.ids)
	switch most := n.labels.beyond(); {
	case again >= 0 && (most < 0 || again <= most):
		return nil, n.failAt(again, "the id %.50q is there twice, first in line %d", n.ids[again], t.Line(first))
	case most >= 0:
		return nil, n.failAt(most, "more than %d labels", graph.MaxClasses)
	case err != nil:
		return nil, err // in a line after those of the parts
	case len(n.ids) == 0:
		return nil, &format.ReadError{File: file, Err: errors.New("no lines with nodes after the header")}
	case len(n.ids) > graph.MaxNodes:
		return nil, n.failAt(graph.MaxNodes, "more than %d nodes", graph.MaxNodes)
	}
	return n, nil
}

// failAt returns an error about the line of a node.
func (n *nodes) failAt(node int, text string, args ...any) error {
	return n.Table.FailAt(n.Line(node), text, args...)
}

// join puts parts together. It leaves nothing in them.
func (n *nodes) join(parts []*part) {
	x := make([][]float32, len(parts))
	for k, p := range parts {
		base := len(n.ids)
		text, from := string(p.text), 0
		for _, end := range p.ends {
			n.ids = append(n.ids, text[from:end])
			from = end
		}
		n.labels.join(&p.labels)
		for i, v := range p.place {
			list := [...]*[]int32{&n.split.Train, &n.split.Val, &n.split.Test}[p.part[i]]
			*list = append(*list, int32(base)+v)
		}
		x[k] = p.x
		*p = part{}
	}
	n.x = slices.Concat(x...)
}

// part is what a part of nodes.csv holds. Its nodes are counted from 0.
type part struct {
	*csvfile.Reader
	columns
	header []string
	text   []byte // the ids, one after the other
	ends   []int  // of each in text
	labels labels
	x      []float32
	// place holds nodes of the split, and part the part of each: 0 trains, 1 validates, 2 tests.
	place []int32
	part  []byte
}

// read reads all records.
func (p *part) read() error {
	about := p.About()
	p.ends, p.x = make([]int, 0, about), make([]float32, 0, about*len(p.features))
	for {
		fields, err := p.Read()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = p.add(fields)
		}
		if err != nil {
			return err
		}
	}
}

// add takes a record.
func (p *part) add(fields [][]byte) error {
	id, label := fields[p.id], fields[p.label]
	switch {
	case len(id) == 0:
		return p.Fail("the id is empty")
	case !utf8.Valid(id) || !utf8.Valid(label):
		return p.Fail("the id or the label is not UTF-8 text")
	}
	node := int32(len(p.ends))
	p.text = append(p.text, id...)
	p.ends = append(p.ends, len(p.text))
	p.labels.add(label)
	for _, c := range p.features {
		v, err := decimal.Float(fields[c])
		if err != nil || math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return p.Fail("column %s: %.50q, want a finite number", p.header[c], fields[c])
		}
		p.x = append(p.x, v)
	}
	if p.split < 0 || len(fields[p.split]) == 0 {
		return nil
	}
	which := byte(0)
	switch text := strings.ToLower(string(fields[p.split])); text {
	case "train":
	case "val", "valid", "validation":
		which = 1
	case "test":
		which = 2
	case "none":
		return nil
	default:
		return p.Fail("split %.50q, want train, val, test or nothing", text)
	}
	p.place, p.part = append(p.place, node), append(p.part, which)
	return nil
}

// notes returns a sentence if ids are numbers and names, and one if two ids are the same number.
func (n *nodes) notes() (notes []string) {
	whole, odd := 0, -1
	for i, id := range n.ids {
		if _, err := decimal.Int([]byte(id)); err == nil {
			whole++
		} else if odd < 0 {
			odd = i
		}
	}
	if whole > 0 && odd >= 0 {
		notes = append(notes, fmt.Sprintf("%s:%d: the id %.50q is a name, and %d of %d ids are whole numbers: "+
			"all are compared as text", n.File, n.Line(odd), n.ids[odd], whole, len(n.ids)))
	}
	if i, j := n.at.SameNumber(); i >= 0 {
		notes = append(notes, fmt.Sprintf("%s:%d: the id %.50q is another node than %.50q in line %d: "+
			"ids are compared as text", n.File, n.Line(i), n.ids[i], n.ids[j], n.Line(j)))
	}
	return notes
}

package table

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
	"github.com/graph-condensation/cgc/dataset/format/internal/ids"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

// columns are the places of the columns of a table of nodes; −1 if there is none.
type columns struct {
	id, label, split int
	features         []int // all others
}

// findColumns looks at the header.
func findColumns(t Table) (c columns, err error) {
	header := t.Header()
	c = columns{id: column(header, idNames), label: column(header, labelNames), split: column(header, splitNames)}
	if c.id < 0 || c.label < 0 {
		return c, failHeader(t, "the columns are %.200q, want id, label and features", strings.Join(header, ","))
	}
	for i := range header {
		if i != c.id && i != c.label && i != c.split {
			c.features = append(c.features, i)
		}
	}
	if len(c.features) == 0 {
		return c, failHeader(t, "no column besides id, label and split, want at least one feature")
	}
	return c, nil
}

// often is how many nodes, or comparisons of them, are between two looks at the context.
const often = 1 << 14

// nodes is what a table of nodes holds.
type nodes struct {
	Table
	ids    []string
	at     *ids.Index
	labels labels
	widths []int // the number of features in each column of features
	x      []float32
	split  graph.Split
}

// readNodes reads a table of nodes.
func readNodes(ctx context.Context, t Table) (*nodes, error) {
	c, err := findColumns(t)
	if err != nil {
		return nil, err
	}
	parts, err := collect(ctx, t, func(r Rows) (*part, error) {
		p := &part{Rows: r, columns: c, header: t.Header()}
		return p, p.read()
	})
	if ctx.Err() != nil || parts == nil && err != nil {
		return nil, err
	}
	n := &nodes{Table: t}
	if wrong := n.join(ctx, parts); wrong != nil {
		return nil, wrong
	}
	again, first := 0, 0
	n.at, again, first = ids.New(ctx, n.ids)
	switch most := n.labels.beyond(); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case again >= 0 && (most < 0 || again <= most):
		return nil, n.failAt(again, "the id %.50q is there twice, first in %s", n.ids[again], t.Place(first))
	case most >= 0:
		return nil, n.failAt(most, "more than %d labels", graph.MaxClasses)
	case err != nil:
		return nil, err // in a row after those of the parts
	case len(n.ids) == 0:
		return nil, failAll(t, "the table has no rows, want at least 1 node")
	case len(n.ids) > graph.MaxNodes:
		return nil, n.failAt(graph.MaxNodes, "more than %d nodes", graph.MaxNodes)
	}
	return n, nil
}

// failAt returns an error about the row of a node.
func (n *nodes) failAt(node int, text string, args ...any) error {
	return n.Fail(node, fmt.Errorf(text, args...))
}

// join puts parts together. It leaves nothing in them. An error says that lists of features differ in length.
func (n *nodes) join(ctx context.Context, parts []*part) error {
	x := make([][]float32, len(parts))
	for k, p := range parts {
		if ctx.Err() != nil {
			return ctx.Err()
		}
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
		if n.widths == nil {
			n.widths = p.widths
		}
		for i, w := range p.widths {
			if w != n.widths[i] {
				return n.failAt(base, "column %s holds %d numbers, and %d in %s",
					p.header[p.features[i]], w, n.widths[i], n.Place(0))
			}
		}
		x[k] = p.x
		*p = part{}
	}
	var err error
	n.x, err = memory.Join(ctx, x...)
	return err
}

// checkSplit returns an error about the first node of the split that has no label.
func (n *nodes) checkSplit(y []int32) error {
	first, name := len(y), ""
	for k, part := range [...][]int32{n.split.Train, n.split.Val, n.split.Test} {
		for _, v := range part {
			if y[v] == graph.Unlabelled && int(v) < first {
				first, name = int(v), [...]string{"train", "val", "test"}[k]
			}
		}
	}
	if name == "" {
		return nil
	}
	return n.failAt(first, "the split is %s, and there is no label", name)
}

// notes returns a sentence if ids are numbers and names, and one if two ids are the same number.
func (n *nodes) notes(ctx context.Context) (notes []string) {
	whole, odd := 0, -1
	for i, id := range n.ids {
		if ids.Whole(id) {
			whole++
		} else if odd < 0 {
			odd = i
		}
	}
	if whole > 0 && odd >= 0 {
		notes = append(notes, fmt.Sprintf("%s: the id %.50q in %s is a name, and %d of %d ids are whole numbers: "+
			"all are compared as text", n.File(), n.ids[odd], n.Place(odd), whole, len(n.ids)))
	}
	if i, j := n.at.SameNumber(ctx); i >= 0 {
		notes = append(notes, fmt.Sprintf("%s: the id %.50q in %s is another node than %.50q in %s: "+
			"ids are compared as text", n.File(), n.ids[i], n.Place(i), n.ids[j], n.Place(j)))
	}
	return notes
}

// sort numbers the nodes by their ids. b has labels and edges. When ctx is done, sort returns its error soon, and what
// is numbered has no meaning.
func (n *nodes) sort(ctx context.Context, b *graph.Builder) error {
	values, whole := memory.Make[int64](len(n.ids)), true
	for i, id := range n.ids {
		v, err := decimal.Int([]byte(id))
		values[i], whole = v, whole && err == nil
	}
	order := memory.Make[int32](len(n.ids)) // the row of each node
	for i := range order {
		order[i] = int32(i)
	}
	compared, ended := 0, false
	compare := func(i, j int32) int {
		if compared++; compared%often == 0 {
			ended = ended || ctx.Err() != nil
		}
		if ended {
			return 0 // to be done soon
		}
		if whole && values[i] != values[j] {
			return cmp.Compare(values[i], values[j])
		}
		return strings.Compare(n.ids[i], n.ids[j])
	}
	if !slices.IsSortedFunc(order, compare) {
		slices.SortFunc(order, compare)
	} else if !ended {
		return nil
	}
	if ended {
		return ctx.Err()
	}
	node := memory.Make[int32](len(order)) // of each row
	ids, y := make([]string, len(order)), memory.Make[int32](len(order))
	x, width := memory.Uncleared[float32](len(n.x))[:0], len(n.x)/len(n.ids)
	for i, row := range order {
		if i%often == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		node[row], ids[i], y[i] = int32(i), n.ids[row], b.Y[row]
		x = append(x, n.x[int(row)*width:][:width]...)
	}
	n.ids, b.Y, n.x = ids, y, x
	for _, list := range [][]int32{n.split.Train, n.split.Val, n.split.Test, b.Edges.From, b.Edges.To} {
		for some := range slices.Chunk(list, 1<<20) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			for k, row := range some {
				some[k] = node[row]
			}
		}
	}
	return nil
}

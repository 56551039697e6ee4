package table_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// memory is a table in memory with runs of part rows.
type memory struct {
	name   string
	header string
	cells  [][]table.Cell
	part   int
}

func (m memory) Name() string     { return m.name }
func (m memory) File() string     { return "memory, " + m.name }
func (m memory) Header() []string { return strings.Split(m.header, ",") }

func (m memory) Bytes() int64         { return 0 }
func (m memory) Most() (int64, error) { return int64(len(m.cells)), nil }

func (m memory) Runs(ctx context.Context, _ []int, use func(run int, r table.Rows) error) error {
	from := 0
	next := func() (*rows, bool, error) {
		part := m.cells[from:min(len(m.cells), from+max(1, m.part))]
		from += len(part)
		return &rows{memory: m, left: part, at: from - len(part)}, len(part) > 0, nil
	}
	return table.Each(ctx, next, func(run int, r *rows) error { return use(run, r) })
}

func (m memory) Place(row int) string { return fmt.Sprintf("row %d", row+1) }

func (m memory) Fail(row int, err error) error {
	if row >= 0 {
		err = fmt.Errorf("%s: %w", m.Place(row), err)
	}
	return &format.ReadError{File: m.File(), Err: err}
}

type rows struct {
	memory
	left [][]table.Cell
	at   int
}

func (r *rows) At() int    { return r.at - 1 }
func (r *rows) About() int { return len(r.left) }

func (r *rows) Read() ([]table.Cell, error) {
	if len(r.left) == 0 {
		return nil, io.EOF
	}
	cells := r.left[0]
	r.left, r.at = r.left[1:], r.at+1
	return cells, nil
}

func cells(values ...any) (row []table.Cell) {
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			row = append(row, table.Cell{})
		case string:
			row = append(row, table.Cell{Kind: table.Text, Text: []byte(v)})
		case int:
			row = append(row, table.Cell{Kind: table.Int, Int: int64(v)})
		case float64:
			row = append(row, table.Cell{Kind: table.Float, Float: v})
		case []float32:
			row = append(row, table.Cell{Kind: table.List, List: v})
		}
	}
	return row
}

func pair(part int, nodes, edges [][]table.Cell) table.Pair {
	return table.Pair{
		Name:  "made",
		Nodes: memory{"nodes", "x,ID,Label,split,y", nodes, part},
		Edges: func(context.Context) (table.Table, error) {
			return memory{"edges", "weight,source,target", edges, part}, nil
		},
	}
}

// TestKinds checks each kind of cell: numbers as text, integers as floats, lists as features.
func TestKinds(t *testing.T) {
	nodes := [][]table.Cell{
		cells([]float32{1, 2}, 30, "red", "train", "3"),
		cells([]float32{4, 5}, 7.0, nil, nil, 6),
		cells([]float32{7, 8}, "5", "blue", "Test", 9.5),
		cells([]float32{0, 0}, -2, math.NaN(), "", 0),
	}
	edges := [][]table.Cell{cells(2, 30, "7"), cells(1.5, 5.0, 7), cells("1", -2, 30)}
	for part := 1; part < 5; part++ {
		g, notes, err := pair(part, nodes, edges).Graph(t.Context())
		mattest.OK(t, err)
		fixture.Notes(t, notes)
		fixture.Is(t, g, "ids 30|7|5|-2; classes blue|red; y 1 - 0 -; dense 1 2 3, 4 5 6, 7 8 9.5, 0 0 0")
		fixture.Is(t, g, "edges 0-1*2 0-3*1 1-2*1.5; split 0 /  / 2")
	}
	for range nodes { // nodes are in the order of ids, for any order of rows
		nodes = append(nodes[1:], nodes[0])
		p := pair(3, nodes, edges)
		p.Sort = true
		g, _, err := p.Graph(t.Context())
		mattest.OK(t, err)
		fixture.Is(t, g, "ids -2|5|7|30; classes blue|red; y - 0 - 1; dense 0 0 0, 7 8 9.5, 4 5 6, 1 2 3")
		fixture.Is(t, g, "edges 0-3*1 1-2*1.5 2-3*2; split 3 /  / 1")
	}
}

func TestRefuses(t *testing.T) {
	good := cells([]float32{1, 2}, "a", "red", "train", 3)
	edge := cells(1, "a", "a")
	for _, c := range []struct {
		nodes, edges []table.Cell
		want         string
	}{
		{cells([]float32{1, 2}, nil, "red", nil, 3), edge, "memory, nodes: row 2: the id is null"},
		{cells([]float32{1, 2}, math.NaN(), "red", nil, 3), edge, "row 2: the id is NaN"},
		{cells([]float32{1, 2}, "", "red", nil, 3), edge, "row 2: the id is empty"},
		{cells([]float32{1, 2}, 1.5, "red", nil, 3), edge, "row 2: the id is 1.5, must be a name or an integer"},
		{cells([]float32{1, 2}, 1e16, "red", nil, 3), edge, "row 2: the id is the float 1e+16, must be an integer or text"},
		{cells([]float32{1, 2}, []float32{1}, "red", nil, 3), edge, "row 2: the id is a list of 1 numbers, must be a name"},
		{cells([]float32{1, 2}, "a", "red", nil, 3), edge, `row 2: the id "a" appears twice, first in row 1`},
		{cells([]float32{1, 2}, "b", 0.5, nil, 3), edge, "row 2: the label is 0.5, must be a name or an integer"},
		{cells([]float32{1, 2}, "b", 4, nil, 3), edge, `row 2: label "4", and label "red" in row 1: must be only`},
		{cells([]float32{1, 2}, "b", "red", "dev", 3), edge, `row 2: split "dev", must be train, val, test or nothing`},
		{cells([]float32{1, 2}, "b", "red", 0.5, 3), edge, "row 2: split 0.5, must be train, val, test or nothing"},
		{cells([]float32{1, 2}, "b", nil, "val", 3), edge, "row 2: the split is val, and there is no label (-1 is none): le"},
		{cells([]float32{1, 2}, "b", "red", nil, nil), edge, "row 2: column y: missing value, must be a finite number"},
		{cells([]float32{1, 2}, "b", "red", nil, 1e300), edge, "row 2: column y: 1e+300, must be a finite number"},
		{cells([]float32{1}, "b", "red", nil, 3), edge, "row 2: column x holds 1 numbers, and 2 in row 1"},
		{cells([]float32{1, float32(math.NaN())}, "b", "red", nil, 3), edge, "row 2: column x: number 2 of the list is NaN"},
		{cells(nil, "b", "red", nil, 3), edge, "row 2: column x: missing value, must be a finite number"},
		{nil, cells(1, "a", nil), "memory, edges: row 2: target is null, must be an id in nodes"},
		{nil, cells(1, 0.5, "a"), "memory, edges: row 2: source is 0.5, must be an id in nodes"},
		{nil, cells(1, 7, "a"), `memory, edges: row 2: source "7" is not an id in nodes`},
		{nil, cells(1, "a", "A"), `row 2: target "A" is not an id in nodes, which has "a": ids are compared as text`},
		{nil, cells(nil, "a", "a"), "row 2: weight null, must be a positive finite number"},
		{nil, cells(math.Inf(1), "a", "a"), "row 2: weight +Inf, must be a positive finite number"},
	} {
		nodes, edges := [][]table.Cell{good}, [][]table.Cell{edge}
		if c.nodes != nil {
			nodes = append(nodes, c.nodes)
		}
		if c.nodes == nil {
			edges = append(edges, c.edges)
		}
		for part := 1; part < 3; part++ {
			_, _, err := pair(part, nodes, edges).Graph(t.Context())
			s, _, wrong := pair(part, nodes, edges).Stream(t.Context(), 1<<20)
			if wrong == nil {
				_, _, wrong = s.Graph(t.Context())
			}
			for _, err := range []error{err, wrong} {
				fixture.Says(t, errors.New(strings.ReplaceAll(fmt.Sprint(err), "the rows before", "row 1")), c.want)
			}
		}
	}
	for _, c := range []struct{ header, want string }{
		{"x,id,label", "memory, nodes: the table has no rows, must have at least 1 node"},
		{"id,label", "memory, nodes: no column of features besides id, label and split, must have at least one"},
		{"name,label,x", `memory, nodes: there is no column id, the columns are "name,label,x" (id may`},
	} {
		p := pair(1, nil, nil)
		p.Nodes = memory{name: "nodes", header: c.header}
		_, _, err := p.Graph(t.Context())
		fixture.Says(t, err, c.want)
	}
	_, _, err := pair(1, [][]table.Cell{good}, nil).Graph(mattest.Cancelled(t))
	mattest.WantIs(t, err, context.Canceled)
}

// TestMasks reads the split from three columns, as PyTorch Geometric has them.
func TestMasks(t *testing.T) {
	masked := func(header string, nodes ...[]table.Cell) table.Pair {
		p := pair(1, nil, nil)
		p.Nodes = memory{"nodes", header, nodes, 1}
		return p
	}
	a, b, c, d := cells("a", "red", 1, 1, 0, 0), cells("b", "red", 2, 0, 0, 1), cells("c", "blue", 3, "0", 1.0, "0"),
		cells("d", "blue", 4, nil, 0, "False")
	const header = "id,label,x,train_mask,val_mask,test_mask"
	g, _, err := masked(header, a, b, c, d).Graph(t.Context())
	mattest.OK(t, err)
	fixture.Is(t, g, "dense 1, 2, 3, 4; split 0 / 2 / 1")
	s, _, err := masked(header, a, b, c, d).Stream(t.Context(), 1<<20)
	mattest.OK(t, err)
	if got := fmt.Sprint(s.Split); got != "{[0] [2] [1]}" || s.Features != 1 {
		t.Errorf("stream: split %s, %d features", got, s.Features)
	}
	for _, c := range []struct {
		header string
		node   []table.Cell
		want   string
	}{
		{header, cells("b", "red", 2, 2, 0, 0), "nodes: row 2: train_mask is 2, must be 0 or 1"},
		{header, cells("b", "red", 2, 1, 0, 1), "nodes: row 2: the node is in train_mask and in test_mask, must be in"},
		{"id,label,x,split,valid_mask,z", nil, "nodes: there are the columns split and valid_mask, must be one of them"},
	} {
		_, _, err := masked(c.header, a, c.node).Graph(t.Context())
		fixture.Says(t, err, c.want)
	}
}

func ExamplePair() {
	nodes := memory{name: "nodes", header: "id,label,f0", cells: [][]table.Cell{
		cells("ann", "reader", 0.5), cells("ben", "writer", 1.5),
	}}
	edges := memory{name: "edges", header: "source,target", cells: [][]table.Cell{cells("ann", "ben")}}
	p := table.Pair{Name: "people", Nodes: nodes}
	p.Edges = func(context.Context) (table.Table, error) { return edges, nil }
	g, _, err := p.Graph(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Name, g.IDs, g.ClassNames, g.Edges())
	// Output: people [ann ben] [reader writer] 1
}

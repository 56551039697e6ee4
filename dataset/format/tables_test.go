package format_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// friends returns the path alice–bob–zoë with two features and weights.
func friends() *graph.Graph {
	b := graph.Builder{
		Name: "friends", X: &mat.Dense{Rows: 3, Cols: 2, Data: []float32{1, 0.5, 2, 0.25, 3, 0.125}},
		Y: []int32{1, 0, graph.Unlabelled}, IDs: []string{"alice", "bob", "zoë"}, ClassNames: []string{"blue", "red"},
		Split: graph.Split{Train: []int32{0}, Test: []int32{1}},
	}
	b.AddWeightedEdge(0, 1, 2)
	b.AddWeightedEdge(2, 1, 0.5)
	return mattest.First(b.Graph(context.Background()))
}

// GraphTables serves formats that write rows of text.
func ExampleGraphTables() {
	t := format.GraphTables(friends())
	for _, table := range []*format.Table{&t.Nodes, &t.Edges} {
		for block, err := range table.Blocks() {
			if err != nil {
				panic(err)
			}
			for i := range block.Rows {
				var cells []string
				for _, c := range block.Columns {
					cells = append(cells, c.Name+"="+c.Text(i))
				}
				fmt.Println(strings.Join(cells, " "))
			}
		}
	}
	fmt.Println(t.Metadata["name"], t.Metadata["class_names"])
	// Output:
	// id=alice label=red split=train x=[1,0.5]
	// id=bob label=blue split=test x=[2,0.25]
	// id=zoë label= split= x=[3,0.125]
	// source=alice target=bob weight=2
	// source=bob target=zoë weight=0.5
	// friends ["blue","red"]
}

// GraphArrays serves formats that store named arrays.
func ExampleGraphArrays() {
	for _, a := range format.GraphArrays(friends()).List {
		if a.Name != "x" {
			fmt.Println(a.Name, a.Sides(), a.Data)
		}
	}
	// Output:
	// y [3] [1 0 -1]
	// edge_index [2 4] [0 1 1 2 1 0 2 1]
	// edge_weight [4] [2 2 0.5 0.5]
	// train_mask [3] [true false false]
	// val_mask [3] [false false false]
	// test_mask [3] [false true false]
	// ids [3] [alice bob zoë]
}

// TestElementsOfArrays checks that numbers without a fraction are read as either type, and that errors name the array.
func TestElementsOfArrays(t *testing.T) {
	for _, data := range []any{[]float32{1, -2}, []int64{1, -2}} {
		a := format.Array{Name: "y", Data: data}
		floats, ints := mattest.Must(a.Floats()), mattest.Must(a.Ints())
		if !slices.Equal(floats, []float32{1, -2}) || !slices.Equal(ints, []int64{1, -2}) {
			t.Errorf("%v are the numbers %v and %v", data, floats, ints)
		}
		_, err := a.Strings()
		fixture.Says(t, err, "array y holds numbers, must hold strings")
	}
	_, err := (&format.Array{Name: "y", Data: []float32{1, 0.5}}).Ints()
	fixture.Says(t, err, "array y: element 1 is 0.5, must be an integer")
	_, err = (&format.Array{Name: "y", Data: []string{"a"}}).Floats()
	fixture.Says(t, err, "array y holds strings, must hold numbers")
}

// TestGather checks that numbered columns become one column, and that columns of similar names stay.
func TestGather(t *testing.T) {
	table := &format.Table{Rows: 2, Columns: []format.Column{
		{Name: "id", Data: []int32{0, 1}}, {Name: "x0", Data: []float32{1, 4}}, {Name: "x1", Data: []float32{2, 5}},
		{Name: "x2", Data: []float32{3, 6}}, {Name: "x07", Data: []float32{8, 9}}, {Name: "xy", Data: []string{"a", "b"}},
	}}
	mattest.OK(t, table.Gather("x"))
	if names := columns(table); !slices.Equal(names, []string{"id", "x", "x07", "xy"}) ||
		!slices.Equal(table.Find("x").Data.([]float32), []float32{1, 2, 3, 4, 5, 6}) || table.Find("x").Width != 3 {
		t.Errorf("gathered %q: %v", names, table.Find("x"))
	}
}

func columns(t *format.Table) (names []string) {
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	return names
}

// TestBlocks checks that the blocks of a table contain all its rows, for all kinds of columns.
func TestBlocks(t *testing.T) {
	const rows = 10_000
	x := mat.NewDense(rows, 2)
	ids, offsets, members := make([]int32, rows), make([]int64, rows+1), []int64{}
	for i := range rows {
		ids[i], x.Data[2*i+1] = int32(i), float32(i)
		for k := range i % 3 {
			members = append(members, int64(i+k))
		}
		offsets[i+1] = int64(len(members))
	}
	table := &format.Table{Rows: rows, Columns: []format.Column{
		{Name: "id", Data: ids}, {Name: "x", Width: 2, Data: x}, {Name: "members", Offsets: offsets, Data: members},
	}}
	at, blocks := 0, 0
	for block, err := range table.Blocks() {
		mattest.OK(t, err)
		blocks++
		for i := range block.Rows {
			list := []string{}
			for k := range at % 3 {
				list = append(list, fmt.Sprint(at+k))
			}
			want := fmt.Sprintf("%d [0,%d] [%s]", at, at, strings.Join(list, ","))
			got := block.Columns[0].Text(i) + " " + block.Columns[1].Text(i) + " " + block.Columns[2].Text(i)
			if got != want {
				t.Fatalf("row %d is %s, want %s", at, got, want)
			}
			at++
		}
	}
	if at != rows || blocks < 2 {
		t.Errorf("%d rows in %d blocks, want %d in several", at, blocks, rows)
	}
}

// TestCheckTables checks that columns of a wrong length are errors.
func TestCheckTables(t *testing.T) {
	good := format.Column{Name: "id", Data: []int64{0, 1}}
	for _, bad := range []format.Column{
		{Name: "short", Data: []int64{0}},
		{Name: "wide", Width: 2, Data: []float32{1, 2, 3}},
		{Name: "falling", Offsets: []int64{0, 3, 2}, Data: []int64{1, 2}},
		{Name: "beyond", Offsets: []int64{0, 1, 3}, Data: []int64{1, 2}},
		{Name: "few", Offsets: []int64{0, 2}, Data: []int64{1, 2}},
		{Name: "nothing"},
	} {
		tables := &format.Tables{Nodes: format.Table{Rows: 2, Columns: []format.Column{good, bad}}}
		mattest.WantError(t, tables.Check(), "nodes: column "+bad.Name)
	}
	tables := &format.Tables{Nodes: format.Table{Rows: 2, Columns: []format.Column{good}}}
	mattest.OK(t, tables.Check())
}

package arrivals_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/arrivals"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// source writes the two tables.
func source(t *testing.T, nodes, edges string) arrivals.Source {
	return arrivals.Source{
		Path: fixture.Folder(t, map[string][]byte{"nodes.csv": []byte(nodes), "edges.csv": []byte(edges)}),
	}
}

// TestRead reads nodes with and without labels. Edges have either direction, repeat, and join new nodes too.
func TestRead(t *testing.T) {
	want := &mat.CSR{
		Rows: 3, Cols: 8, Indptr: []int64{0, 2, 4, 5}, Indices: []int32{1, 6, 4, 5, 1}, Data: []float32{3, 2, 1, 2, 1},
	}
	known := []string{"ann", "7", "cat", "", "ö"}
	for _, nodes := range []string{"f,id,g\n1,x,2\n3,y,4\n5,2,6\n", "id;label;f;g\nx;a;1;2\ny;;3;4\n2;b;5;6\n"} {
		edges := "weight,to,from\n1,7,x\n3,x,7\n2,y,x\n1,y,ö\n1,y,y\n1,2,7\n"
		a := mattest.First(source(t, nodes, edges).Read(t.Context(), known, len(known)))
		if strings.Join(a.IDs, " ") != "x y 2" || !reflect.DeepEqual(a.X.Data, []float32{1, 2, 3, 4, 5, 6}) {
			t.Errorf("ids %v, features %v", a.IDs, a.X.Data)
		}
		mattest.Equal(t, a.Edges, want, "edges")
	}
}

// TestNumbers reads edges to known nodes without names. Without weights, all are 1.
func TestNumbers(t *testing.T) {
	a, notes, err := source(t, ",id,f\n0,x,1\n1,y,2\n", "source,target\n3,x\n0,x\n").Read(t.Context(), nil, 4)
	mattest.OK(t, err)
	fixture.Notes(t, notes, "index that pandas wrote")
	want := &mat.CSR{Rows: 2, Cols: 6, Indptr: []int64{0, 2, 2}, Indices: []int32{0, 3}}
	mattest.Equal(t, a.Edges, want, "edges")
	_, _, err = source(t, "id,f\n2,1\n", "source,target\n").Read(t.Context(), nil, 4)
	mattest.Fails(t, `id "2" is the id of a known node, must be new`)(a, err)
}

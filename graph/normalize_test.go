package graph_test

import (
	"math"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Dense features, sparse features and features of another type give the same result, and those of g are not modified.
func TestNormalizedFeatures(t *testing.T) {
	x := &mat.Dense{Rows: 4, Cols: 3, Data: []float32{1, 3, 0, 0, 0, 0, -2, 2, 4, 0, 5, 0}}
	want := []float32{.25, .75, 0, 0, 0, 0, -.25, .25, .5, 0, 1, 0}
	ones := &mat.CSR{Rows: 2, Cols: 3, Indptr: []int64{0, 2, 3}, Indices: []int32{0, 2, 1}}
	for name, c := range map[string]struct {
		x    mat.Matrix
		want []float32
	}{
		"dense": {x, want}, "sparse": {x.Sparse(), want}, "read": {&reader{of: x}, want},
		"ones": {ones, []float32{.5, 0, .5, 0, 1, 0}},
	} {
		rows, _ := c.x.Dims()
		empty := &mat.CSR{Rows: rows, Cols: rows, Indptr: make([]int64, rows+1)}
		g := &graph.Graph{Adj: empty, X: c.x, Y: make([]int32, rows), Classes: 1, Mapped: true}
		before := written(t, g.X)
		n, err := g.NormalizedFeatures(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := written(t, n.X)
		for e, v := range got.Data {
			if math.Abs(float64(v-c.want[e])) > 1e-7 {
				t.Errorf("%s: features are %v, want %v", name, got.Data, c.want)
				break
			}
		}
		if err := mat.Read(got, n.X, []int32{1}, 1, 2); err != nil || got.Data[0] != c.want[4] {
			t.Errorf("%s: a block is %v, %v, want %v", name, got.Data, err, c.want[4])
		}
		if after := written(t, g.X); !slices.Equal(after.Data, before.Data) {
			t.Errorf("%s: the features of the graph changed to %v", name, after.Data)
		}
	}
}

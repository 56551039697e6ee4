package selection

import (
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// line returns a graph with one class and without edges. The only feature of node i is places[i].
func line(t *testing.T, places ...float32) *graph.Graph {
	t.Helper()
	n := len(places)
	b := graph.Builder{Name: "line", X: &mat.Dense{Rows: n, Cols: 1, Data: places}, Y: make([]int32, n), Classes: 1}
	b.Split.Train = memory.Range(0, n)
	return mattest.First(b.Graph(t.Context()))
}

// TestChoices compares herding and k-center on a line with choices worked out by hand.
func TestChoices(t *testing.T) {
	places := []float32{0, 1, 2, 3, 14} // mean 4
	for _, c := range []struct {
		method condense.Method
		nodes  int
		want   []int32
	}{
		{newCenters(herding), 1, []int32{3}},       // |4−3| is the smallest distance
		{newCenters(herding), 2, []int32{2, 3}},    // 2·4 − 3 = 5: 2 is closer than 14, and 3 is already chosen
		{newCenters(herding), 3, []int32{1, 2, 3}}, // 3·4 − 3 − 2 = 7: 1 is at distance 6, 14 at distance 7
		{newCenters(kCenter), 1, []int32{3}},       // closest to the mean
		{newCenters(kCenter), 2, []int32{3, 4}},    // 14 is at distance 11
		{newCenters(kCenter), 3, []int32{0, 3, 4}}, // 0 is at distance 3
	} {
		small := mattest.Must(c.method.Condense(t.Context(), line(t, places...), c.nodes, 0))
		mattest.Equal(t, small.Members.Indices, c.want, "%s chooses", c.method.Name())
	}
}

// TestEqualRows checks that each of several equal rows is chosen at most once.
func TestEqualRows(t *testing.T) {
	for _, m := range []condense.Method{newCenters(herding), newCenters(kCenter)} {
		small := mattest.Must(m.Condense(t.Context(), line(t, 5, 5, 5, 5), 3, 0))
		if nodes := small.Members.Indices; len(slices.Compact(slices.Clone(nodes))) != 3 {
			t.Errorf("%s chooses %v, want 3 nodes", m.Name(), nodes)
		}
	}
}

// TestInducedEdges checks that the condensed graph has exactly the edges between chosen nodes, with their weights.
func TestInducedEdges(t *testing.T) {
	b := graph.Builder{Name: "path", X: mat.NewDense(5, 1), Y: make([]int32, 5), Classes: 1}
	b.Split.Train = []int32{0, 1, 2, 3} // node 4 is not a training node
	for v := range 4 {
		b.AddWeightedEdge(v, v+1, float32(v+2))
	}
	g := mattest.First(b.Graph(t.Context()))
	small := mattest.Must(random{}.Condense(t.Context(), g, 4, 0))
	if a := small.Adj; a.NNZ() != 6 || !slices.Equal(a.Data, []float32{2, 2, 3, 3, 4, 4}) {
		t.Errorf("edges %v with weights %v, want the path of 4 nodes with 2, 3, 4", a.Indices, a.Data)
	}
}

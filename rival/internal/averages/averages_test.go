package averages

import (
	"math"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// star returns a star with one class: node 0 has the feature 0 and n neighbours, node i the feature 2^i.
func star(t *testing.T, n int) *graph.Graph {
	t.Helper()
	x := mat.NewDense(n+1, 1)
	b := graph.Builder{Name: "star", X: x, Y: make([]int32, n+1), Classes: 1}
	for v := 1; v <= n; v++ {
		x.Row(v)[0] = float32(math.Pow(2, float64(v)))
		b.AddEdge(0, v)
		b.Split.Train = append(b.Split.Train, int32(v))
	}
	g, _, err := b.Graph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestAverages compares X′ with the means of the source nodes in closed form. On a star with n leaves and x_0 = 0,
// (ÂX)_v = x_v/2 for a leaf v, and (Â²X)_v = x_v/4 + Σx/(2(n+1)). With at least as many samples as nodes, every
// condensed node is the mean of its class.
func TestAverages(t *testing.T) {
	const n = 6
	g := star(t, n)
	for _, samples := range []int{1, 3, n, 2 * n} {
		m := newGCPAP()
		m.Samples = samples
		small, err := m.Condense(t.Context(), g, 4, 1)
		if err != nil {
			t.Fatal(err)
		}
		for j := range small.Nodes() {
			lo, hi := small.Members.Indptr[j], small.Members.Indptr[j+1]
			if int(hi-lo) != min(samples, n) {
				t.Errorf("%d samples of %d nodes: node %d is a mean of %d", samples, n, j, hi-lo)
			}
			want := (math.Pow(2, n+1) - 2) / (2 * (n + 1))
			for _, v := range small.Members.Indices[lo:hi] {
				want += math.Pow(2, float64(v)) / 4 / float64(hi-lo)
			}
			if got := float64(small.X.Row(j)[0]); math.Abs(got-want) > 1e-6*want { // float32
				t.Errorf("%d samples: feature %v of node %d, want %v", samples, got, j, want)
			}
		}
	}
}

package distill_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/distill"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// TestNarrow checks that 4,096 columns stay, that more are hashed to 1,024, that inner products of rows have the mean
// and the deviation that the documentation says, and that a row is hashed in the same way in any matrix.
func TestNarrow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	few := mattest.Normal(3, 4096, random)
	if got := mattest.Must(distill.Narrow(t.Context(), few)); got != mat.Matrix(few) {
		t.Error("4,096 columns are not left as they are")
	}
	x := mattest.Normal(150, 5000, random)
	narrow := mattest.Must(distill.Narrow(t.Context(), x)).(*mat.Dense)
	if narrow.Rows != 150 || narrow.Cols != 1024 {
		t.Fatalf("%d×%d", narrow.Rows, narrow.Cols)
	}
	var sum, squares, pairs float64
	for i := range x.Rows {
		for j := range i {
			product := dot(narrow.Row(i), narrow.Row(j)) - dot(x.Row(i), x.Row(j))
			error := product / math.Sqrt(dot(x.Row(i), x.Row(i))*dot(x.Row(j), x.Row(j)))
			sum, squares, pairs = sum+error, squares+error*error, pairs+1
		}
	}
	if mean, deviation := sum/pairs, math.Sqrt(squares/pairs); math.Abs(mean) > 0.002 || math.Abs(deviation*32-1) > 0.1 {
		t.Errorf("errors of inner products %v ± %v of the norms, want 0 ± 1/32", mean, deviation)
	}
	again := mattest.Must(distill.Narrow(t.Context(), x.Select([]int32{140, 7}).Dense())).(*mat.Dense)
	if !slices.Equal(again.Row(1), narrow.Row(7)) || !slices.Equal(again.Row(0), narrow.Row(140)) {
		t.Error("the columns of a row depend on the other rows")
	}
}

func dot(x, y []float32) (sum float64) {
	for j, v := range x {
		sum += float64(v) * float64(y[j])
	}
	return sum
}

// TestCondensesWide checks that condensed nodes are means of all features, though groups are found in hashed ones, and
// that groups still follow the classes.
func TestCondensesWide(t *testing.T) {
	g := mattest.Must(synth.Make(t.Context(), synth.Shape{
		Name: "wide", Nodes: 300, Edges: 900, Features: 4100, Classes: 4, Train: 20, Val: 40, Test: 40, Balanced: true,
		Homophily: 0.9, Signal: 2,
	}, rand.NewPCG(4, 0)))
	x := g.X.(*mat.Dense)
	for _, sparse := range []bool{false, true} {
		if sparse {
			g.X = x.Sparse()
		}
		meansOf(t, g, x, 285)
	}
	meansOf(t, mattest.Must(g.Causally(t.Context())), x, 200) // half the neighbours tell less
}

// meansOf condenses g, whose features are x, and checks X′. At least least nodes must be in a condensed node of their
// own class.
func meansOf(t *testing.T, g *graph.Graph, x *mat.Dense, least int) {
	t.Helper()
	m := distill.New()
	m.Unlabelled, m.Students = distill.Always, 1
	small := mattest.Must(m.Condense(t.Context(), g, 8, 0))
	h := new(mat.Dense)
	for range m.Hops {
		h = new(mat.Dense)
		mattest.OK(t, graph.Symmetric(g.Adj).Apply(t.Context(), h, x))
		x = h
	}
	right := 0
	for j := range small.Nodes() {
		members := small.Members.Indices[small.Members.Indptr[j]:small.Members.Indptr[j+1]]
		mean := make([]float64, h.Cols)
		for _, v := range members {
			for k, value := range h.Row(int(v)) {
				mean[k] += float64(value) / float64(len(members))
			}
			if g.Y[v] == small.Y[j] {
				right++
			}
		}
		for k, want := range mean {
			if got := float64(small.X.Row(j)[k]); math.Abs(got-want) > 1e-5 {
				t.Fatalf("X′[%d][%d] is %v, want the mean %v", j, k, got, want)
			}
		}
	}
	if small.Members.NNZ() != g.Nodes() || right < least {
		t.Errorf("%d members, %d of their own class", small.Members.NNZ(), right)
	}
}

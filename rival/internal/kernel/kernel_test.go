package kernel

import (
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// planted returns two cliques of 12 nodes. A third of the nodes have the features of the other clique, so that only
// their neighbours identify them.
func planted(t *testing.T) *graph.Graph {
	t.Helper()
	b := graph.Builder{Name: "planted", X: mat.NewDense(24, 3), Y: make([]int32, 24), Classes: 2}
	x := b.X.(*mat.Dense)
	for v := range 24 {
		c := v / 12
		b.Y[v] = int32(c)
		x.Row(v)[c] = 1
		if v%3 == 2 { // it has the features of the other clique
			x.Row(v)[c], x.Row(v)[1-c] = 0, 1
		}
		x.Row(v)[2] = float32(v%5) / 5
		for u := range v {
			if u/12 == c {
				b.AddEdge(u, v)
			}
		}
		switch v % 3 {
		case 0:
			b.Split.Train = append(b.Split.Train, int32(v))
		case 1:
			b.Split.Test = append(b.Split.Test, int32(v))
		default:
			b.Split.Val = append(b.Split.Val, int32(v))
		}
	}
	return mattest.First(b.Graph(t.Context()))
}

// TestPlanted checks that a GCN trained on two condensed nodes per class separates two cliques although the features of
// a third of their nodes are misleading. It also checks that the loss decreases.
func TestPlanted(t *testing.T) {
	edges, none := newSNTK(), newSNTKX()
	edges.Epochs, none.Epochs = 100, 100
	for _, m := range []condense.Method{edges, none} {
		mattest.Equal(t, learntest.Account(t, m, planted(t), 4, 3).Validation, 100, "%s: validation accuracy", m.Name())
	}
	g := planted(t)
	g.Split.Val = nil // so that the last iterate is kept
	first, last := newSNTKX(), newSNTKX()
	first.Epochs, last.Epochs = 1, 500
	a, b := learntest.Account(t, first, g, 4, 3), learntest.Account(t, last, g, 4, 3)
	if b.Epoch != 500 || !(b.Loss < 0.7*a.Loss) {
		t.Errorf("epoch %d with loss %v, and %v at first: want epoch 500, and a loss that fell by a third",
			b.Epoch, b.Loss, a.Loss)
	}
}

// TestEdges checks that A′ has the requested mean degree, or all edges if the degree is too large.
func TestEdges(t *testing.T) {
	for degree, want := range map[float64]int{0: 0, 1: 2, 2: 4, 100: 6} {
		m := newSNTK()
		m.Epochs, m.Degree = 1, degree
		small := mattest.Must(m.Condense(t.Context(), planted(t), 4, 0))
		mattest.Equal(t, small.Edges(), want, "degree %v: edges among 4 nodes", degree)
	}
}

package graph_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// weighted returns a graph of n nodes with random edges and weights.
func weighted(t *testing.T, n, edges int) *graph.Graph {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(n), uint64(edges)))
	b := graph.Builder{X: mattest.Normal(n, 3, random), Y: make([]int32, n), Split: graph.Split{Train: []int32{0}}}
	for range edges {
		b.AddWeightedEdge(random.IntN(n), random.IntN(n), random.Float32()+0.1)
	}
	return mattest.First(b.Graph(t.Context()))
}

// TestCausally compares the operators of a causal graph with their formula, and their transposes with the definition.
func TestCausally(t *testing.T) {
	const n = 60
	g := weighted(t, n, 200)
	causal := mattest.Must(g.Causally(t.Context()))
	mattest.OK(t, causal.Check(t.Context()))
	fresh := *causal
	fresh.Adj = &mat.CSR{
		Rows: n, Cols: n, Indptr: causal.Adj.Indptr, Indices: causal.Adj.Indices, Data: causal.Adj.Data,
	}
	mattest.OK(t, fresh.Validate(t.Context()))
	mattest.Equal(t, causal.Edges(), g.Edges(), "edges")
	if again := mattest.Must(causal.Causally(t.Context())); again != causal || g.Causal || !causal.Causal {
		t.Error("a causal graph was changed, or the original")
	}
	a, degree := g.Adj.Dense(), [n]float64{}
	for i := range n {
		degree[i] = 1
		for j := range i {
			degree[i] += float64(a.Row(i)[j])
		}
	}
	identity := mat.NewDense(n, n)
	for i := range n {
		identity.Row(i)[i] = 1
	}
	for name, o := range map[string]graph.Operator{
		"symmetric": graph.Symmetric(causal.Adj), "mean": graph.Mean(causal.Adj), "undirected": graph.Symmetric(g.Adj),
	} {
		p, transposed := new(mat.Dense), new(mat.Dense)
		mattest.OK(t, o.Apply(t.Context(), p, identity))
		mattest.OK(t, o.T().Apply(t.Context(), transposed, identity))
		for i := range n {
			for j := range n {
				mattest.Near(t, float64(transposed.Row(j)[i]), float64(p.Row(i)[j]), 1e-6, "%s: transposed (%d, %d)", name, i, j)
				want := float64(a.Row(i)[j])
				if i == j {
					want = 1
				}
				switch {
				case name == "undirected":
					continue
				case j > i:
					want = 0
				case name == "mean":
					want /= degree[i]
				default:
					want /= math.Sqrt(degree[i] * degree[j])
				}
				mattest.Near(t, float64(p.Row(i)[j]), want, 1e-6, "%s (%d, %d)", name, i, j)
			}
		}
	}
	first := memory.Range(0, 40)
	if !reflect.DeepEqual(causal.Induced(first).Adj, mattest.Must(g.Induced(first).Causally(t.Context())).Adj) {
		t.Error("later nodes change the edges of the first")
	}
}

func TestCausalIsValidated(t *testing.T) {
	g := *weighted(t, 6, 10)
	g.Causal = true
	mattest.WantError(t, g.Check(t.Context()), "of a causal graph, must be to an earlier node")
	half := mattest.Must(weighted(t, 6, 10).Causally(t.Context()))
	half.Causal = false
	mattest.WantError(t, half.Check(t.Context()), "has no counterpart")
	_, err := weighted(t, 6, 10).Causally(mattest.Cancelled(t))
	mattest.WantError(t, err, "canceled")
}

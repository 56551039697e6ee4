package generate_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/generate"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// clusters returns n rows around the given number of centres.
func clusters(n, d, centres int, random *rand.Rand) *mat.Dense {
	centre := mattest.Normal(centres, d, random)
	h := mat.NewDense(n, d)
	for i := range n {
		for j, v := range centre.Row(i % centres) {
			h.Row(i)[j] = v + 0.3*float32(random.NormFloat64())
		}
	}
	return h
}

// Components of hundreds of nodes, more than one block of the factorisation, give the same bits for any number of
// threads.
func TestFeaturesIgnoreThreads(t *testing.T) {
	h := clusters(500, 40, 3, rand.New(rand.NewPCG(1, 0)))
	mattest.IgnoresThreads(t, func() *mat.Dense {
		a := mattest.First(generate.Adjacency(t.Context(), h, 0.8, 0))
		if a.NNZ() < 50_000 {
			t.Fatalf("%d entries: no large components", a.NNZ())
		}
		return mattest.First(generate.Solve(t.Context(), a, h, []float64{0, 0, 1}, 1))
	})
}

// Groups of one node each have the edges and weights between these nodes, for any scale of the rows of P̂.
func TestAggregatedSingletonsAreTheSubgraph(t *testing.T) {
	random := rand.New(rand.NewPCG(41, 0))
	b := graph.Builder{X: mat.NewDense(50, 1)}
	for range 300 {
		b.AddWeightedEdge(random.IntN(50), random.IntN(50), 0.1+random.Float32())
	}
	g := mattest.First(b.Graph(t.Context()))
	nodes := []int32{1, 3, 4, 8, 15, 21, 22, 30, 31, 40, 49}
	members := &mat.CSR{Rows: len(nodes), Cols: 50, Indptr: []int64{0}, Indices: nodes}
	for i := range nodes {
		members.Indptr = append(members.Indptr, int64(i+1))
		members.Data = append(members.Data, 0.5+random.Float32())
	}
	a := mattest.First(generate.Aggregated(t.Context(), members, g.Adj, 0))
	want := g.Induced(nodes).Adj
	for e, w := range want.Data {
		if !slices.Equal(a.Indices, want.Indices) || math.Abs(float64(a.Data[e]-w)) > 1e-6 {
			t.Fatalf("A′ has entries %v of weights %v, want %v of %v", a.Indices, a.Data, want.Indices, want.Data)
		}
	}
}

// BenchmarkFeatures solves for one component of all nodes, sparse and dense, and reports the entries of the adjacency.
func BenchmarkFeatures(b *testing.B) {
	h := clusters(2000, 128, 400, rand.New(rand.NewPCG(1, 0)))
	for _, threshold := range []float64{0.2, 0.05} {
		a := mattest.First(generate.Adjacency(b.Context(), h, threshold, 0))
		b.Run(fmt.Sprintf("nodes=2000/entries=%d", a.NNZ()), func(b *testing.B) {
			for b.Loop() {
				mattest.First(generate.Solve(b.Context(), a, h, []float64{0, 0, 1}, 1))
			}
		})
	}
}

// Two of three condensed nodes are similar. One hop over A′ turns X′ into H′.
func Example() {
	ctx := context.Background()
	h := &mat.Dense{Rows: 3, Cols: 2, Data: []float32{1, 0, 0.8, 0.2, 0, 1}}
	a, threshold, err := generate.Adjacency(ctx, h, 0.9, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("edges from node 0:", a.Indices[a.Indptr[0]:a.Indptr[1]], "above", threshold)
	x := mattest.First(generate.Solve(ctx, a, h, []float64{0, 1}, 0))
	for i := range x.Rows {
		fmt.Printf("%.2f\n", x.Row(i))
	}
	// Output:
	// edges from node 0: [1] above 0.9
	// [0.90 0.10]
	// [0.90 0.10]
	// [0.00 1.00]
}

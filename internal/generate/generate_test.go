package generate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

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
		return mattest.First(generate.Solve(t.Context(), a, h, 2, 1))
	})
}

// BenchmarkFeatures solves for one component of all nodes, sparse and dense, and reports the entries of the adjacency.
func BenchmarkFeatures(b *testing.B) {
	h := clusters(2000, 128, 400, rand.New(rand.NewPCG(1, 0)))
	for _, threshold := range []float64{0.2, 0.05} {
		a := mattest.First(generate.Adjacency(b.Context(), h, threshold, 0))
		b.Run(fmt.Sprintf("nodes=2000/entries=%d", a.NNZ()), func(b *testing.B) {
			for b.Loop() {
				mattest.First(generate.Solve(b.Context(), a, h, 2, 1))
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
	x := mattest.First(generate.Solve(ctx, a, h, 1, 0))
	for i := range x.Rows {
		fmt.Printf("%.2f\n", x.Row(i))
	}
	// Output:
	// edges from node 0: [1] above 0.9
	// [0.90 0.10]
	// [0.90 0.10]
	// [0.00 1.00]
}

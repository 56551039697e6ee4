package generate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
	var first *mat.Dense
	mattest.AtThreads(func(threads int) {
		a, _, err := generate.Adjacency(t.Context(), h, 0.8, 0)
		if err != nil {
			t.Fatal(err)
		}
		if a.NNZ() < 50_000 {
			t.Fatalf("%d entries: no large components", a.NNZ())
		}
		x, _, err := generate.Solve(t.Context(), a, h, []float64{0, 0, 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = x
		} else if !slices.Equal(first.Data, x.Data) {
			t.Errorf("%d threads change the features", threads)
		}
	})
}

// BenchmarkFeatures solves for one component of all nodes, sparse and dense, and reports the entries of the adjacency.
func BenchmarkFeatures(b *testing.B) {
	h := clusters(2000, 128, 400, rand.New(rand.NewPCG(1, 0)))
	for _, threshold := range []float64{0.2, 0.05} {
		a, _, err := generate.Adjacency(b.Context(), h, threshold, 0)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("nodes=2000/entries=%d", a.NNZ()), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := generate.Solve(b.Context(), a, h, []float64{0, 0, 1}, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package dataset_test

import (
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graph-condensation/cgc/dataset"
)

// The obvious adjacency: a map from pairs to the largest weight.
func obvious(n int, from, to []int32, weight []float32) (indptr []int64, indices []int32, data []float32, loops int) {
	best := map[[2]int32]float32{}
	for i := range from {
		w := float32(1)
		if weight != nil {
			w = weight[i]
		}
		if from[i] == to[i] {
			loops++
			continue
		}
		for _, e := range [][2]int32{{from[i], to[i]}, {to[i], from[i]}} {
			best[e] = max(best[e], w)
		}
	}
	plain := true
	indptr = append(indptr, 0)
	for i := range int32(n) {
		for j := range int32(n) {
			if w, ok := best[[2]int32{i, j}]; ok {
				indices, data = append(indices, j), append(data, w)
				plain = plain && w == 1
			}
		}
		indptr = append(indptr, int64(len(indices)))
	}
	if plain {
		data = nil
	}
	return indptr, indices, data, loops
}

func TestAdjacencyIsTheObviousOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		node := rapid.Int32Range(0, int32(n-1))
		m := rapid.IntRange(0, 40).Draw(t, "m")
		from, to := rapid.SliceOfN(node, m, m).Draw(t, "from"), rapid.SliceOfN(node, m, m).Draw(t, "to")
		var weight []float32
		if rapid.Bool().Draw(t, "weighted") {
			weight = rapid.SliceOfN(rapid.SampledFrom([]float32{0.25, 1, 3e30}), m, m).Draw(t, "weight")
		}
		indptr, indices, data, loops := obvious(n, from, to, weight)
		adj, dropped := dataset.Adjacency(n, from, to, weight)
		if dropped != loops || !slices.Equal(adj.Indptr, indptr) || !slices.Equal(adj.Indices, indices) || !slices.Equal(adj.Data, data) || (adj.Data == nil) != (data == nil) {
			t.Fatalf("%d loops, %v %v %v\nwant %d, %v %v %v", dropped, adj.Indptr, adj.Indices, adj.Data, loops, indptr, indices, data)
		}
	})
}

// Enough arcs for several chunks and buckets, in an order that must not matter.
func TestAdjacencyOfManyArcs(t *testing.T) {
	const n, m = 5000, 1<<20 + 12345
	from, to := make([]int32, m), make([]int32, m)
	for i := range from {
		from[i], to[i] = int32(i*7919%n), int32((i*i+i/n)%n)
	}
	one, loops := dataset.Adjacency(n, from, to, nil)
	if err := one.Validate(); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(from)
	slices.Reverse(to)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(7))
	two, again := dataset.Adjacency(n, to, from, nil)
	if loops != again || !slices.Equal(one.Indptr, two.Indptr) || !slices.Equal(one.Indices, two.Indices) {
		t.Error("the order of arcs, their direction or the number of threads changes the adjacency")
	}
}

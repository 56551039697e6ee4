package graph_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// obvious builds an adjacency from a map of pairs to the largest weight.
func obvious(n int, edges graph.Edges) (adj *mat.CSR, loops int) {
	best := map[[2]int32]float32{}
	for i, u := range edges.From {
		v, w := edges.To[i], float32(1)
		if edges.Weight != nil {
			w = edges.Weight[i]
		}
		if u == v {
			loops++
			continue
		}
		for _, e := range [][2]int32{{u, v}, {v, u}} {
			best[e] = max(best[e], w)
		}
	}
	plain := true
	adj = &mat.CSR{Rows: n, Cols: n, Indptr: []int64{0}}
	for i := range int32(n) {
		for j := range int32(n) {
			if w, ok := best[[2]int32{i, j}]; ok {
				adj.Indices, adj.Data = append(adj.Indices, j), append(adj.Data, w)
				plain = plain && w == 1
			}
		}
		adj.Indptr = append(adj.Indptr, int64(len(adj.Indices)))
	}
	if plain {
		adj.Data = nil
	}
	return adj, loops
}

func same(a, b *mat.CSR) bool {
	return slices.Equal(a.Indptr, b.Indptr) && slices.Equal(a.Indices, b.Indices) && slices.Equal(a.Data, b.Data) &&
		(a.Data == nil) == (b.Data == nil)
}

func TestAdjacencyIsTheObviousOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		node := rapid.Int32Range(0, int32(n-1))
		m := rapid.IntRange(0, 40).Draw(t, "m")
		edges := graph.Edges{From: rapid.SliceOfN(node, m, m).Draw(t, "from"), To: rapid.SliceOfN(node, m, m).Draw(t, "to")}
		if rapid.Bool().Draw(t, "weighted") {
			edges.Weight = rapid.SliceOfN(rapid.SampledFrom([]float32{0.25, 1, 3e30}), m, m).Draw(t, "weight")
		}
		want, loops := obvious(n, edges)
		got, changes, err := graph.Adjacency(n, edges)
		if err != nil || !same(got, want) {
			t.Fatalf("%v: got %+v, want %+v", err, got, want)
		}
		if changes != (graph.Changes{Entries: m, Loops: loops, Merged: m - loops - want.NNZ()/2}) {
			t.Fatalf("%+v, with %d loops and %d edges", changes, loops, want.NNZ()/2)
		}
	})
}

// There are enough edges for several chunks and buckets, in an order that must not matter.
func TestAdjacencyOfManyEdges(t *testing.T) {
	const n, m = 5000, 1<<20 + 12345
	from, to := make([]int32, m), make([]int32, m)
	for i := range from {
		from[i], to[i] = int32(i*7919%n), int32((i*i+i/n)%n)
	}
	one, changes, err := graph.Adjacency(n, graph.Edges{From: from, To: to})
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Validate(); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(from)
	slices.Reverse(to)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(7))
	two, again, err := graph.Adjacency(n, graph.Edges{From: to, To: from})
	if err != nil || changes != again || !same(one, two) {
		t.Errorf("%v: the order of edges, their direction or the number of threads changes the adjacency", err)
	}
	from[m-1] = n // in the last chunk
	from[m-7] = -1
	want := fmt.Sprintf("graph: edge %d (-1–%d): node -1, want 0 to 4999", m-7, to[m-7])
	if _, _, err := graph.Adjacency(n, graph.Edges{From: from, To: to}); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

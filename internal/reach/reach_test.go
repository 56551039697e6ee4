package reach_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/reach"
	"github.com/graph-condensation/cgc/mat"
)

// hops is a plain breadth-first search, one node at a time.
func hops(a *mat.CSR, from []int32, most int32) []int32 {
	distance := slices.Repeat([]int32{reach.Unreached}, a.Rows)
	var queue []int32
	for _, v := range from {
		if distance[v] != 0 {
			distance[v] = 0
			queue = append(queue, v)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for j := range a.Row(int(queue[0])) {
			if next := distance[queue[0]] + 1; distance[j] == reach.Unreached && next <= most {
				distance[j] = next
				queue = append(queue, int32(j))
			}
		}
	}
	return distance
}

// TestReach checks that a set grows like breadth-first search, whether there are many or few outermost nodes, and for
// any number of threads.
func TestReach(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, edges := range []int{300, 1500, 20_000, 20_001} {
		random := rand.New(rand.NewPCG(uint64(edges), 0))
		var list graph.Edges
		const n = 1500
		for range edges {
			list.From, list.To = append(list.From, random.Int32N(n)), append(list.To, random.Int32N(n))
		}
		a := mattest.First(graph.Adjacency(t.Context(), n, list))
		if edges%2 == 1 { // the others are undirected
			a = mattest.Must((&graph.Graph{Adj: a}).Causally(t.Context())).Adj
		}
		for _, from := range [][]int32{nil, {7}, {7, 3, 7, 1499}, memory.Range(0, 700)} {
			for _, threads := range []int{1, 7} {
				runtime.GOMAXPROCS(threads)
				r := reach.New(a, from)
				for h := range int32(6) {
					name := fmt.Sprintf("%d edges, %d nodes, %d hops", edges, len(from), h)
					want := hops(a, from, h)
					if !slices.Equal(r.Distance, want) || r.Hops != h {
						t.Fatalf("%s: other distances than breadth-first search, after %d hops", name, r.Hops)
					}
					var entries int64
					for v, d := range want {
						if d >= 0 {
							entries += a.Indptr[v+1] - a.Indptr[v]
						}
					}
					if h%2 == 0 && r.Entries() != entries {
						t.Fatalf("%s: %d entries, want %d", name, r.Entries(), entries)
					}
					r.Grow()
				}
			}
		}
	}
}

// TestComponents uses a graph with the components 0–4–2, 1–3 and 5.
func TestComponents(t *testing.T) {
	a := &mat.CSR{
		Rows: 6, Cols: 6, Indptr: []int64{0, 1, 2, 3, 4, 6, 6}, Indices: []int32{4, 3, 4, 1, 0, 2},
	}
	if got, want := reach.Components(a), [][]int32{{0, 2, 4}, {1, 3}, {5}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := reach.Components(&mat.CSR{Indptr: []int64{0}}); len(got) > 0 {
		t.Errorf("%v of no nodes", got)
	}
}

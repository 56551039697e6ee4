package graph_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
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
	adj = matrix(n, best)
	if !slices.ContainsFunc(adj.Data, func(w float32) bool { return w != 1 }) {
		adj.Data = nil
	}
	return adj, loops
}

func matrix(n int, entries map[[2]int32]float32) *mat.CSR {
	m := &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)}
	for _, at := range ordered(entries) {
		m.Indices, m.Data = append(m.Indices, at[1]), append(m.Data, entries[at])
		m.Indptr[at[0]+1]++
	}
	for i := range n {
		m.Indptr[i+1] += m.Indptr[i]
	}
	return m
}

// ordered returns the rows and columns of entries, row by row.
func ordered(entries map[[2]int32]float32) [][2]int32 {
	return slices.SortedFunc(maps.Keys(entries), func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
}

func same(a, b *mat.CSR) bool {
	return slices.Equal(a.Indptr, b.Indptr) && slices.Equal(a.Indices, b.Indices) && slices.Equal(a.Data, b.Data) &&
		(a.Data == nil) == (b.Data == nil)
}

func TestAdjacencyIsTheObviousOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(4000, 9000)).Draw(t, "n")
		node := rapid.Int32Range(0, int32(n-1))
		m := rapid.IntRange(0, 40).Draw(t, "m")
		edges := graph.Edges{From: rapid.SliceOfN(node, m, m).Draw(t, "from"), To: rapid.SliceOfN(node, m, m).Draw(t, "to")}
		if rapid.Bool().Draw(t, "weighted") {
			edges.Weight = rapid.SliceOfN(rapid.SampledFrom([]float32{0.25, 1, 3e30}), m, m).Draw(t, "weight")
		}
		if rapid.Bool().Draw(t, "both directions") {
			edges.From, edges.To = append(edges.From, edges.To...), append(edges.To, edges.From...)
			edges.Weight = append(edges.Weight, edges.Weight...)
			m *= 2
		}
		want, loops := obvious(n, edges)
		if rapid.Bool().Draw(t, "ordered") {
			edges = list(want)
			m, loops = edges.Len(), 0
		}
		got, changes, err := graph.Adjacency(t.Context(), n, edges)
		if err != nil || !same(got, want) {
			t.Fatalf("%v: got %+v, want %+v", err, got, want)
		}
		if changes != (graph.Changes{Entries: m, Loops: loops, Merged: m - loops - want.NNZ()/2}) {
			t.Fatalf("%+v, with %d loops and %d edges", changes, loops, want.NNZ()/2)
		}
	})
}

// list returns the entries of a matrix, row by row.
func list(a *mat.CSR) graph.Edges {
	e := graph.Edges{To: slices.Clone(a.Indices), Weight: slices.Clone(a.Data)}
	for i := range a.Rows {
		e.From = append(e.From, slices.Repeat([]int32{int32(i)}, int(a.Indptr[i+1]-a.Indptr[i]))...)
	}
	return e
}

// Edges that already equal the entries of the adjacency, in order, are not copied; all others are.
func TestAdjacencyKeepsOrderedEdges(t *testing.T) {
	const n, m = 70_000, 1<<20 + 1 // several chunks
	var drawn graph.Edges
	for i := range m {
		drawn.From, drawn.To = append(drawn.From, int32(i*7919%n)), append(drawn.To, int32((i*i+i/n)%n))
	}
	want := mattest.First(graph.Adjacency(t.Context(), n, drawn))
	e := list(want)
	got, changes, err := graph.Adjacency(t.Context(), n, e)
	if err != nil || !same(got, want) || &got.Indices[0] != &e.To[0] || changes.Merged != e.Len()/2 {
		t.Errorf("%v: %+v, or ordered edges became another adjacency, or were copied", err, changes)
	}
	at := 1 << 20 // across a chunk boundary
	e.To[at-1], e.To[at], e.From[at-1], e.From[at] = e.To[at], e.To[at-1], e.From[at], e.From[at-1]
	if got, _, err = graph.Adjacency(t.Context(), n, e); err != nil || !same(got, want) || &got.Indices[0] == &e.To[0] {
		t.Errorf("%v: two edges out of order change the adjacency", err)
	}
	one := graph.Edges{From: []int32{0, 0, 1, 2}, To: []int32{1, 2, 0, 0}, Weight: []float32{2, 1, 3, 1}}
	if got, _, err = graph.Adjacency(t.Context(), 3, one); err != nil || !slices.Equal(got.Data, []float32{3, 1, 3, 1}) {
		t.Errorf("%v: weights %v of an edge that has two", err, got.Data)
	}
}

// TestAdjacencyOfManyNodes checks rows and columns of 25 bits, whose sort takes three digits.
func TestAdjacencyOfManyNodes(t *testing.T) {
	slow.Test(t, "the row pointers of 16 million nodes")
	const n = 1<<24 + 2
	e := graph.Edges{From: []int32{n - 1, 4096, 0, 1 << 24, 7}, To: []int32{0, 1<<24 + 1, 4097, 1 << 13, n - 2}}
	got, _, err := graph.Adjacency(t.Context(), n, e)
	if want, _ := obvious(n, e); err != nil || !same(got, want) {
		t.Errorf("%v: entries %v, want %v", err, got.Indices, want.Indices)
	}
}

// BenchmarkAdjacency builds the adjacency of random edges, a tenth of those in ogbn-products.
func BenchmarkAdjacency(b *testing.B) {
	const n, m = 245_000, 6_186_000
	random := rand.New(rand.NewPCG(1, 1))
	e := graph.Edges{From: make([]int32, m), To: make([]int32, m)}
	for i := range m {
		e.From[i], e.To[i] = random.Int32N(n), random.Int32N(n)
	}
	adj := mattest.First(graph.Adjacency(b.Context(), n, e))
	ordered, both := list(adj), list(adj)
	random.Shuffle(both.Len(), func(i, j int) {
		both.From[i], both.From[j], both.To[i], both.To[j] = both.From[j], both.From[i], both.To[j], both.To[i]
	})
	for name, e := range map[string]graph.Edges{"one way": e, "both ways": both, "ordered": ordered} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				mattest.First(graph.Adjacency(b.Context(), n, e))
			}
			b.ReportMetric(float64(adj.NNZ())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mentries/s")
		})
	}
}

// Edges that fill several chunks and buckets give the same adjacency in any order.
func TestAdjacencyOfManyEdges(t *testing.T) {
	const n, m = 5000, 1<<20 + 12345
	from, to := make([]int32, m), make([]int32, m)
	for i := range from {
		from[i], to[i] = int32(i*7919%n), int32((i*i+i/n)%n)
	}
	one, changes, err := graph.Adjacency(t.Context(), n, graph.Edges{From: from, To: to})
	mattest.OK(t, err)
	mattest.OK(t, one.Validate(t.Context()))
	slices.Reverse(from)
	slices.Reverse(to)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(7))
	two, again, err := graph.Adjacency(t.Context(), n, graph.Edges{From: to, To: from})
	if err != nil || changes != again || !same(one, two) {
		t.Errorf("%v: the order of edges, their direction or the number of threads changes the adjacency", err)
	}
	from[m-1] = n // in the last chunk
	from[m-7] = -1
	want := fmt.Sprintf("edge %d (-1–%d): node -1, must be 0 to 4999", m-7, to[m-7])
	if _, _, err := graph.Adjacency(t.Context(), n, graph.Edges{From: from, To: to}); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// drawnBuilder returns a builder with several chunks of edges in no order.
func drawnBuilder() *graph.Builder {
	const nodes, edges = 1000, 3<<20 + 5
	src := rand.New(rand.NewPCG(1, 2))
	b := &graph.Builder{X: mat.NewDense(nodes, 1)}
	for range edges {
		b.AddEdge(src.IntN(nodes), src.IntN(nodes))
	}
	return b
}

// TestGraphReports checks that progress counts each chunk up to the total, and that reports of several workers never go
// backwards.
func TestGraphReports(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var events []progress.Event
	mattest.First(drawnBuilder().Graph(progress.With(t.Context(), func(e progress.Event) { events = append(events, e) })))
	if len(events) < 12 {
		t.Fatalf("%d events, want one for each chunk of each pass", len(events))
	}
	last := progress.Event{Total: events[0].Total}
	for _, e := range events {
		if e.Total != last.Total || e.Done < last.Done || e.Done > e.Total {
			t.Fatalf("event %+v after %+v", e, last)
		}
		last = e
	}
	if float64(last.Done) < 0.99*float64(last.Total) {
		t.Errorf("the count ends at %d of %d", last.Done, last.Total)
	}
}

// TestGraphStops checks that cancellation after any number of chunks gives an error and no graph.
func TestGraphStops(t *testing.T) {
	b := drawnBuilder()
	for after := range 14 {
		if after%4 > 1 && !slow.On() {
			continue
		}
		ctx, cancel := context.WithCancel(t.Context())
		count := 0
		g, _, err := b.Graph(progress.With(ctx, func(progress.Event) {
			if count++; count > after {
				cancel()
			}
		}))
		if g != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("stopped after %d chunks: graph %v, error %v", after, g != nil, err)
		}
		cancel()
	}
}

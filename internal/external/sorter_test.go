package external_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/external"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// inMemory is a sink that builds the matrix.
type inMemory struct{ *mat.CSR }

func (m inMemory) Pointers(first int, indptr []int64) error {
	m.Indptr = slices.Grow(m.Indptr, first+len(indptr))
	m.CSR.Indptr = append(m.Indptr[:first], indptr...)
	return nil
}

func (m inMemory) Indices(at int64, indices []int32, data []float32) error {
	if int(at) != len(m.CSR.Indices) {
		return fmt.Errorf("entries from %d on after %d", at, len(m.CSR.Indices))
	}
	m.CSR.Indices = append(m.CSR.Indices, indices...)
	if data != nil {
		m.CSR.Data = append(m.Data, data...)
	}
	return nil
}

// some returns edges of one of several kinds.
func some(kind string, nodes, count int, weighted bool) graph.Edges {
	random := rand.New(rand.NewPCG(uint64(nodes), uint64(count)))
	var e graph.Edges
	for range count {
		u, v := random.Int32N(int32(nodes)), random.Int32N(int32(nodes))
		switch kind {
		case "hub":
			u = 3 % int32(nodes)
		case "one edge":
			u, v = 0, int32(nodes-1)
		case "loops":
			v = u
		}
		e.From, e.To = append(e.From, u), append(e.To, v)
		if weighted {
			e.Weight = append(e.Weight, float32(1+random.IntN(9)))
		}
	}
	return e
}

func part(e graph.Edges, lo, hi int) graph.Edges {
	p := graph.Edges{From: e.From[lo:hi], To: e.To[lo:hi]}
	if e.Weight != nil {
		p.Weight = e.Weight[lo:hi]
	}
	return p
}

// TestSorterIsAdjacency checks that the adjacency equals the result of package graph, for any amount of memory and any
// division of the edges into parts.
func TestSorterIsAdjacency(t *testing.T) {
	for _, kind := range []string{"any", "hub", "one edge", "loops"} {
		for _, nodes := range []int{1, 2, 50, 5000} {
			if nodes == 50 && !slow.On() {
				continue // most edges are repeated, which is slow
			}
			for _, count := range []int{0, 1, 300, 20_000} {
				if count == 20_000 && kind != "any" && !slow.On() {
					continue
				}
				for _, memory := range []int64{1, 1 << 30} {
					for _, weighted := range []bool{false, true} {
						if !weighted && kind != "any" {
							continue // one kind of edges without weights is enough
						}
						what := fmt.Sprintf("%s: %d nodes, %d edges, %d bytes, weighted %v", kind, nodes, count, memory, weighted)
						edges := some(kind, nodes, count, weighted)
						want, changes, err := graph.Adjacency(t.Context(), nodes, edges)
						mattest.OK(t, err)
						folder := t.TempDir()
						s := external.New(folder, nodes, int64(count), memory, weighted)
						half := count / 2
						mattest.OK(t, s.Add(part(edges, 0, half)))
						if count == 300 { // more edges are added after sorting
							mattest.OK(t, s.Sort(t.Context()))
						}
						var tasks sync.WaitGroup
						for lo := half; lo < count; lo += 3000 {
							tasks.Go(func() {
								if err := s.Add(part(edges, lo, min(count, lo+3000))); err != nil {
									t.Error(err)
								}
							})
						}
						tasks.Wait()
						mattest.OK(t, s.Sort(t.Context()))
						got := inMemory{&mat.CSR{Rows: nodes, Cols: nodes}}
						mattest.OK(t, s.Write(t.Context(), -1, got))
						if s.Entries() != int64(want.NNZ()) || s.Weighted() != (want.Data != nil) || s.Changes() != changes {
							t.Errorf("%s: %d entries, weighted %v, %v; want %d, %v", what, s.Entries(), s.Weighted(), s.Changes(),
								want.NNZ(), changes)
						}
						if !slices.Equal(got.Indptr, want.Indptr) || !slices.Equal(got.CSR.Indices, want.Indices) ||
							!slices.Equal(got.Data, want.Data) {
							t.Fatalf("%s: another matrix", what)
						}
						if left, _ := os.ReadDir(folder); len(left) > 0 {
							t.Fatalf("%s: %d files are left", what, len(left))
						}
					}
				}
			}
		}
	}
}

// TestSorterDropsWeightsOfOne checks that weights that are all 1 are dropped, as in memory.
func TestSorterDropsWeightsOfOne(t *testing.T) {
	s := external.New(t.TempDir(), 3, 2, 1<<20, true)
	err := errors.Join(
		s.Add(graph.Edges{From: []int32{0}, To: []int32{1}}),
		s.Add(graph.Edges{From: []int32{2, 1}, To: []int32{1, 0}, Weight: []float32{1, 0.5}}),
		s.Sort(t.Context()))
	got := inMemory{&mat.CSR{Rows: 3, Cols: 3}}
	mattest.OK(t, errors.Join(err, s.Write(t.Context(), -1, got)))
	want := &mat.CSR{Rows: 3, Cols: 3, Indptr: []int64{0, 1, 3, 4}, Indices: []int32{1, 0, 2, 1}}
	if s.Weighted() || !reflect.DeepEqual(got.CSR, want) {
		t.Errorf("got %+v, want %+v", got.CSR, want)
	}
}

// TestSorterStops checks that a sort stops soon after its context is done.
func TestSorterStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ctx = progress.With(ctx, func(progress.Event) { cancel() })
	s := external.New(t.TempDir(), 5000, 20_000, 1<<16, false)
	mattest.OK(t, s.Add(some("any", 5000, 20_000, false)))
	mattest.WantIs(t, s.Sort(ctx), context.Canceled)
}

// TestSorterDropsEdges checks that the requested number of edges is kept, and that every kept edge was added.
func TestSorterDropsEdges(t *testing.T) {
	const nodes = 300
	edges := some("any", nodes, 2000, false)
	all := mattest.First(graph.Adjacency(t.Context(), nodes, edges))
	for _, keep := range []int{0, 1, 1000, all.NNZ() / 2} {
		s := external.New(t.TempDir(), nodes, 2000, 1, false)
		got := inMemory{&mat.CSR{Rows: nodes, Cols: nodes}}
		err := errors.Join(s.Add(edges), s.Sort(t.Context()), s.Write(t.Context(), int64(keep), got),
			graph.ValidateAdjacency(t.Context(), got.CSR, false))
		if err != nil || got.NNZ() != 2*keep {
			t.Fatalf("%d entries, %v, want %d", got.NNZ(), err, 2*keep)
		}
		for u := range nodes {
			for v := range got.Row(u) {
				if _, is := slices.BinarySearch(all.Indices[all.Indptr[u]:all.Indptr[u+1]], int32(v)); !is {
					t.Errorf("%d edges: edge %d–%d is new", keep, u, v)
				}
			}
		}
	}
}

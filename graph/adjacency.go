package graph

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// edgeChunk is the number of edges per task.
const edgeChunk = 1 << 20

// survey is the result of one pass over a list of edges.
type survey struct {
	loops int
	// mirrored: the list contains each edge equally often in both directions, with the same weights.
	mirrored bool
	// ascending: sources ascend, and so do the targets of each source.
	ascending bool
}

// examine checks the edges of a graph with n nodes and determines their order.
func examine(w *work, n int, edges Edges) (survey, error) {
	chunks := (edges.Len() + edgeChunk - 1) / edgeChunk
	loops, faults := make([]int, chunks), make([]error, chunks)
	var sum atomic.Uint64 // 0 if the edges are mirrored (see mirror)
	var disorder atomic.Bool
	w.each(edges.Len(), edgeChunk, 1, func(lo, hi int) {
		c := lo / edgeChunk
		if faults[c] = edges.check(lo, hi, n, 0); faults[c] != nil {
			return
		}
		var s uint64
		last, ascending := uint64(0), true
		if lo > 0 {
			last = uint64(edges.From[lo-1])<<32 | uint64(edges.To[lo-1])
		}
		from, to := edges.From[lo:hi], edges.To[lo:hi]
		for i, u := range from {
			v, weight := to[i], uint64(0)
			if edges.Weight != nil {
				weight = uint64(math.Float32bits(edges.Weight[lo+i]))
			}
			entry := uint64(u)<<32 | uint64(v)
			ascending = ascending && (entry > last || lo+i == 0)
			last = entry
			switch {
			case u < v:
				s += hashed(entry, weight)
			case u > v:
				s -= hashed(uint64(v)<<32|uint64(u), weight)
			default:
				loops[c]++
			}
		}
		sum.Add(s)
		if !ascending {
			disorder.Store(true)
		}
	})
	seen := survey{mirrored: sum.Load() == 0, ascending: !disorder.Load()}
	for c, err := range faults {
		if err != nil {
			return seen, err
		}
		seen.loops += loops[c]
	}
	return seen, nil
}

// inPlace returns the adjacency of edges that are already mirrored, ascending and without self-loops. It shares their
// targets and weights. The result is meaningless if ctx has ended.
func inPlace(ctx context.Context, n int, edges Edges) *mat.CSR {
	adj := &mat.CSR{Rows: n, Cols: n, Indptr: memory.Make[int64](n + 1), Indices: slices.Clip(edges.To)}
	_ = parallel.ForContext(ctx, edges.Len(), edgeChunk, func(lo, hi int) {
		row := 0 // the pointers of all rows before this one are set
		if lo > 0 {
			row = int(edges.From[lo-1]) + 1
		}
		for i := lo; i < hi; i++ {
			for ; row <= int(edges.From[i]); row++ {
				adj.Indptr[row] = int64(i)
			}
		}
	})
	for row := int(edges.From[edges.Len()-1]) + 1; row <= n; row++ {
		adj.Indptr[row] = int64(edges.Len())
	}
	adj.Data = unlessOne(slices.Clip(edges.Weight))
	return adj
}

// unlessOne returns weights, or nil if all are 1.
func unlessOne(weights []float32) []float32 {
	if slices.ContainsFunc(weights, func(w float32) bool { return w != 1 }) {
		return weights
	}
	return nil
}

// passes is the number of units of work per edge before the buckets are sorted: one to examine the edge, one to count
// it, and three to put it and its mirror image into buckets. Sorting takes as many units again.
const passes = 5

// work counts the progress of building an adjacency, and stops when its context ends.
type work struct {
	ctx   context.Context
	edges int64
	mu    sync.Mutex
	done  int64 // guarded by mu, which is held while it is reported, so that reports never go backwards
}

// each calls f as parallel.For does, until the context ends. One call adds units × edges to the progress.
func (w *work) each(n, chunk, units int, f func(lo, hi int)) {
	_ = parallel.ForContext(w.ctx, n, chunk, func(lo, hi int) { // the caller checks stopped
		f(lo, hi)
		part := int64(float64(hi-lo) / float64(n) * float64(units) * float64(w.edges))
		w.mu.Lock()
		defer w.mu.Unlock()
		w.done += part
		progress.Report(w.ctx, progress.Event{Stage: "build adjacency", Done: w.done, Total: 2 * passes * w.edges})
	})
}

// stopped reports whether the context has ended, so that the result is incomplete.
func (w *work) stopped() bool { return w.ctx.Err() != nil }

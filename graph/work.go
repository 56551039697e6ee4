package graph

import (
	"context"
	"sync/atomic"

	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/progress"
)

// passes is the number of units of work for each edge while an adjacency is built: one to examine it, one to count it,
// and three to put it and its mirror image into buckets. Sorting the buckets takes another five.
const passes = 5

// work counts the progress of building an adjacency, and stops when its context ends.
type work struct {
	ctx   context.Context
	edges int64
	done  atomic.Int64
}

func newWork(ctx context.Context, edges int) *work { return &work{ctx: ctx, edges: int64(edges)} }

// each calls f as parallel.For does, until the context ends. All calls together add units to the progress for each
// edge.
func (w *work) each(n, chunk, units int, f func(lo, hi int)) {
	_ = parallel.ForContext(w.ctx, n, chunk, func(lo, hi int) { // the caller checks stopped
		f(lo, hi)
		part := int64(float64(hi-lo) / float64(n) * float64(units) * float64(w.edges))
		progress.Report(w.ctx, progress.Event{Stage: "build adjacency", Done: w.done.Add(part), Total: 2 * passes * w.edges})
	})
}

// stopped reports whether the context has ended, so that the result is incomplete.
func (w *work) stopped() bool { return w.ctx.Err() != nil }

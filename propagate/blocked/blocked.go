// Package blocked computes the embeddings of package propagate fast, and only those that are asked for.
//
// Row i of H⁽ˡ⁾ needs the rows of H⁽ˡ⁻¹⁾ for i and its neighbours. So H⁽ˡ⁾ is computed for the nodes within K−l hops of
// the rows that are asked for, and for no others. Dense features are propagated some columns at a time, through all
// hops.
package blocked

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// Engine is a propagate.Engine. The zero value is ready to use.
type Engine struct {
	// Memory bounds, in bytes, what the process takes: the program, the graph, its features, the embeddings and the work
	// on them. 0 sets no bound. The result is the same for any bound, bit for bit.
	//
	// An input that is mapped from a file (propagate.Input.Mapped) and does not fit is read in order, once for each block
	// of columns. Features in panels (mat.Panels) are then read once in all, if a block holds the columns of a panel. What
	// is read at random places is always in memory. Embeddings that do not fit go to a temporary file ($TMPDIR, else
	// /var/tmp), which the system removes when the process ends.
	//
	// If even one column of such an input does not fit, that is an error before any feature is read. It names the least
	// bound that works. With an input in memory, Embeddings takes as little more as it can.
	Memory int64

	// Precision is one of Precisions. Half is faster where memory is the bound, and less exact.
	// H⁽⁰⁾, what is returned, sums and the features stay float32. Features that are not a *mat.Dense are read once more,
	// for the largest magnitude of each column. If weights of edges give a node a degree above 2³², that is an error.
	Precision Precision
}

var _ propagate.Engine = Engine{}

// Embeddings implements propagate.Engine. The cost is O(d · edges within K hops of the rows).
//
// If in.X is a *mat.Dense, H⁽⁰⁾ are rows of it and no copy, unless they lie in a file that is larger than Memory. A
// *mat.CSR is never written out whole. Features of another type are read once: each block of columns of the nodes
// within K hops of in.Rows, in the order of the nodes. The error is that of in.X.ReadBlock.
//
// in.Classes decide in which order nodes are worked on: neighbours are mostly of one class, and then stand close
// together. If in.Adj turns out not to be symmetric, that is an error.
func (e Engine) Embeddings(ctx context.Context, p propagate.Propagation, in propagate.Input) ([]mat.View, error) {
	if e.Memory < 0 {
		return nil, fmt.Errorf("propagate: memory %d bytes, want at least 0 (0 for no bound)", e.Memory)
	}
	if err := e.Precision.validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := in.Validate(); err != nil {
		return nil, err
	}
	_, d := in.X.Dims()
	if p.Hops == 0 || len(in.Rows) == 0 || d == 0 {
		return e.still(ctx, p, in)
	}
	operator, beta := in.Step(p)
	r := newRun(ctx, in, p.Hops, beta, e)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.plan.beyond {
		if need := r.need(r.plan) + r.overhead(e.Memory); need > e.Memory {
			return nil, fmt.Errorf("propagate: the bound on memory is %d bytes, want at least %d for this graph", e.Memory,
				r.least(need))
		}
		defer inOrder(in)()
	}
	r.tell(ctx, e.Memory)
	defer r.free()
	if err := r.prepare(ctx, operator, in); err != nil {
		return nil, err
	}
	var err error
	_, sparse := in.X.(*mat.CSR)
	if r.results, err = newResults(in.Rows, in.Classes, d, p.Hops, r.copies(r.plan), r.plan.spill); err != nil {
		return nil, err
	}
	if r.copies(r.plan) && !sparse {
		r.copied = byNode(in.Rows)
	}
	if err := r.store(ctx); err != nil {
		return nil, err
	}
	var done [][2]int
	for lo, hi := range r.blocks(r.plan) {
		if err := r.block(ctx, lo, hi); err != nil {
			return nil, err
		}
		done = append(done, [2]int{lo, hi})
	}
	results, room := r.results, e.Memory-r.overhead(e.Memory)
	if freed := r.need(r.plan); e.Memory > 0 && freed >= large { // a bounded process cannot keep what it does not need
		r.layout, r.entries, r.panels, r.right, r.gain, r.placed = nil, nil, [3]panel{}, nil, nil, nil
		debug.FreeOSMemory()
	}
	views, err := results.views(room, done)
	if err != nil {
		return nil, err
	}
	return first(views, in, r.copied != nil)
}

// large is the least memory, in bytes, that is given back at once.
const large = 16 << 20

// still returns embeddings without a hop, or of no rows, or without columns.
func (e Engine) still(ctx context.Context, p propagate.Propagation, in propagate.Input) ([]mat.View, error) {
	_, d := in.X.Dims()
	views := make([]mat.View, p.Hops+1)
	for l := range views {
		views[l] = mat.NewDense(len(in.Rows), d).View()
	}
	views, err := first(views, in, false)
	if err != nil {
		return nil, err
	}
	return views, ctx.Err()
}

// first puts H⁽⁰⁾ into its place, unless it has been copied there while X was read.
func first(views []mat.View, in propagate.Input, copied bool) ([]mat.View, error) {
	if copied {
		return views, nil
	}
	if x, dense := in.X.(*mat.Dense); dense {
		views[0] = x.Select(in.Rows)
		return views, nil
	}
	rows := new(mat.Dense)
	if err := mat.Rows(rows, in.X, in.Rows); err != nil {
		return nil, fmt.Errorf("propagate: reading features: %w", err)
	}
	views[0] = rows.View()
	return views, nil
}

// inOrder tells the system that the mapped input is read in order, and returns what ends that.
func inOrder(in propagate.Input) (done func()) {
	ends := []func(){memory.InOrder(in.Adj.Indices), memory.InOrder(in.Adj.Data), mat.InOrder(in.X)}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

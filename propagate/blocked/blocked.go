// Package blocked computes the embeddings of package propagate fast, and only for the rows that are needed. Its Engine
// is the default of cgc.Config, and can limit the memory.
//
// Row i of H⁽ˡ⁾ needs the rows of H⁽ˡ⁻¹⁾ for i and its neighbours. H⁽ˡ⁾ is therefore computed only for the nodes within
// K−l hops of the requested rows. Dense features are propagated in blocks of columns, each through all hops.
//
// A task (plan.go) describes what to compute, and a plan describes how. The layout (layout.go) orders the nodes, and a
// run (block.go) executes the plan.
package blocked

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// Engine is a propagate.Engine. The zero value is ready to use.
type Engine struct {
	// Memory limits the memory of the process, in bytes: the program, the graph, its features, the embeddings and the
	// scratch space. 0 means no limit. Results are bit-identical for every limit.
	//
	// An input that is mapped from a file (propagate.Input.Mapped) and does not fit is read in order, once for each block
	// of columns. Features in panels (paneled.Matrix) are read only once if a block contains the columns of a panel. Data
	// that is read in random order is always in memory. Embeddings that do not fit go to a temporary file ($TMPDIR, else
	// /var/tmp), which the system removes when the process ends.
	//
	// If not even one column of such an input fits, Embeddings fails before it reads any feature. The error names the
	// smallest limit that works. If the input is in memory, Embeddings exceeds the limit as little as possible.
	Memory int64

	// Precision is one of Precisions. Half is less exact, and faster where memory bandwidth is the bottleneck. Only blocks
	// are half precision: H⁽⁰⁾, the results, sums and the features stay float32. Features that are not a *mat.Dense are
	// read a second time, to find the largest magnitude of each column. A degree above 2³² is an error.
	Precision Precision

	// Kept, if not nil, is the file from which Hops resumes.
	Kept *Kept
}

var _ propagate.Engine = Engine{}

// Embeddings implements propagate.Engine. The cost is O(d · edges within K hops of the rows).
//
// If in.X is a *mat.Dense, H⁽⁰⁾ is a view of its rows, unless they are in a file larger than Memory. A *mat.CSR is
// never converted to dense as a whole. Features of another type are read once, in blocks of columns, for the nodes
// within K hops of in.Rows, in the order of the nodes. Errors from in.X.ReadBlock are returned.
//
// in.Classes determines the order of the nodes in memory: neighbours mostly share a class, so they are then close
// together. If in.Adj turns out not to be symmetric, Embeddings returns an error.
func (e Engine) Embeddings(ctx context.Context, p propagate.Propagation, in propagate.Input) ([]mat.View, error) {
	if err := e.check(p, in); err != nil {
		return nil, err
	}
	_, d := in.X.Dims()
	if p.Hops == 0 || len(in.Rows) == 0 || d == 0 {
		return still(ctx, p, in)
	}
	r, err := e.compute(ctx, p, in, false, false)
	if err != nil {
		return nil, err
	}
	defer r.free()
	room := e.Memory - r.overhead(e.Memory)
	if freed := r.need(r.plan); e.Memory > 0 && freed >= large { // with a memory limit, free what is no longer needed
		r.layout, r.entries, r.panels, r.right, r.gain, r.placed = nil, nil, [3]panel{}, nil, nil, nil
		debug.FreeOSMemory()
	}
	views, err := r.results.views(room, r.blocks(r.plan))
	if err != nil {
		return nil, err
	}
	if in.Last || r.copied != nil {
		return views, nil
	}
	return first(views, in)
}

// Hops computes H⁽⁰⁾ … H⁽ᴷ⁾ as Embeddings does, and calls use with each matrix, len(in.Rows)×d, in this order. A matrix
// is valid only until use returns. If there is no room for it in memory, it is read from a temporary file, so read its
// rows in order. Pass mat.F16 as store if use stores the values in f16: the file then has them in f16 too, and a value
// beyond the range of f16 is an error. Hops returns errors from use. Reading a value of H⁽ᴷ⁾ that is not finite is an
// error. With e.Kept, columns that an earlier call finished are not computed again.
func (e Engine) Hops(
	ctx context.Context, p propagate.Propagation, in propagate.Input, store mat.Storage,
	use func(l int, h mat.Matrix) error,
) error {
	if err := e.check(p, in); err != nil {
		return err
	}
	_, d := in.X.Dims()
	if p.Hops == 0 || len(in.Rows) == 0 || d == 0 { // each H⁽ˡ⁾ equals these rows of X
		for l := range p.Hops + 1 {
			if err := use(l, mat.RowsOf(in.X, in.Rows)); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	r, err := e.compute(ctx, p, in, true, store == mat.F16)
	if err != nil {
		return err
	}
	defer r.free()
	for l := range p.Hops + 1 {
		h := mat.RowsOf(in.X, in.Rows)
		if l >= r.results.from {
			h = r.results.matrix(l, r.blocks(r.plan))
		}
		if l == p.Hops {
			h = finite{h, in.Rows, l}
		}
		if err := use(l, h); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// compute fills the results of a propagation of at least one hop. If apart is set, they include H⁽⁰⁾ only if that saves
// time. The caller must free the run.
func (e Engine) compute(
	ctx context.Context, p propagate.Propagation, in propagate.Input, apart, rounded bool,
) (_ *run, err error) {
	_, d := in.X.Dims()
	operator, beta := in.Step(p)
	r := newRun(ctx, in, p.Hops, beta, e, apart, rounded)
	defer func() {
		if err != nil {
			r.free()
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.plan.beyond {
		if need := r.need(r.plan) + r.overhead(e.Memory); need > e.Memory {
			return nil, &MemoryError{Need: r.least(need), Bound: e.Memory}
		}
		defer inOrder(in)()
	}
	done := 0 // columns that are not computed again
	if apart {
		done = e.Kept.resume(r, in)
	}
	r.tell(ctx, e.Memory)
	if r.results, err = newResults(
		in.Rows, in.Classes, d, r.first(r.plan), p.Hops, r.plan.spill, rounded, r.kept,
	); err != nil {
		return nil, err
	}
	if done == d {
		return r, nil
	}
	if err := r.prepare(ctx, operator, in); err != nil {
		return nil, err
	}
	if r.first(r.plan) == 0 && !r.sparse {
		r.copied = byNode(in.Rows)
	}
	if err := r.store(ctx); err != nil {
		return nil, err
	}
	for lo, hi := range r.blocks(r.plan) {
		if hi <= done {
			continue
		}
		if err := r.block(ctx, lo, hi); err != nil {
			return nil, err
		}
		if r.kept != nil {
			e.Kept.finish(hi)
		}
	}
	return r, nil
}

// MemoryError is the error for a graph whose propagation needs more than Engine.Memory. Need is the smallest limit that
// works, and Bound is the limit, both in bytes.
type MemoryError struct{ Need, Bound int64 }

// Error states the limit and the memory that is needed.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("the memory limit is %d bytes, must be at least %d for this graph", e.Bound, e.Need)
}

// check returns an error if e, p or in is invalid.
func (e Engine) check(p propagate.Propagation, in propagate.Input) error {
	if e.Memory < 0 {
		return fmt.Errorf("memory %d bytes, must be at least 0 (0 for no limit)", e.Memory)
	}
	return cmp.Or(e.Precision.validate(), p.Validate(), in.Validate())
}

// large is the smallest amount of memory, in bytes, that is returned to the system immediately.
const large = 16 << 20

// still returns embeddings without propagation, if there are no hops, rows or columns.
func still(ctx context.Context, p propagate.Propagation, in propagate.Input) ([]mat.View, error) {
	views, err := first(make([]mat.View, p.Hops+1), in)
	if err != nil {
		return nil, err
	}
	for l := range views { // each H⁽ˡ⁾ equals these rows of X
		views[l] = views[0]
	}
	return views, ctx.Err()
}

// first sets views[0] to H⁽⁰⁾.
func first(views []mat.View, in propagate.Input) ([]mat.View, error) {
	if x, dense := in.X.(*mat.Dense); dense {
		views[0] = x.Select(in.Rows)
		return views, nil
	}
	rows := new(mat.Dense)
	if err := mat.Rows(rows, in.X, in.Rows); err != nil {
		return nil, fmt.Errorf("reading features: %w", err)
	}
	views[0] = rows.View()
	return views, nil
}

// inOrder tells the system that the mapped input will be read in order, until done is called.
func inOrder(in propagate.Input) (done func()) {
	ends := []func(){memory.InOrder(in.Adj.Indices), memory.InOrder(in.Adj.Data), paneled.InOrder(in.X)}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// Package blocked computes the embeddings of package propagate fast, and only those that are asked for.
//
// Row i of H⁽ˡ⁾ needs the rows of H⁽ˡ⁻¹⁾ for i and its neighbours. So H⁽ˡ⁾ is computed for the nodes within K−l hops of
// the rows that are asked for, and for no others. Dense features are propagated some columns at a time, through all
// hops.
package blocked

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/propagate"
)

// Engine is a propagate.Engine. The zero value is ready to use.
type Engine struct {
	// Memory bounds, in bytes, what the graph, its features, the embeddings and the work on them take together. 0 sets no
	// bound. With a smaller bound, fewer columns are propagated at a time, down to 16. The result is the same, bit for
	// bit. If the input is mapped from a file (propagate.Input.Mapped) and larger than the bound, it is not counted: the
	// system keeps what it has room for.
	Memory int64
}

var _ propagate.Engine = Engine{}

// Embeddings implements propagate.Engine. The cost is O(d · edges within K hops of the rows).
//
// If in.X is a *mat.Dense, H⁽⁰⁾ are rows of it and no copy. A *mat.CSR is never written out whole. Features of another
// type are read: all columns of in.Rows, and each block of columns of the nodes within K hops of in.Rows. The error is
// that of in.X.ReadBlock. in.Classes decide in which order nodes are worked on: neighbours are mostly of one class, and
// then stand close together. If in.Adj turns out not to be symmetric, that is an error.
func (e Engine) Embeddings(ctx context.Context, p propagate.Propagation, in propagate.Input) ([]mat.View, error) {
	if e.Memory < 0 {
		return nil, fmt.Errorf("propagate: memory %d bytes, want at least 0 (0 for no bound)", e.Memory)
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := in.Validate(); err != nil {
		return nil, err
	}
	_, d := in.X.Dims()
	views := make([]mat.View, p.Hops+1)
	switch x := in.X.(type) {
	case *mat.Dense:
		views[0] = x.Select(in.Rows)
	default:
		first := new(mat.Dense)
		if err := mat.Rows(first, x, in.Rows); err != nil {
			return nil, fmt.Errorf("propagate: reading features: %w", err)
		}
		views[0] = first.View()
	}
	h := make([]*mat.Dense, p.Hops)
	for l := range h {
		h[l] = mat.NewDense(len(in.Rows), d)
		views[l+1] = h[l].View()
	}
	if p.Hops == 0 || len(in.Rows) == 0 || d == 0 {
		return views, ctx.Err()
	}
	operator, beta := p.Step(in.Adj)
	r := newRun(operator, beta, in, h)
	width, store := r.plan(e.Memory)
	if store {
		if err := r.store(ctx); err != nil {
			return nil, err
		}
	} else if in.Classes != nil { // rows that are made anew for each block are best met in the order in which they stand
		in.Classes = nil
		r = newRun(operator, beta, in, h)
	}
	for lo, hi := range blocks(d, width) {
		if err := r.block(ctx, lo, hi); err != nil {
			return nil, err
		}
		progress.Report(ctx, progress.Event{Stage: "propagate", Done: int64(hi), Total: int64(d)})
	}
	return views, nil
}

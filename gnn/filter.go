package gnn

import (
	"context"

	"github.com/graph-condensation/cgc/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// filter is a polynomial of a propagation, Σ_j c_j·Pʲ with P = Â, or the mean M. Applied by Horner's rule it costs as many
// propagations as its degree, and for personalised PageRank that rule is the paper's recursion.
type filter struct {
	mean bool
	c    []float32 // c_0 … c_degree
}

func (f filter) degree() int { return len(f.c) - 1 }

// sum is the value of the polynomial at 1: what the filter multiplies by where there are no edges, since then P = I.
func (f filter) sum() (sum float32) {
	for _, c := range f.c {
		sum += c
	}
	return sum
}

// operator returns P over the given adjacency.
func (f filter) operator(a *mat.CSR) graph.Operator {
	if f.mean {
		return graph.Mean(a)
	}
	return graph.Symmetric(a)
}

// propagation is an operator on a tape. It stops when its context is done; what it then leaves in dst has no meaning, and whoever
// runs the tape asks the context before using the result.
type propagation struct {
	ctx context.Context
	op  graph.Operator
	t   *propagation
}

func newPropagation(ctx context.Context, op graph.Operator) *propagation {
	p := &propagation{ctx: ctx, op: op}
	p.t = &propagation{ctx: ctx, op: op.T(), t: p}
	return p
}

// Apply sets dst to P·x.
func (p *propagation) Apply(dst, x *mat.Dense) { _ = p.op.Apply(p.ctx, dst, x) }

// T returns the transpose.
func (p *propagation) T() autodiff.Linear { return p.t }

// onTape applies the filter to x; a nil p means P = I.
func (f filter) onTape(t *autodiff.Tape, p *propagation, x *autodiff.Var) *autodiff.Var {
	if p == nil {
		return scale(t, f.sum(), x)
	}
	m := f.degree()
	z := x
	for j := m; j >= 0; j-- {
		switch {
		case j == m:
			z = scale(t, f.c[j], z)
		case f.c[j] == 0:
			z = t.Linear(p, z)
		default:
			z = t.Add(t.Linear(p, z), scale(t, f.c[j], x))
		}
	}
	return z
}

func scale(t *autodiff.Tape, alpha float32, x *autodiff.Var) *autodiff.Var {
	if alpha == 1 {
		return x
	}
	return t.Scale(alpha, x)
}

// features is sparse X on a tape, a linear map of the weights, with dropout on its stored entries.
type features struct {
	x, xt *mat.CSR
	from  []int32   // entry e of xt is entry from[e] of x
	whole []float32 // the entries of x without dropout
	t     *transposed
}

type transposed features

func newFeatures(x *mat.CSR) *features {
	f := &features{whole: make([]float32, x.NNZ()), from: make([]int32, x.NNZ())}
	for e := range f.whole {
		f.whole[e] = 1
	}
	if x.Data != nil {
		copy(f.whole, x.Data)
	}
	f.x = &mat.CSR{Rows: x.Rows, Cols: x.Cols, Indptr: x.Indptr, Indices: x.Indices, Data: append([]float32(nil), f.whole...)}
	f.xt = f.x.T()
	next := append([]int64(nil), f.xt.Indptr...)
	for e, j := range x.Indices { // in ascending rows, as T fills them
		f.from[next[j]] = int32(e)
		next[j]++
	}
	f.t = (*transposed)(f)
	return f
}

// Apply sets dst to X·w.
func (f *features) Apply(dst, w *mat.Dense) { mat.MulSparse(dst, f.x, w) }

// T returns Xᵀ.
func (f *features) T() autodiff.Linear { return f.t }

// Apply sets dst to Xᵀ·g.
func (f *transposed) Apply(dst, g *mat.Dense) { mat.MulSparse(dst, f.xt, g) }

// T returns X.
func (f *transposed) T() autodiff.Linear { return (*features)(f) }

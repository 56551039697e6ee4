package gnn

import (
	"context"
	"slices"

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

func (f filter) equal(g filter) bool { return f.mean == g.mean && slices.Equal(f.c, g.c) }

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

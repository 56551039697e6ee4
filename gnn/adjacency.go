package gnn

import (
	"context"
	"fmt"
	"sync"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// rule selects a propagation matrix P.
type rule int

const (
	symmetric rule = iota // Â = D̃^-½ (A + I) D̃^-½
	mean                  // D̃⁻¹ (A + I)
	total                 // A
	rules
)

// operator returns the propagation over a constant A with the given degrees Σ_j A_ij, which are computed from A if nil.
// A part of a graph lacks rows, so it needs the degrees of the full graph.
func (r rule) operator(a *mat.CSR, degrees []float64) graph.Operator {
	switch r {
	case symmetric:
		return graph.SymmetricOf(a, degrees)
	case mean:
		return graph.MeanOf(a, degrees)
	}
	return graph.Operator{Adj: a}
}

// adjacency is the A of forward passes: a constant or a variable. Matrices derived from A are computed once.
type adjacency struct {
	ctx      context.Context
	nodes    int
	constant *mat.CSR      // nil if there are no edges, or if A is a variable
	variable *autodiff.Var // nil if A is a constant

	shared    *scope               // provides the operators over a constant A; may be nil
	operators [rules]*propagation  // over a constant A
	edges     *autodiff.Edges      // of a constant A, with self-loops
	made      round                // when a variable A was put on its tape
	matrices  [rules]*autodiff.Var // P for a variable A
	looped    *autodiff.Var        // A + I of a variable A

	// summary collects, in Means, the matrices that are propagated over a constant A. If arrivals is set, summary holds
	// the contributions of known nodes instead. failed is the first error from a summary that does not fit.
	summary  *Summary
	arrivals *arrivals
	failed   error
}

// newAdjacency returns a constant A of n nodes. A nil a has no edges.
func newAdjacency(ctx context.Context, a *mat.CSR, n int) *adjacency {
	if a != nil && a.NNZ() == 0 {
		a = nil
	}
	return &adjacency{ctx: ctx, nodes: n, constant: a}
}

// none reports whether A is known to have no edges.
func (a *adjacency) none() bool { return a.constant == nil && a.variable == nil }

// apply returns P·x.
func (a *adjacency) apply(r rule, x *autodiff.Var) *autodiff.Var {
	t := x.Tape()
	if x.Value.Rows != a.nodes {
		panic(fmt.Sprintf("gnn: propagation of %d rows over %d nodes", x.Value.Rows, a.nodes))
	}
	switch {
	case a.variable != nil:
		return t.MatMul(a.matrix(r), x)
	case a.constant != nil:
		if a.operators[r] == nil {
			a.operators[r] = newPropagation(a.ctx, a.operator(r))
		}
		z := t.Linear(a.operators[r], x)
		switch {
		case a.arrivals != nil:
			a.addKnown(r, z.Value, x.Value)
		case a.summary != nil:
			a.summary.Means = append(a.summary.Means, x.Value)
			if r == symmetric && a.summary.Degree == nil {
				for _, d := range newScope(a.constant, nil, nil, false).degrees(span(nil, 0, a.nodes)) {
					a.summary.Degree = append(a.summary.Degree, float32(d))
				}
			}
		}
		return z
	case r == total:
		return t.Scale(0, x)
	}
	return x
}

// operator returns P for a constant A.
func (a *adjacency) operator(r rule) graph.Operator {
	if a.shared != nil {
		return a.shared.operator(r)
	}
	if a.arrivals != nil {
		return r.operator(a.constant, a.arrivals.degrees)
	}
	return r.operator(a.constant, nil)
}

// matrix returns P, n×n, for a variable A.
func (a *adjacency) matrix(r rule) *autodiff.Var {
	loops := a.loops()
	if a.matrices[r] != nil {
		return a.matrices[r]
	}
	t := a.variable.Tape()
	p := a.variable
	switch r {
	case symmetric:
		root := t.Power(t.RowSums(loops), -0.5) // D̃^-½
		p = t.Mul(t.Mul(t.RepeatColumn(root, a.nodes), loops), beside(root))
	case mean:
		p = t.Mul(t.RepeatColumn(t.Power(t.RowSums(loops), -1), a.nodes), loops)
	}
	a.matrices[r] = p
	return p
}

// beside returns the n×n matrix in which every row is xᵀ, for x n×1.
func beside(x *autodiff.Var) *autodiff.Var {
	t, n := x.Tape(), x.Value.Rows
	return t.MatMulTB(t.Var(filled(n, 1, 1)), x)
}

// filled returns a matrix in which all entries equal value.
func filled(rows, cols int, value float32) *mat.Dense {
	return &mat.Dense{Rows: rows, Cols: cols, Data: memory.Filled(rows*cols, value)}
}

// loops returns A + I for a variable A.
func (a *adjacency) loops() *autodiff.Var {
	if t := a.variable.Tape(); a.made != roundOf(t) {
		panic("gnn: a variable A is used after the Reset of its tape")
	}
	if a.looped == nil {
		identity := mat.NewDense(a.nodes, a.nodes)
		for i := range a.nodes {
			identity.Row(i)[i] = 1
		}
		t := a.variable.Tape()
		a.looped = t.Add(a.variable, t.Var(identity))
	}
	return a.looped
}

// propagation is an operator on a tape. It stops when its context is done; its result is then meaningless. The caller
// of the tape must therefore check the context before it uses the result.
type propagation struct {
	ctx context.Context
	op  graph.Operator
	t   func() *propagation // made by the first backward pass, because it may need a copy of the adjacency
}

func newPropagation(ctx context.Context, op graph.Operator) *propagation {
	p := &propagation{ctx: ctx, op: op}
	p.t = sync.OnceValue(func() *propagation {
		return &propagation{ctx: ctx, op: op.T(), t: func() *propagation { return p }}
	})
	return p
}

// Apply sets dst to P·x.
func (p *propagation) Apply(dst, x *mat.Dense) { _ = p.op.Apply(p.ctx, dst, x) }

// T returns the transpose.
func (p *propagation) T() autodiff.Linear { return p.t() }

// check returns an error if x is invalid, or if adj is neither nil nor an adjacency of the nodes of x. causal is as in
// graph.ValidateAdjacency.
func check(ctx context.Context, adj *mat.CSR, x mat.Matrix, causal bool) error {
	n, d := x.Dims()
	switch x := x.(type) {
	case *mat.Dense:
		if len(x.Data) != n*d {
			return fmt.Errorf("%d numbers for %d×%d features", len(x.Data), n, d)
		}
	case *mat.CSR:
		if err := x.Validate(ctx); err != nil {
			return fmt.Errorf("features: %w", err)
		}
	}
	if i, j, found, err := mat.FirstNotFinite(ctx, x); err != nil {
		return fmt.Errorf("reading features: %w", err)
	} else if found { // ReLU could turn NaN into 0, and the result would look like any other
		return fmt.Errorf("feature %d of node %d is not a finite number", j, i)
	}
	if adj == nil {
		return nil
	}
	if adj.Rows != n || adj.Cols != n {
		return fmt.Errorf("adjacency %d×%d for %d nodes", adj.Rows, adj.Cols, n)
	}
	return graph.ValidateAdjacency(ctx, adj, causal)
}

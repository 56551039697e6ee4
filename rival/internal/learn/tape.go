package learn

import (
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Variables puts X′ and, unless it is nil, A′ on a tape.
func Variables(t *autodiff.Tape, x, a *mat.Dense) (vx, va *autodiff.Var) {
	if vx = t.Var(x); a != nil {
		va = t.Var(a)
	}
	return vx, va
}

// Put puts parameters on a tape, in their order.
func Put(t *autodiff.Tape, parameters []*mat.Dense) (vars []*autodiff.Var) {
	for _, m := range parameters {
		vars = append(vars, t.Var(m))
	}
	return vars
}

// Values returns the values of variables.
func Values(vars []*autodiff.Var) (values []*mat.Dense) {
	for _, v := range vars {
		values = append(values, v.Value)
	}
	return values
}

// Gradients returns the value of a loss, and its gradients with respect to X′ and A′. The gradient of a nil variable is
// nil.
func Gradients(loss, x, a *autodiff.Var) (value float64, dx, da *mat.Dense) {
	t, value := loss.Tape(), float64(loss.Value.Data[0])
	switch {
	case a == nil:
		return value, t.Grad(loss, x)[0].Value, nil
	case x == nil:
		return value, nil, t.Grad(loss, a)[0].Value
	}
	g := t.Grad(loss, x, a)
	return value, g[0].Value, g[1].Value
}

// Along returns the inner product of a variable and a constant.
func Along(v *autodiff.Var, g *mat.Dense) *autodiff.Var {
	t := v.Tape()
	return t.Sum(t.Mul(v, t.Var(g)))
}

// Filled returns a matrix in which all entries are value.
func Filled(rows, cols int, value float32) *mat.Dense {
	return &mat.Dense{Rows: rows, Cols: cols, Data: memory.Filled(rows*cols, value)}
}

// Identity returns I, n×n.
func Identity(n int) *mat.Dense {
	m := mat.NewDense(n, n)
	for i := range n {
		m.Row(i)[i] = 1
	}
	return m
}

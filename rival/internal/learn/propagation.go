package learn

import (
	"context"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/mat"
)

// Propagation computes Z′ = Â′ᴷX′ for a dense A′ and differentiates it:
//
//	Â′ = S(A′ + I)S with S_ii = (1 + Σ_j A′_ij)^-½.
//
// If A′ = I (nil), Z′ is X′ itself.
type Propagation struct {
	// Hops is K, at least 0.
	Hops int

	tape    *autodiff.Tape
	x, a, z *autodiff.Var
}

// Forward returns Z′. Without hops or edges, Z′ is x. Neither x nor a may change before Backward.
func (o *Propagation) Forward(x, a *mat.Dense) *mat.Dense {
	if a == nil || o.Hops == 0 {
		return x
	}
	if o.tape == nil {
		o.tape = autodiff.NewTape()
	}
	o.tape.Reset()
	o.x, o.a = o.tape.Var(x), o.tape.Var(a)
	in := gnn.VariableInput(o.a, o.x)
	o.z = o.x
	for range o.Hops {
		o.z = in.Symmetric(o.z)
	}
	return o.z.Value
}

// Backward returns the gradients of a function of Z′ whose gradient is dz, with respect to X′ and to each entry of A′.
// It must follow a Forward with the same a. The results are in o's memory, or are dz itself.
func (o *Propagation) Backward(a, dz *mat.Dense) (dx, da *mat.Dense) {
	if a == nil {
		return dz, nil
	}
	if o.Hops == 0 {
		return dz, mat.NewDense(a.Dims())
	}
	g := o.tape.Grad(o.tape.Sum(o.tape.Mul(o.z, o.tape.Var(dz))), o.x, o.a)
	return g[0].Value, g[1].Value
}

// Variables puts X′ and A′, which is nil for I, on a tape.
func Variables(t *autodiff.Tape, x, a *mat.Dense) (vx, va *autodiff.Var) {
	if vx = t.Var(x); a != nil {
		va = t.Var(a)
	}
	return vx, va
}

// Gradients returns the value of a loss, and its gradients with respect to X′ and A′; that of a variable that is nil is
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

// Sparse is a constant sparse matrix as a linear map on a tape.
type Sparse struct {
	Matrix    *mat.CSR
	transpose *mat.CSR
}

// NewSparse returns m as a linear map.
func NewSparse(m *mat.CSR) *Sparse {
	t, _, _ := m.Transpose(context.Background())
	return &Sparse{m, t}
}

// Apply sets dst to the product of s and x.
func (s *Sparse) Apply(dst, x *mat.Dense) { mat.MulSparse(dst, s.Matrix, x) }

// T returns the transpose.
func (s *Sparse) T() autodiff.Linear { return &Sparse{s.transpose, s.Matrix} }

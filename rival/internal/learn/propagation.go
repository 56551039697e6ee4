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
	if a == nil {
		return x
	}
	if o.tape == nil {
		o.tape = autodiff.NewTape()
	}
	o.tape.Reset()
	o.x, o.a = Variables(o.tape, x, a)
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
	_, dx, da = Gradients(Along(o.z, dz), o.x, o.a)
	return dx, da
}

// Sparse is a constant sparse matrix as a linear map on a tape.
type Sparse struct {
	Matrix    *mat.CSR
	transpose *Sparse // nil until it is needed
}

// Apply sets dst to the product of s and x.
func (s *Sparse) Apply(dst, x *mat.Dense) { mat.MulSparse(dst, s.Matrix, x) }

// T returns the transpose.
func (s *Sparse) T() autodiff.Linear {
	if s.transpose == nil {
		t, _, _ := s.Matrix.Transpose(context.Background())
		s.transpose = &Sparse{t, s}
	}
	return s.transpose
}

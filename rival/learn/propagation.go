package learn

import (
	"math"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
)

// Propagation computes Z′ = Â′ᴷX′ for a dense A′ and differentiates it:
//
//	Â′ = S(A′ + I)S with S_ii = (1 + Σ_j A′_ij)^-½.
//
// With A′ = I (nil) it is X′ itself.
type Propagation struct {
	// Hops is K, at least 0.
	Hops  int
	scale []float64
	p     mat.Dense   // Â′
	z     []mat.Dense // z[k] = Â′ᵏX′ for k > 0
	g, h  mat.Dense
	dp    mat.Dense
	da    mat.Dense
	part  mat.Dense
}

// Forward returns Z′. With no hops or no edges it is x.
func (o *Propagation) Forward(x, a *mat.Dense) *mat.Dense {
	if a == nil || o.Hops == 0 {
		return x
	}
	n := a.Rows
	o.scale = append(o.scale[:0], make([]float64, n)...)
	for i := range n {
		degree := 1.0
		for _, w := range a.Row(i) {
			degree += float64(w)
		}
		o.scale[i] = 1 / math.Sqrt(degree)
	}
	o.p.Reshape(n, n)
	for i := range n {
		row := o.p.Row(i)
		for j, w := range a.Row(i) {
			if i == j {
				w++
			}
			row[j] = float32(o.scale[i] * float64(w) * o.scale[j])
		}
	}
	if len(o.z) != o.Hops {
		o.z = make([]mat.Dense, o.Hops)
	}
	for k := range o.Hops {
		from := x
		if k > 0 {
			from = &o.z[k-1]
		}
		mat.Mul(&o.z[k], &o.p, from)
	}
	return &o.z[o.Hops-1]
}

// Backward returns the gradients by X′ and A′ of a function of Z′ whose gradient is dz. A′ is symmetric; da is the
// gradient by each of its entries. The results are memory of o or dz itself.
func (o *Propagation) Backward(x, a, dz *mat.Dense) (dx, da *mat.Dense) {
	if a == nil || o.Hops == 0 {
		if a != nil {
			o.da.Reshape(a.Rows, a.Rows)
			clear(o.da.Data)
			return dz, &o.da
		}
		return dz, nil
	}
	n := a.Rows
	o.dp.Reshape(n, n)
	clear(o.dp.Data)
	g, next, other := dz, &o.g, &o.h
	for k := o.Hops - 1; k >= 0; k-- {
		from := x
		if k > 0 {
			from = &o.z[k-1]
		}
		mat.MulTB(&o.part, g, from)
		kernel.Add(o.dp.Data, o.dp.Data, o.part.Data)
		mat.Mul(next, &o.p, g) // Â′ is symmetric
		g, next, other = next, other, next
	}
	// Through S: with r_i the degree of node i, ∂s_i/∂r_i = −s_i³/2, and s_i·(A′+I)_ij·s_j = p_ij.
	o.da.Reshape(n, n)
	for i := range n {
		var along float64 // Σ_j (dP_ij + dP_ji)·p_ij = s_i·∂/∂s_i
		for j, p := range o.p.Row(i) {
			along += float64(p) * (float64(o.dp.Row(i)[j]) + float64(o.dp.Row(j)[i]))
		}
		degree := -along * o.scale[i] * o.scale[i] / 2
		for j := range n {
			o.da.Row(i)[j] = float32(o.scale[i]*o.scale[j]*float64(o.dp.Row(i)[j]) + degree)
		}
	}
	return g, &o.da
}

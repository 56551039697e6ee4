// Package ntk computes the neural tangent kernel of a two-layer network.
package ntk

import (
	"math"

	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Norms returns the Euclidean norm of each row of x.
func Norms(x *mat.Dense) []float32 {
	n := make([]float32, x.Rows)
	for i := range n {
		var sum float64
		for _, v := range x.Row(i) {
			sum += float64(v) * float64(v)
		}
		n[i] = float32(math.Sqrt(sum))
	}
	return n
}

// Kernel turns the inner products ⟨a_i, b_j⟩ in k into the neural tangent kernel of a two-layer ReLU network of
// infinite width, in place, given the lengths of the a_i and the b_j (Norms):
//
//	k_ij = ‖a_i‖‖b_j‖ (sin θ + 2(π−θ) cos θ)/π,  θ the angle between a_i and b_j.
//
// It is the sum of the kernels of both layers: ‖a‖‖b‖(sin θ + (π−θ) cos θ)/π from training the second layer, the
// arc-cosine kernel of degree 1 (Cho and Saul 2009), and ‖a‖‖b‖(π−θ) cos θ/π from training the first (Jacot et al.
// 2018). With propagation on both sides it is the kernel of a GCN (Du et al. 2019). A length of 0 gives 0.
func Kernel(k *mat.Dense, a, b []float32) {
	parallel.For(k.Rows, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := k.Row(i)
			for j, dot := range row {
				size := float64(a[i]) * float64(b[j])
				if size == 0 {
					row[j] = 0
					continue
				}
				cos := max(-1, min(1, float64(dot)/size))
				row[j] = float32(size * (math.Sqrt(1-cos*cos) + 2*(math.Pi-arccos(cos))*cos) / math.Pi)
			}
		}
	})
}

// arccos returns the angle whose cosine is x, in [−1, 1], with an error of at most 2·10⁻⁸, which is below the rounding
// of float32 (Abramowitz and Stegun 1964, 4.4.46). math.Acos took most of the time of Kernel.
func arccos(x float64) float64 {
	a := math.Abs(x)
	series := -0.0012624911
	for _, c := range [...]float64{
		0.0066700901, -0.0170881256, 0.0308918810, -0.0501743046, 0.0889789874, -0.2145988016, 1.5707963050,
	} {
		series = series*a + c
	}
	angle := math.Sqrt(1-a) * series
	if x < 0 {
		return math.Pi - angle
	}
	return angle
}

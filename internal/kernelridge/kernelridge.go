// Package kernelridge solves kernel ridge regression in closed form, and computes the kernel of a wide two-layer
// network.
//
// Given n examples with kernel matrix K and targets Y (n×c), the regression with ridge λ is
//
//	A = (K + λ·κ·w̄·W⁻¹)⁻¹ Y,
//
// where κ is the mean of K's diagonal, W holds the weights of the examples in the squared loss, and w̄ is their mean.
// The prediction for other points is K*·A, where K* is the kernel between them and the examples (Saunders et al. 1998).
package kernelridge

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Regression holds the examples of a regression.
type Regression struct {
	// Kernel is K, n×n.
	Kernel *factor.Symmetric
	// Y is n×c.
	Y *mat.Dense
	// Weights are n numbers above 0. nil gives all examples the same weight.
	Weights []float32
	// Single computes in float32, which is many times as fast for large n, and in float64 only if that fails.
	Single bool
}

// Solve returns A, n×c, for a ridge λ ≥ 0. It fails if K + λ·κ·w̄·W⁻¹ is not positive definite: K is 0, or λ is too
// small for rounding. Solve gives the same bits for any number of threads, and costs n³/3 + n²·c operations.
func (r Regression) Solve(ctx context.Context, ridge float64) (*mat.Dense, error) {
	n := r.Kernel.N
	if r.Y.Rows != n || r.Weights != nil && len(r.Weights) != n {
		panic(fmt.Sprintf("kernelridge: kernel %d×%d, targets %d×%d, %d weights", n, n, r.Y.Rows, r.Y.Cols, len(r.Weights)))
	}
	weight := func(i int) float64 {
		if r.Weights == nil {
			return 1
		}
		return float64(r.Weights[i])
	}
	var diagonal, total float64
	for i := range n {
		diagonal += r.Kernel.Data[i*n+i] / float64(n)
		total += weight(i)
	}
	shifted := factor.NewSymmetric(n)
	copy(shifted.Data, r.Kernel.Data)
	for i := range n {
		shifted.Data[i*n+i] += ridge * diagonal * total / (float64(n) * weight(i))
	}
	if r.Single {
		a, err := shifted.SolveSingle(ctx, r.Y)
		if notPositive := (factor.NotPositive{}); !errors.As(err, &notPositive) {
			return a, err
		}
	}
	cholesky, err := shifted.Cholesky(ctx)
	if notPositive := (factor.NotPositive{}); errors.As(err, &notPositive) {
		return nil, fmt.Errorf("ridge %v: %w", ridge, err)
	} else if err != nil {
		return nil, err
	}
	return cholesky.SolveDense(ctx, r.Y)
}

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

// Wide turns the inner products ⟨a_i, b_j⟩ in k into the neural tangent kernel of a two-layer ReLU network of infinite
// width, in place, given the lengths of the a_i and the b_j (Norms):
//
//	k_ij = ‖a_i‖‖b_j‖ (sin θ + 2(π−θ) cos θ)/π,  θ the angle between a_i and b_j.
//
// It is the sum of the kernels of both layers: ‖a‖‖b‖(sin θ + (π−θ) cos θ)/π from training the second layer, the
// arc-cosine kernel of degree 1 (Cho and Saul 2009), and ‖a‖‖b‖(π−θ) cos θ/π from training the first (Jacot et al.
// 2018). With propagation on both sides it is the kernel of a GCN (Du et al. 2019). A length of 0 gives 0.
func Wide(k *mat.Dense, a, b []float32) {
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
// of float32 (Abramowitz and Stegun 1964, 4.4.46). math.Acos took most of the time of Wide.
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

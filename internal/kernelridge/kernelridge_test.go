package kernelridge_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/kernelridge"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// random returns a matrix of standard normal numbers.
func random(rows, cols int, seed uint64) *mat.Dense {
	return mattest.Normal(rows, cols, rand.New(rand.NewPCG(seed, 1)))
}

// TestSolveMeetsItsEquation checks that (K + λκw̄W⁻¹)A = Y, in both precisions.
func TestSolveMeetsItsEquation(t *testing.T) {
	const n, c, ridge = 9, 3, 0.3
	x, y := random(n, 5, 1), random(n, c, 2)
	kernel := mattest.Must(factor.GramRows(t.Context(), x))
	weighted := []float32{1, 2, 3, 1, 2, 3, 1, 2, 3}
	regressions := []kernelridge.Regression{
		{Kernel: kernel, Y: y},
		{Kernel: kernel, Y: y, Weights: weighted},
		{Kernel: kernel, Y: y, Weights: weighted, Single: true},
	}
	for _, r := range regressions {
		weights := r.Weights
		a := mattest.Must(r.Solve(t.Context(), ridge))
		mean := 1.0
		if weights != nil {
			mean = 2
		}
		for i := range n {
			shift := ridge * kernel.Trace() / n
			if weights != nil {
				shift *= mean / float64(weights[i])
			}
			for j := range c {
				sum := shift * float64(a.Row(i)[j])
				for k := range n {
					sum += kernel.Row(i)[k] * float64(a.Row(k)[j])
				}
				if math.Abs(sum-float64(y.Row(i)[j])) > 1e-4 { // a is rounded to float32
					t.Errorf("weights %v, single %v: row %d column %d: %v, want %v", weights, r.Single, i, j, sum, y.Row(i)[j])
				}
			}
		}
	}
}

// TestSolveRefusesAZeroKernel checks that the error of the factorisation is returned.
func TestSolveRefusesAZeroKernel(t *testing.T) {
	for _, single := range []bool{false, true} {
		r := kernelridge.Regression{Kernel: factor.NewSymmetric(3), Y: random(3, 2, 1), Single: single}
		_, err := r.Solve(t.Context(), 1)
		if not := (factor.NotPositive{}); !errors.As(err, &not) {
			t.Errorf("single %v: error %v, want a factor.NotPositive", single, err)
		}
	}
}

// TestSolveStops checks that the error of a cancelled context is returned as it is.
func TestSolveStops(t *testing.T) {
	kernel := mattest.Must(factor.GramRows(t.Context(), random(3, 5, 1)))
	_, err := kernelridge.Regression{Kernel: kernel, Y: random(3, 2, 2)}.Solve(mattest.Cancelled(t), 1)
	mattest.Equal(t, err, context.Canceled, "error")
}

// TestWideHasItsAngle compares the kernel of unit vectors at all angles with its formula.
func TestWideHasItsAngle(t *testing.T) {
	for k := range 1001 {
		cos := float32(k)/500 - 1
		got := &mat.Dense{Rows: 1, Cols: 1, Data: []float32{cos}}
		kernelridge.Wide(got, []float32{1}, []float32{1})
		angle := math.Acos(float64(cos))
		want := (math.Sin(angle) + 2*(math.Pi-angle)*float64(cos)) / math.Pi
		if d := math.Abs(float64(got.Data[0]) - want); !(d < 2e-7) {
			t.Errorf("cosine %v: %v, want %v", cos, got.Data[0], want)
		}
	}
}

// TestWideAgreesWithRandomNetworks compares the kernel with the inner products of the gradients of a wide network, f(x)
// = Σ_h v_h·relu(w_h·x)·√(2/m), at random weights. With 200,000 units the error is about 1%.
func TestWideAgreesWithRandomNetworks(t *testing.T) {
	const units, d = 200_000, 4
	x := random(3, d, 7)
	got := new(mat.Dense)
	mat.MulTB(got, x, x)
	norms := kernelridge.Norms(x)
	kernelridge.Wide(got, norms, norms)
	src := rand.New(rand.NewPCG(1, 2))
	var want [3][3]float64
	for range units {
		var pre, active [3]float64
		var w [d]float64
		for j := range w {
			w[j] = src.NormFloat64()
		}
		for i := range pre {
			for j, v := range x.Row(i) {
				pre[i] += w[j] * float64(v)
			}
			if pre[i] > 0 {
				active[i] = 1
			}
		}
		for a := range want {
			for b := range want {
				var dot float64
				for j, v := range x.Row(a) {
					dot += float64(v) * float64(x.Row(b)[j])
				}
				both := active[a] * active[b]
				want[a][b] += 2 * both * (pre[a]*pre[b] + dot) / units // gradients of v, and of w with E[v²] = 1
			}
		}
	}
	for a := range want {
		for b := range want {
			if scale := float64(norms[a] * norms[b]); math.Abs(float64(got.Row(a)[b])-want[a][b]) > 0.03*scale {
				t.Errorf("kernel of %d and %d is %v, networks give %v", a, b, got.Row(a)[b], want[a][b])
			}
		}
	}
	zero := mat.NewDense(1, 3)
	if kernelridge.Wide(zero, []float32{0}, norms); zero.Data[0] != 0 {
		t.Errorf("kernel with a zero row is %v, want 0", zero.Data[0])
	}
}

package ntk_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/ntk"
	"github.com/graph-condensation/cgc/mat"
)

// TestAngle compares the kernel of unit vectors at all angles with its formula.
func TestAngle(t *testing.T) {
	for k := range 1001 {
		cos := float32(k)/500 - 1
		got := &mat.Dense{Rows: 1, Cols: 1, Data: []float32{cos}}
		ntk.Kernel(got, []float32{1}, []float32{1})
		angle := math.Acos(float64(cos))
		want := (math.Sin(angle) + 2*(math.Pi-angle)*float64(cos)) / math.Pi
		if d := math.Abs(float64(got.Data[0]) - want); !(d < 2e-7) {
			t.Errorf("cosine %v: %v, want %v", cos, got.Data[0], want)
		}
	}
}

// TestAgreesWithRandomNetworks compares the kernel with the inner products of the gradients of a wide network, f(x)
// = Σ_h v_h·relu(w_h·x)·√(2/m), at random weights. With 200,000 units the error is about 1%.
func TestAgreesWithRandomNetworks(t *testing.T) {
	const units, d = 200_000, 4
	x := mattest.Normal(3, d, rand.New(rand.NewPCG(7, 1)))
	got := new(mat.Dense)
	mat.MulTB(got, x, x)
	norms := ntk.Norms(x)
	ntk.Kernel(got, norms, norms)
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
	if ntk.Kernel(zero, []float32{0}, norms); zero.Data[0] != 0 {
		t.Errorf("kernel with a zero row is %v, want 0", zero.Data[0])
	}
}

package gnn_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// words returns dense bags of words with about each ones in each row.
func words(n, d, each int, random *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, d)
	for i := range n {
		for range each {
			x.Row(i)[random.IntN(d)] = 1
		}
	}
	return x
}

// TestMostlyZeros checks that a wide dense X that is mostly zeros is multiplied as a sparse matrix. Dropout must be
// that of the dense X, and products must be equal up to rounding.
func TestMostlyZeros(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	x := words(300, 600, 12, random)
	for _, c := range []struct {
		x      mat.Matrix
		sparse bool
	}{{x, true}, {words(300, 500, 12, random), false}, {words(300, 600, 60, random), false}, {x.Sparse(), true}} {
		if _, is := gnn.Sparser(c.x).(*mat.CSR); is != c.sparse {
			rows, cols := c.x.Dims()
			t.Errorf("%T %d×%d is sparse: %v, want %v", c.x, rows, cols, is, c.sparse)
		}
	}
	in := mattest.Must(gnn.NewInput(t.Context(), ring(300), x))
	w := mattest.Normal(600, 16, random)
	for _, p := range []float64{0, 0.5} {
		config := gnn.Defaults()
		config.InputDropout = p
		tape := autodiff.NewTape()
		dense := gnn.WithDropout(gnn.VariableInput(nil, tape.Var(x)), config, rand.NewPCG(5, 6)).Times(tape.Var(w)).Value
		got := gnn.WithDropout(in, config, rand.NewPCG(5, 6)).Times(tape.Var(w)).Value
		for k, v := range dense.Data {
			// Sums of at most 24 products below 10, added in different orders.
			if diff := math.Abs(float64(v - got.Data[k])); diff > 24*10*0x1p-23 {
				t.Fatalf("dropout %v: element %d is %v, want %v", p, k, got.Data[k], v)
			}
		}
	}
}

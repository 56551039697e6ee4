package factor_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// Gram matrices of integers between −8 and 8 are exact, so that the comparison needs no tolerance.
func TestGram(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 0))
	for _, shape := range [][2]int{{1, 1}, {4, 0}, {5, 3}, {3, 5}, {1000, 12}, {12, 1000}, {700, 7}} {
		x := mat.NewDense(shape[0], shape[1])
		for i := range x.Data {
			x.Data[i] = float32(random.IntN(17) - 8)
		}
		dual := mattest.Must(factor.GramRows(t.Context(), x))
		for _, c := range []struct {
			got *factor.Symmetric
			of  *mat.Dense
		}{{gram(t, x), x}, {dual, x.T()}} {
			for i := range c.of.Cols {
				for j := range c.of.Cols {
					want := 0.0
					for r := range c.of.Rows {
						want += float64(c.of.Row(r)[i]) * float64(c.of.Row(r)[j])
					}
					if got := c.got.Row(i)[j]; got != want {
						t.Fatalf("%d×%d: entry (%d, %d) = %v, want %v", shape[0], shape[1], i, j, got, want)
					}
				}
			}
		}
	}
}

func TestEigen(t *testing.T) {
	s := gram(t, mattest.Normal(40, 9, rand.New(rand.NewPCG(4, 0))))
	before := slices.Clone(s.Data)
	values, vectors, err := s.Eigen(t.Context())
	mattest.OK(t, err)
	for i := range 9 {
		v := vectors[i*9 : (i+1)*9]
		if i > 0 && values[i] > values[i-1] {
			t.Errorf("eigenvalues %v do not descend", values)
		}
		for j := range 9 {
			var sv float64
			for k := range 9 {
				sv += s.Row(j)[k] * v[k]
			}
			if math.Abs(sv-values[i]*v[j]) > 1e-10*values[0] { // rounding of float64 in 9×9 matrices
				t.Errorf("component %d of s·v − λv = %v for λ = %v", j, sv-values[i]*v[j], values[i])
			}
		}
	}
	if !slices.Equal(s.Data, before) {
		t.Error("Eigen changes the matrix")
	}
}

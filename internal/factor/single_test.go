package factor_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// The solution agrees with that of float64 for orders on both sides of the block boundaries, although rows differ a lot
// in size, and has the same bits for any number of threads.
func TestSolveSingle(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 0))
	for _, n := range []int{1, 2, 127, 128, 129, 300, 520} {
		const cols = 7
		s := gram(t, mattest.Normal(n+20, n, random))
		for i := range n {
			s.Row(i)[i] += float64(n)
		}
		for i := range n { // DsD, with D from 1e-4 to 1e4
			for j := range n {
				s.Row(i)[j] *= math.Pow(10, float64(i%9-4)+float64(j%9-4))
			}
		}
		b := mattest.Normal(n, cols, random)
		want := mattest.Must(mattest.Must(s.Cholesky(t.Context())).SolveDense(t.Context(), b))
		got := mattest.IgnoresThreads(t, func() *mat.Dense { return mattest.Must(s.SolveSingle(t.Context(), b)) })
		for i := range n {
			scale := math.Pow(10, -float64(i%9-4)) * 1e4 / float64(n)
			for j, v := range got.Row(i) {
				if diff := math.Abs(float64(v - want.Row(i)[j])); !(diff <= 1e-5*scale) {
					t.Fatalf("order %d: element (%d, %d) is %v, in float64 %v", n, i, j, v, want.Row(i)[j])
				}
			}
		}
	}
	empty := mattest.Must(factor.NewSymmetric(0).SolveSingle(t.Context(), mat.NewDense(0, 3)))
	if empty.Rows != 0 || empty.Cols != 3 {
		t.Errorf("the solution of order 0 is %d×%d", empty.Rows, empty.Cols)
	}
}

// The error names the first row whose pivot is not positive, and a cancelled context stops the work.
func TestSolveSingleFails(t *testing.T) {
	const n, wrong = 200, 150
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		s := factor.NewSymmetric(n)
		for i := range n {
			s.Row(i)[i] = 1
		}
		s.Row(wrong)[wrong] = bad
		_, err := s.SolveSingle(t.Context(), mat.NewDense(n, 1))
		if not := (factor.NotPositive{}); !errors.As(err, &not) || not.N != n || not.Leading != wrong {
			t.Errorf("pivot %v: error %v", bad, err)
		}
	}
	s := factor.NewSymmetric(n)
	for i := range n {
		s.Row(i)[i] = 1
	}
	s.Row(3)[wrong], s.Row(wrong)[3] = 1, 1 // the rows are equal where it counts, so the pivot is 0
	_, err := s.SolveSingle(t.Context(), mat.NewDense(n, 1))
	if not := (factor.NotPositive{}); !errors.As(err, &not) || not.Leading != wrong {
		t.Errorf("singular matrix: error %v", err)
	}
	s.Row(3)[wrong], s.Row(wrong)[3] = 0, 0
	if _, err := s.SolveSingle(mattest.Cancelled(t), mat.NewDense(n, 1)); err != context.Canceled {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

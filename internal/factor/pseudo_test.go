package factor_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// normal returns n normally distributed numbers.
func normal(n int, random *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = random.NormFloat64()
	}
	return x
}

// deficient returns an n×n positive semi-definite matrix of the given rank, whose eigenvalues span a factor of spread.
func deficient(n, rank int, spread float64, random *rand.Rand) *factor.Symmetric {
	s, f := factor.NewSymmetric(n), make([]float64, n*rank)
	for i := range n {
		for j := range rank {
			f[i*rank+j] = random.NormFloat64() * math.Pow(spread, -0.5*float64(j)/float64(max(1, rank-1)))
		}
	}
	for i := range n {
		for j := range i + 1 {
			sum := 0.0
			for k := range rank {
				sum += f[i*rank+k] * f[j*rank+k]
			}
			s.Data[i*n+j], s.Data[j*n+i] = sum, sum
		}
	}
	return s
}

// TestPseudoSolve checks that each of the three methods finds S⁺B: S(SX − B) = 0, and X is in the range of S, so that
// S⁺(SX) = X. The largest matrices have two chunks of rows.
func TestPseudoSolve(t *testing.T) {
	const cut, cols = 1e-7, 3
	random := rand.New(rand.NewPCG(31, 0))
	for _, c := range []struct{ n, rank int }{{1, 1}, {40, 40}, {40, 7}, {5, 0}, {530, 200}, {100, 80}, {530, 0}} {
		s := deficient(c.n, c.rank, 100, random)
		b := normal(c.n*cols, random)
		solve := func(b []float64) factor.Solution {
			return mattest.Must(s.PseudoSolveUpTo(t.Context(), b, cols, cut, 40))
		}
		got := solve(b)
		mattest.Equal(t, got.Rank, c.rank, "order %d: rank", c.n)
		if got.Condition < 1 || c.rank > 1 && got.Condition < 10 || got.Condition > 1e7 {
			t.Errorf("order %d, rank %d: condition %g", c.n, c.rank, got.Condition)
		}
		product := times(s, got.X, cols)
		again := solve(product)
		if e := apart(again.X, got.X); e > 1e-8 { // the condition is about 10³ to 10⁵, and it is applied twice
			t.Errorf("order %d, rank %d: S⁺SX differs from X by %g of it", c.n, c.rank, e)
		}
		floats.Sub(product, b)
		if off := floats.Norm(times(s, product, cols), 2); off > 1e-7*s.Trace()*floats.Norm(b, 2) {
			t.Errorf("order %d, rank %d: S(SX − B) has the norm %g", c.n, c.rank, off)
		}
	}
}

// times returns s·x for x of cols columns.
func times(s *factor.Symmetric, x []float64, cols int) []float64 {
	y := make([]float64, len(x))
	for i := range s.N {
		for j, v := range s.Row(i) {
			for c := range cols {
				y[i*cols+c] += v * x[j*cols+c]
			}
		}
	}
	return y
}

// apart returns ‖x − y‖/‖y‖, or 0 if both are zero.
func apart(x, y []float64) float64 {
	off := floats.Distance(x, y, 2)
	if off == 0 {
		return 0
	}
	return off / floats.Norm(y, 2)
}

// TestPseudoSolveWaysAgree checks that eigenvectors and the pivoted factor give the same solution, rank and condition.
func TestPseudoSolveWaysAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(32, 0))
	const n, rank = 300, 30
	s := deficient(n, rank, 10, random)
	b := normal(n, random)
	byEigen := mattest.Must(s.PseudoSolveUpTo(t.Context(), b, 1, 1e-7, n))
	byPivots := mattest.Must(s.PseudoSolveUpTo(t.Context(), b, 1, 1e-7, n-1))
	if byEigen.Rank != rank || byPivots.Rank != rank {
		t.Errorf("ranks %d and %d, want %d", byEigen.Rank, byPivots.Rank, rank)
	}
	if e := apart(byPivots.X, byEigen.X); e > 1e-9 {
		t.Errorf("the ways differ by %g", e)
	}
	if r := byPivots.Condition / byEigen.Condition; r < 0.5 || r > 2 {
		t.Errorf("conditions %g and %g, want them within a factor of two", byEigen.Condition, byPivots.Condition)
	}
}

// If eigenvalues have no gap at the cut, no divisor is below the cut, so that ‖X‖ ≤ ‖B‖/(cut·tr S).
func TestPseudoSolveCutsSmallDirections(t *testing.T) {
	random := rand.New(rand.NewPCG(36, 0))
	for _, c := range []struct{ n, rank, eigenOrder int }{{200, 150, 200}, {260, 200, 0}} {
		const cut = 1e-5
		s := deficient(c.n, c.rank, 1e9, random)
		b := normal(c.n, random)
		got := mattest.Must(s.PseudoSolveUpTo(t.Context(), b, 1, cut, c.eigenOrder))
		if norm, bound := floats.Norm(got.X, 2), floats.Norm(b, 2)/(cut*s.Trace()); norm > bound {
			t.Errorf("order %d: X has the norm %g, want at most %g", c.n, norm, bound)
		}
		values := mattest.First(s.Eigen(t.Context()))
		most := values[0] / (cut * s.Trace()) // upper bound on the condition
		t.Logf("order %d: rank %d of %d, condition %g of at most %g", c.n, got.Rank, c.rank, got.Condition, most)
		if got.Rank < 20 || got.Rank >= c.rank || got.Condition > most {
			t.Errorf("order %d: rank %d of %d, condition %g, want at most %g", c.n, got.Rank, c.rank, got.Condition, most)
		}
	}
}

// The pivots of [[1, 1−e], [1−e, 1]] are 1 and about 2e, its eigenvalues 2−e and e: a pivot above the cut may belong to
// an eigenvalue below it.
func TestPseudoSolveCountsEigenvalues(t *testing.T) {
	const n, cut, e = 641, 1e-5, 5e-3 // the cut is at 6.4e-3
	s := factor.NewSymmetric(n)
	for i := range n {
		s.Row(i)[i] = 1
	}
	s.Row(7)[n-1], s.Row(n - 1)[7] = 1-e, 1-e
	b := make([]float64, n)
	b[7], b[n-1] = 1, -1 // the eigenvector of e
	got := mattest.Must(s.PseudoSolve(t.Context(), b, 1, cut))
	if got.Rank != n-1 || math.Abs(got.X[7]) > 1 || math.Abs(got.X[n-1]) > 1 {
		t.Errorf("rank %d, components %v and %v; want %d and at most 1", got.Rank, got.X[7], got.X[n-1], n-1)
	}
}

func TestPseudoSolveIgnoresThreads(t *testing.T) {
	random := rand.New(rand.NewPCG(33, 0))
	s := deficient(530, 100, 100, random)
	b := normal(530*5, random)
	mattest.IgnoresThreads(t, func() factor.Solution {
		return mattest.Must(s.PseudoSolveUpTo(t.Context(), b, 5, 1e-7, 500))
	})
}

// Values that are not finite are an error, not a panic. An ended context stops each method.
func TestPseudoSolveRefuses(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		s := factor.NewSymmetric(3)
		s.Data[4] = bad
		if _, err := s.PseudoSolve(t.Context(), make([]float64, 3), 1, 1e-7); err == nil {
			t.Errorf("%v: no error", bad)
		}
		if _, _, err := s.Eigen(t.Context()); err == nil {
			t.Errorf("eigenvalues of %v: no error", bad)
		}
	}
	random := rand.New(rand.NewPCG(34, 0))
	for _, c := range []struct{ n, rank int }{{100, 100}, {100, 20}, {200, 20}} {
		s := deficient(c.n, c.rank, 10, random)
		ctx := mattest.Cancelled(t)
		if _, err := s.PseudoSolveUpTo(ctx, make([]float64, c.n), 1, 1e-7, 100); !errors.Is(err, context.Canceled) {
			t.Errorf("order %d, rank %d: error %v, want %v", c.n, c.rank, err, context.Canceled)
		}
	}
}

// Eigen returns when its context ends, although the library call goes on.
func TestEigenStops(t *testing.T) {
	s := deficient(300, 300, 10, rand.New(rand.NewPCG(35, 0)))
	ctx := mattest.Cancelled(t)
	_, _, err := s.Eigen(&endsLate{Context: ctx})
	mattest.WantIs(t, err, context.Canceled)
}

// endsLate is a context that has ended, but reports this only from the second call of Err on.
type endsLate struct {
	context.Context
	looks atomic.Int32
}

// Err returns nil at the first call.
func (c *endsLate) Err() error {
	if c.looks.Add(1) == 1 {
		return nil
	}
	return c.Context.Err()
}

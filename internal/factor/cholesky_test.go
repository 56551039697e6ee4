package factor_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gonum "gonum.org/v1/gonum/mat"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// A matrix given block by block has the same Gram matrix as one in memory, bit for bit, for any number of threads.
func TestGramBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 0))
	// One chunk, two chunks, and more chunks than are summed in float32.
	for _, shape := range [][2]int{{1, 1}, {255, 7}, {257, 40}, {150, 333}, {9000, 33}} {
		x := mattest.Normal(shape[0], shape[1], random)
		want := mattest.IgnoresThreads(t, func() *factor.Symmetric { return gram(t, x) })
		mattest.AtThreads(func(threads int) {
			got := mattest.Must(factor.GramBlocks(t.Context(), x.Rows, x.Cols, func(dst *mat.Dense, lo int) {
				copy(dst.Data, x.Data[lo*x.Cols:(lo+dst.Rows)*x.Cols])
			}))
			if !slices.Equal(got.Data, want.Data) {
				t.Errorf("%d×%d, %d threads: blocks differ from the whole", x.Rows, x.Cols, threads)
			}
		})
		// The comparison is with float64: about 270 roundings of 6e-8 add up to 1e-6 if they are random.
		for i := range x.Cols {
			for j := range x.Cols {
				sum, scale := 0.0, 0.0
				for r := range x.Rows {
					product := float64(x.Row(r)[i]) * float64(x.Row(r)[j])
					sum += product
					scale += math.Abs(product)
				}
				if diff := math.Abs(sum - want.Row(i)[j]); !(diff <= 2e-6*scale) {
					t.Fatalf("%d×%d: entry (%d, %d) is off by %g of %g", x.Rows, x.Cols, i, j, diff, scale)
				}
			}
		}
	}
}

// The factor reproduces the solution for orders on both sides of the block boundaries, with the same bits for any
// number of threads.
func TestCholeskySolves(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 0))
	for _, n := range []int{1, 2, 63, 64, 65, 128, 129, 200} {
		const cols = 19
		s := gram(t, mattest.Normal(n+20, n, random))
		x := normal(n*cols, random)
		b := times(s, x, cols)
		got := mattest.IgnoresThreads(t, func() []float64 {
			return mattest.Must(mattest.Must(s.Cholesky(t.Context())).Solve(t.Context(), b, cols))
		})
		for i := range got {
			if math.Abs(got[i]-x[i]) > 1e-9 { // condition numbers up to about 10⁵
				t.Fatalf("order %d: component %d is %v, want %v", n, i, got[i], x[i])
			}
		}
		cholesky := mattest.Must(s.Cholesky(t.Context()))
		narrow := factor.Rounded(b, cols)
		want := factor.Rounded(mattest.Must(cholesky.Solve(t.Context(), mattest.Wide(narrow), cols)), cols)
		if got := mattest.Must(cholesky.SolveDense(t.Context(), narrow)); !slices.Equal(got.Data, want.Data) {
			t.Errorf("order %d: SolveDense differs from Solve, rounded", n)
		}
	}
}

// A pivot that is not positive is found wherever it is.
func TestCholeskyFindsNegativePivots(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 0))
	const n = 150
	for _, at := range []int{0, 63, 64, 127, 128, 149} {
		for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
			s := gram(t, mattest.Normal(2*n, n, random))
			s.Data[at*n+at] = bad
			var not factor.NotPositive
			if _, err := s.Cholesky(t.Context()); !errors.As(err, &not) || not.N != n {
				t.Errorf("%v on the diagonal at %d: error %v, want NotPositive of order %d", bad, at, err, n)
			}
		}
	}
}

// The inverse and the pivots agree with gonum's factor U.
func TestCholeskyInverse(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 0))
	for _, n := range []int{1, 2, 63, 65, 130} {
		s := gram(t, mattest.Normal(n+20, n, random))
		var reference gonum.Cholesky
		var u gonum.TriDense
		var product gonum.Dense
		if !reference.Factorize(gonum.NewSymDense(n, s.Data)) {
			t.Fatalf("order %d: not positive", n)
		}
		reference.UTo(&u)
		cholesky := mattest.Must(s.Cholesky(t.Context()))
		product.Mul(&u, gonum.NewDense(n, n, cholesky.Inverse()))
		least := math.Inf(1)
		for i := range n {
			least = min(least, u.At(i, i)*u.At(i, i))
			product.Set(i, i, product.At(i, i)-1)
		}
		if off := gonum.Norm(&product, 2); off > 1e-9 { // condition numbers up to about 10⁵
			t.Fatalf("order %d: U·U⁻¹ differs from I by %g", n, off)
		}
		mattest.Near(t, cholesky.LeastPivot(), least, 1e-9*least, "order %d: least pivot", n)
	}
	if none := mattest.Must(factor.NewSymmetric(0).Cholesky(t.Context())); !math.IsInf(none.LeastPivot(), 1) ||
		len(none.Inverse()) > 0 {
		t.Errorf("least pivot %g and inverse %v of an empty matrix", none.LeastPivot(), none.Inverse())
	}
}

func gram(t testing.TB, x *mat.Dense) *factor.Symmetric {
	t.Helper()
	return mattest.Must(factor.Gram(t.Context(), x))
}

// rate reports billions of additions and multiplications per second.
func rate(b *testing.B, operations float64) {
	b.ReportMetric(operations*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{100, 602, 2000} {
		s := gram(b, mattest.Normal(n+100, n, rand.New(rand.NewPCG(1, 0))))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				mattest.Must(s.Cholesky(b.Context()))
			}
			rate(b, float64(n)*float64(n)*float64(n)/3)
		})
	}
}

package factor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Solution is the result of PseudoSolve for a positive semi-definite S.
type Solution struct {
	// X is S⁺B, row-major with as many columns as B.
	X []float64
	// Rank is the number of directions of S that do not count as zero.
	Rank int
	// Condition is λ_max/λ_min of S over these directions, at least 1 and accurate within a factor of two; 1 for rank 0.
	Condition float64
}

// Rounded returns values, row-major with cols columns, as a matrix of float32.
func Rounded(values []float64, cols int) *mat.Dense {
	m := mat.NewDense(len(values)/max(1, cols), cols)
	for i, v := range values {
		m.Data[i] = float32(v)
	}
	return m
}

// eigenOrder is the largest order for which the pseudo-inverse is computed from eigenvectors. The decomposition takes
// 0.6 seconds at this order, and up to 10 seconds at order 1024. A pivoted Cholesky factorisation takes a fifth to a
// fiftieth of that time.
const eigenOrder = 640

// PseudoSolve returns S⁺B for a positive semi-definite S = s, n×n, and B = b of n rows and cols columns, row-major: the
// X of smallest norm among those that minimise ‖SX − B‖. Directions in which S is below cut·tr S count as zero, with 0
// < cut < 1/n.
//
// If S − cut·tr S·I is positive definite, so is S, and a Cholesky factor solves the system. Otherwise
//
//	S⁺B = Σ_i v_i·(v_iᵀB)/λ_i over the eigenvalues λ_i > cut·tr S       for n ≤ 640,
//	S⁺B ≈ PL(LᵀL)⁻²LᵀPᵀB with PᵀSP ≈ LLᵀ by complete pivoting           beyond.
//
// Pivoting stops when no diagonal entry of the rest exceeds cut·tr S. The method then keeps as many columns of L as
// possible such that every eigenvalue of LᵀL is above cut·tr S. Both methods agree if the eigenvalues have a gap at the
// cut. They cost about 9n³ and 3n³ operations; the second consists almost entirely of matrix products.
//
// The result is the same for any number of threads. The error says that s has an entry that is not finite, or is
// ctx.Err(). PseudoSolve returns soon after ctx ends.
func (s *Symmetric) PseudoSolve(ctx context.Context, b []float64, cols int, cut float64) (Solution, error) {
	return s.pseudoSolve(ctx, b, cols, cut, eigenOrder)
}

// pseudoSolve is PseudoSolve with eigenvectors up to order eigenOrder. This parameter lets tests compare both methods
// on small matrices.
func (s *Symmetric) pseudoSolve(
	ctx context.Context, b []float64, cols int, cut float64, eigenOrder int,
) (Solution, error) {
	if err := s.finite(); err != nil {
		return Solution{}, err
	}
	n, threshold := s.N, cut*s.Trace()
	factor, err := s.choleskyAbove(ctx, threshold)
	if err == nil {
		x, err := factor.Solve(ctx, b, cols)
		return Solution{x, n, condition(s, factor)}, err
	}
	if not := (NotPositive{}); !errors.As(err, &not) {
		return Solution{}, err
	}
	if n <= eigenOrder {
		return s.pseudoByEigen(ctx, b, cols, threshold)
	}
	return s.pseudoByPivots(ctx, b, cols, threshold)
}

// finite returns an error if an entry of s is not finite.
func (s *Symmetric) finite() error {
	for i, v := range s.Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("a symmetric matrix has %v in row %d, must have finite numbers", v, i/s.N)
		}
	}
	return nil
}

// choleskyAbove is Cholesky, but the error is NotPositive unless all eigenvalues of s are above threshold.
func (s *Symmetric) choleskyAbove(ctx context.Context, threshold float64) (*Cholesky, error) {
	shifted := NewSymmetric(s.N)
	copy(shifted.Data, s.Data)
	for i := range s.N {
		shifted.Data[i*s.N+i] -= threshold
	}
	if _, err := shifted.Cholesky(ctx); err != nil {
		return nil, err
	}
	return s.Cholesky(ctx)
}

func (s *Symmetric) pseudoByEigen(ctx context.Context, b []float64, cols int, threshold float64) (Solution, error) {
	n := s.N
	values, vectors, err := s.Eigen(ctx)
	if err != nil {
		return Solution{}, err
	}
	solution, rank := memory.Make[float64](n*cols), 0
	for rank < n && values[rank] > threshold {
		v := vectors[rank*n : (rank+1)*n]
		along := make([]float64, cols)
		for i, x := range v {
			for c, r := range b[i*cols : (i+1)*cols] {
				along[c] += x * r
			}
		}
		for i, x := range v {
			for c, a := range along {
				solution[i*cols+c] += x * a / values[rank]
			}
		}
		rank++
	}
	if rank == 0 {
		return Solution{solution, 0, 1}, nil
	}
	return Solution{solution, rank, values[0] / values[rank-1]}, nil
}

func (s *Symmetric) pseudoByPivots(ctx context.Context, b []float64, cols int, threshold float64) (Solution, error) {
	n := s.N
	l, order, r, err := s.pivoted(ctx, threshold)
	if err != nil {
		return Solution{}, err
	}
	inner, err := lowerGram(ctx, l, n, r)
	if err != nil {
		return Solution{}, err
	}
	factor, err := inner.choleskyAbove(ctx, threshold)
	if not := (NotPositive{}); errors.As(err, &not) {
		r = not.Leading
		inner = inner.leading(r)
		factor, err = inner.Cholesky(ctx)
	}
	if err != nil {
		return Solution{}, err
	}
	x := memory.Make[float64](n * cols)
	if r == 0 {
		return Solution{x, 0, 1}, nil
	}
	turned := memory.Make[float64](n * cols) // PᵀB, then L(LᵀL)⁻²LᵀPᵀB
	for at, i := range order {
		copy(turned[at*cols:(at+1)*cols], b[i*cols:(i+1)*cols])
	}
	small := make([]float64, r*cols)
	const strip = 64
	err = parallel.ForContext(ctx, r, strip, func(lo, hi int) { // rows of L before lo are zero in these columns
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, block(l, n, lo, lo, n-lo, hi-lo), block(turned, cols, lo, 0, n-lo, cols),
			0, block(small, cols, lo, 0, hi-lo, cols))
	})
	for range 2 {
		if err == nil {
			small, err = factor.Solve(ctx, small, cols)
		}
	}
	if err != nil {
		return Solution{}, err
	}
	err = parallel.ForContext(ctx, n, strip, func(lo, hi int) {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, block(l, n, lo, 0, hi-lo, r), block(small, cols, 0, 0, r, cols),
			0, block(turned, cols, lo, 0, hi-lo, cols))
	})
	for at, i := range order {
		copy(x[i*cols:(i+1)*cols], turned[at*cols:(at+1)*cols])
	}
	return Solution{x, r, condition(inner, factor)}, err
}

// leading returns the leading n×n block of s.
func (s *Symmetric) leading(n int) *Symmetric {
	block := NewSymmetric(n)
	for i := range n {
		copy(block.Row(i), s.Row(i))
	}
	return block
}

// conditionSteps is the number of steps of power iteration. From a random start of n numbers, the estimate of an
// eigenvalue is off by a factor of at most n^(1/24) or so: 1.5 at n = 10⁴.
const conditionSteps = 12

// condition returns λ_max/λ_min of s by power iteration with s and with its factor.
func condition(s *Symmetric, factor *Cholesky) float64 {
	n := s.N
	if n == 0 {
		return 1
	}
	const rowChunk = 128
	largest := growth(n, func(to, from blas64.Vector) {
		parallel.For(n, rowChunk, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				to.Data[i] = blas64.Dot(blas64.Vector{N: n, Inc: 1, Data: s.Row(i)}, from)
			}
		})
	})
	least := growth(n, func(to, from blas64.Vector) {
		blas64.Copy(from, to)
		blas64.Trsv(blas.Trans, factor.u, to)
		blas64.Trsv(blas.NoTrans, factor.u, to)
	})
	return max(1, largest*least)
}

// growth returns the factor by which a symmetric operator stretches a vector after conditionSteps applications.
func growth(n int, apply func(to, from blas64.Vector)) (factor float64) {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	from := blas64.Vector{N: n, Inc: 1, Data: make([]float64, n)}
	to := blas64.Vector{N: n, Inc: 1, Data: make([]float64, n)}
	for i := range from.Data {
		from.Data[i] = random.NormFloat64()
	}
	for range conditionSteps {
		blas64.Scal(1/blas64.Nrm2(from), from)
		apply(to, from)
		factor = blas64.Nrm2(to)
		if !(factor > 0) {
			return 0
		}
		from, to = to, from
	}
	return factor
}

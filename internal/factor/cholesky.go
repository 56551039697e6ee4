package factor

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// NotPositive is the error of a Cholesky factorisation of a matrix that is not positive definite to working precision.
type NotPositive struct {
	// N is the order of the matrix.
	N int
	// Leading is the order of the largest leading block that is positive definite.
	Leading int
}

// Error says that the matrix is not positive definite.
func (e NotPositive) Error() string {
	return fmt.Sprintf("the %d×%d matrix is not positive definite", e.N, e.N)
}

// Cholesky is the factorisation s = UᵀU of a positive definite matrix, U upper triangular.
type Cholesky struct{ u blas64.Triangular }

// choleskyBlock is the number of rows of U that are computed before the rest of the matrix is updated. The update is a
// matrix product of that depth. With 64 rows, the update takes nearly all of the time.
const choleskyBlock = 64

// Cholesky factors s and does not modify it. The cost is N³/3 multiplications.
//
// A pivot counts as positive if it exceeds N·2⁻⁵² times the diagonal entry that it comes from: below that, it
// may be the rounding error of a zero pivot. The error is a NotPositive or ctx.Err(). Cholesky returns soon after ctx
// ends.
//
// Rows of U are computed in blocks: first the triangle on the diagonal, then the part to the right of it, by
// substitution. The product of that part with itself is then subtracted from the rest. The result is the same for any
// number of threads.
func (s *Symmetric) Cholesky(ctx context.Context) (*Cholesky, error) {
	n := s.N
	u, least := memory.Make[float64](n*n), make([]float64, n)
	for i := range n {
		copy(u[i*n+i:(i+1)*n], s.Row(i)[i:])
		least[i] = float64(n) * 0x1p-52 * s.Row(i)[i]
	}
	for k := 0; k < n; k += choleskyBlock {
		end := min(k+choleskyBlock, n)
		if done := factorDiagonal(u, least, n, k, end); done < end {
			return nil, NotPositive{n, done}
		}
		parallel.For(n-end, choleskyBlock, func(lo, hi int) { substitute(u, n, k, end, end+lo, end+hi) })
		err := parallel.ForContext(ctx, n-end, choleskyBlock, func(lo, hi int) {
			lo, hi = end+lo, end+hi
			blas64.Gemm(blas.Trans, blas.NoTrans, -1,
				block(u, n, k, lo, end-k, hi-lo), block(u, n, k, lo, end-k, n-lo), 1, block(u, n, lo, lo, hi-lo, n-lo))
		})
		if err != nil {
			return nil, err
		}
	}
	return &Cholesky{blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: n, Stride: max(1, n), Data: u}}, nil
}

// block returns a rows×cols block of a row-major matrix with rows of the given length. It begins at (row, col).
func block(data []float64, length, row, col, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: length, Data: data[row*length+col:]}
}

// factorDiagonal replaces rows and columns k to end−1 of u with their factor. It returns end, or the first row whose
// pivot is not above both 0 and its limit in least.
func factorDiagonal(u, least []float64, n, k, end int) int {
	for i := k; i < end; i++ {
		pivot := u[i*n+i]
		if !(pivot > 0 && pivot > least[i]) || math.IsInf(pivot, 1) {
			return i
		}
		root := math.Sqrt(pivot)
		row := u[i*n+i : i*n+end]
		for j := range row {
			row[j] /= root
		}
		for j := i + 1; j < end; j++ {
			below, w := u[j*n+j:j*n+end], row[j-i]
			for c, v := range row[j-i:] {
				below[c] -= w * v
			}
		}
	}
	return end
}

// substitute multiplies columns lo to hi−1 of rows k to end−1 of u by U₁₁⁻ᵀ. U₁₁ is the triangle in columns k to end−1
// of these rows.
func substitute(u []float64, n, k, end, lo, hi int) {
	for i := k; i < end; i++ {
		row := u[i*n+lo : i*n+hi]
		for p := k; p < i; p++ {
			w := u[p*n+i]
			for c, v := range u[p*n+lo : p*n+hi] {
				row[c] -= w * v
			}
		}
		for c := range row {
			row[c] /= u[i*n+i]
		}
	}
}

// Solve returns s⁻¹·b for b of n rows and cols columns, row-major. It does not modify b. The only error is ctx.Err().
func (c *Cholesky) Solve(ctx context.Context, b []float64, cols int) ([]float64, error) {
	u, n := c.u, c.u.N
	x := append([]float64(nil), b...)
	if n == 0 {
		return x, ctx.Err()
	}
	const strip = 16 // columns that one task solves for
	err := parallel.ForContext(ctx, cols, strip, func(lo, hi int) {
		part := block(x, cols, 0, lo, n, hi-lo)
		blas64.Trsm(blas.Left, blas.Trans, 1, u, part)
		blas64.Trsm(blas.Left, blas.NoTrans, 1, u, part)
	})
	return x, err
}

// SolveDense is Solve for b in float32, and rounds the solution.
func (c *Cholesky) SolveDense(ctx context.Context, b *mat.Dense) (*mat.Dense, error) {
	wide := memory.Make[float64](len(b.Data))
	for i, v := range b.Data {
		wide[i] = float64(v)
	}
	x, err := c.Solve(ctx, wide, b.Cols)
	if err != nil {
		return nil, err
	}
	return Rounded(x, b.Cols), nil
}

// leastPivot returns min_i U_ii², or +Inf for an empty matrix. For s = VᵀV, it is the smallest squared distance of a
// column of V from the span of the earlier columns.
func (c *Cholesky) leastPivot() float64 {
	least := math.Inf(1)
	for i := range c.u.N {
		root := c.u.Data[i*c.u.N+i]
		least = min(least, root*root)
	}
	return least
}

// inverse returns U⁻¹, n×n and row-major. For s = VᵀV the columns of VU⁻¹ are orthonormal.
func (c *Cholesky) inverse() []float64 {
	n := c.u.N
	inverse := memory.Make[float64](n * n)
	for i := range n {
		inverse[i*n+i] = 1
	}
	blas64.Trsm(blas.Left, blas.NoTrans, 1, c.u, blas64.General{Rows: n, Cols: n, Stride: max(1, n), Data: inverse})
	return inverse
}

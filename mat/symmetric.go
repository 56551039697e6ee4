package mat

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
)

// Symmetric is an n×n symmetric matrix of float64, both triangles stored, row-major.
type Symmetric struct {
	N    int
	Data []float64
}

// NewSymmetric returns an n×n matrix of zeros.
func NewSymmetric(n int) *Symmetric { return &Symmetric{N: n, Data: make([]float64, n*n)} }

// Row returns row i, a slice of s's own memory.
func (s *Symmetric) Row(i int) []float64 { return s.Data[i*s.N : (i+1)*s.N] }

// Trace returns Σ_i s_ii.
func (s *Symmetric) Trace() (sum float64) {
	for i := range s.N {
		sum += s.Data[i*s.N+i]
	}
	return sum
}

const (
	// gramChunk is the number of products that are summed in float32 before they join the float64 sum: the error of a Gram
	// matrix then does not grow with its length, and the inner loop is the fast kernel.
	gramChunk = 256
	// gramParts bounds the number of partial sums of a Gram matrix; each part is one task.
	gramParts = 16
	// gramMemory bounds what the partial sums take, in bytes.
	gramMemory = 256 << 20
)

// Gram returns XᵀX, d×d, for x n×d. Products are summed in float32 over blocks of 256 rows and in float64 over the blocks.
func Gram(x *Dense) *Symmetric {
	return gram(x.Cols, x.Rows, func(block []float32, lo, hi int) {
		kernel.Gemm(block, x.Cols, x.Data[lo*x.Cols:], x.Cols, true, x.Data[lo*x.Cols:], x.Cols, false, x.Cols, x.Cols, hi-lo, false)
	})
}

// GramRows returns XXᵀ, n×n, for x n×d, with sums as in Gram.
func GramRows(x *Dense) *Symmetric {
	return gram(x.Rows, x.Cols, func(block []float32, lo, hi int) {
		kernel.Gemm(block, x.Rows, x.Data[lo:], x.Cols, false, x.Data[lo:], x.Cols, true, x.Rows, x.Rows, hi-lo, false)
	})
}

// gram sums the blocks of a Gram matrix of the given order over length terms, split into parts that the sizes alone decide.
func gram(order, length int, block func(dst []float32, lo, hi int)) *Symmetric {
	sum := NewSymmetric(order)
	if order == 0 || length == 0 {
		return sum
	}
	chunks := (length + gramChunk - 1) / gramChunk
	parts := max(1, min(gramParts, chunks, gramMemory/(8*order*order)))
	perPart := (chunks + parts - 1) / parts * gramChunk
	part := make([]*Symmetric, (length+perPart-1)/perPart)
	part[0] = sum
	parallel.For(length, perPart, func(from, to int) {
		p := from / perPart
		if p > 0 {
			part[p] = NewSymmetric(order)
		}
		product := make([]float32, order*order)
		for lo := from; lo < to; lo += gramChunk {
			block(product, lo, min(lo+gramChunk, to))
			for i := range order { // the lower triangle mirrors the upper at the end
				row, add := part[p].Row(i)[i:], product[i*order+i:(i+1)*order]
				for j, v := range add {
					row[j] += float64(v)
				}
			}
		}
	})
	for _, p := range part[1:] {
		for i, v := range p.Data {
			sum.Data[i] += v
		}
	}
	for i := range order {
		for j := range i {
			sum.Data[i*order+j] = sum.Data[j*order+i]
		}
	}
	return sum
}

// NotPositive is the error of a Cholesky factorisation of a matrix that is not positive definite to working precision.
type NotPositive struct {
	// N is the order of the matrix.
	N int
}

// Error says that the matrix is not positive definite.
func (e NotPositive) Error() string {
	return fmt.Sprintf("mat: the %d×%d matrix is not positive definite", e.N, e.N)
}

// Cholesky is the factorisation s = L·Lᵀ of a positive definite matrix.
type Cholesky struct{ factor mat.Cholesky }

// Cholesky factors s, which it leaves alone; the error is a NotPositive.
func (s *Symmetric) Cholesky() (*Cholesky, error) {
	var c Cholesky
	if !c.factor.Factorize(mat.NewSymDense(s.N, slices.Clone(s.Data))) {
		return nil, NotPositive{s.N}
	}
	return &c, nil
}

// Solve returns s⁻¹·b for b of n rows and cols columns, row-major. b is left alone.
func (c *Cholesky) Solve(b []float64, cols int) []float64 {
	n := c.factor.SymmetricDim()
	x := mat.NewDense(n, cols, nil)
	// The only error is a large condition number, and the answer comes with it; callers who care refine it.
	_ = c.factor.SolveTo(x, mat.NewDense(n, cols, b))
	return x.RawMatrix().Data
}

// Eigen returns the eigenvalues of s, largest first, and their eigenvectors as the rows of vectors (n×n, row-major): s·v_i = values[i]·v_i.
// The sign of a vector is the one that makes its first component of largest magnitude positive.
func (s *Symmetric) Eigen() (values, vectors []float64) {
	n := s.N
	if n == 0 {
		return nil, nil
	}
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(n, slices.Clone(s.Data)), true) {
		panic(fmt.Sprintf("mat: eigen-decomposition of a %d×%d matrix did not converge", n, n)) // only for NaN and infinities
	}
	values = e.Values(nil)
	slices.Reverse(values)
	var q mat.Dense
	e.VectorsTo(&q)
	vectors = make([]float64, n*n)
	for i := range n {
		v := vectors[i*n : (i+1)*n]
		largest := 0
		for j := range v {
			v[j] = q.At(j, n-1-i)
			if math.Abs(v[j]) > math.Abs(v[largest]) {
				largest = j
			}
		}
		if v[largest] < 0 {
			for j := range v {
				v[j] = -v[j]
			}
		}
	}
	return values, vectors
}

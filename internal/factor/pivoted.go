package factor

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
)

// pivoted factors a positive semi-definite s with complete pivoting (Higham 1990),
//
//	PᵀSP ≈ LLᵀ,  L n×r lower trapezoidal with L_jj falling,
//
// until no diagonal entry of S − LLᵀ exceeds least. Row i of L, at stride n, belongs to row order[i] of s. Entries
// above the diagonal of L are zero, and so are its columns from r on. The cost is n²r − nr² + r³/3 multiplications,
// nearly all in matrix products. The result is the same for any number of threads. The only error is ctx.Err().
func (s *Symmetric) pivoted(ctx context.Context, least float64) (l []float64, order []int, r int, err error) {
	n := s.N
	a := memory.Clone(s.Data) // the lower triangle holds the rest of s, with L to the left of it
	order, rest := make([]int, n), make([]float64, n)
	for i := range n {
		order[i], rest[i] = i, a[i*n+i]
	}
	for k := 0; k < n; k += choleskyBlock {
		end := min(k+choleskyBlock, n)
		for r < end {
			p := r
			for i := r + 1; i < n; i++ {
				if rest[i] > rest[p] {
					p = i
				}
			}
			if !(rest[p] > least) {
				break
			}
			exchange(a, n, r, p)
			order[r], order[p] = order[p], order[r]
			rest[r], rest[p] = rest[p], rest[r]
			column(a, rest, n, k, r)
			r++
		}
		if r < end {
			break
		}
		err := parallel.ForContext(ctx, n-end, choleskyBlock, func(lo, hi int) {
			lo, hi = end+lo, end+hi
			blas64.Gemm(blas.NoTrans, blas.Trans, -1,
				block(a, n, lo, k, hi-lo, end-k), block(a, n, end, k, hi-end, end-k), 1, block(a, n, lo, end, hi-lo, hi-end))
		})
		if err != nil {
			return nil, nil, 0, err
		}
	}
	for i := range n {
		clear(a[i*n+min(i+1, r) : (i+1)*n])
	}
	return a, order, r, nil
}

// exchange swaps rows and columns p < q of the symmetric matrix whose lower triangle is in a, with the rows of L to its
// left.
func exchange(a []float64, n, p, q int) {
	if p == q {
		return
	}
	for j := range p {
		a[p*n+j], a[q*n+j] = a[q*n+j], a[p*n+j]
	}
	for i := p + 1; i < q; i++ {
		a[i*n+p], a[q*n+i] = a[q*n+i], a[i*n+p]
	}
	for i := q + 1; i < n; i++ {
		a[i*n+p], a[i*n+q] = a[i*n+q], a[i*n+p]
	}
	a[p*n+p], a[q*n+q] = a[q*n+q], a[p*n+p]
}

// column turns column j of a into column j of L. It first subtracts columns k to j−1 of L, which column j still holds.
// Then it subtracts the squares of the new column from the diagonal of the rest.
func column(a, rest []float64, n, k, j int) {
	root := math.Sqrt(rest[j])
	own := blas64.Vector{N: j - k, Inc: 1, Data: a[j*n+k : j*n+j]}
	a[j*n+j] = root
	const rowChunk = 512
	parallel.For(n-j-1, rowChunk, func(lo, hi int) {
		for i := j + 1 + lo; i < j+1+hi; i++ {
			v := a[i*n+j]
			if own.N > 0 {
				v -= blas64.Dot(blas64.Vector{N: j - k, Inc: 1, Data: a[i*n+k : i*n+j]}, own)
			}
			v /= root
			a[i*n+j] = v
			rest[i] -= v * v
		}
	})
}

// lowerGram returns LᵀL, r×r, for the first r columns of an n×n lower triangular l. The only error is ctx.Err().
func lowerGram(ctx context.Context, l []float64, n, r int) (*Symmetric, error) {
	g := NewSymmetric(r)
	const strip, width = 64, 512
	err := parallel.ForContext(ctx, r, strip, func(lo, hi int) {
		for from := 0; from < hi && ctx.Err() == nil; from += width {
			cols := min(width, hi-from)
			// Rows of L before lo are zero in columns lo to hi−1.
			blas64.Gemm(blas.Trans, blas.NoTrans, 1,
				block(l, n, lo, lo, n-lo, hi-lo), block(l, n, lo, from, n-lo, cols), 0, block(g.Data, r, lo, from, hi-lo, cols))
		}
	})
	for i := range r {
		for j := range i {
			g.Data[j*r+i] = g.Data[i*r+j]
		}
	}
	return g, err
}

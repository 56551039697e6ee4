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
	// gramChunk is the number of products that are summed in one go in float32, and gramChunks the number of such sums that are added in
	// float32 before they join the float64 sum: the error of a Gram matrix then does not grow with its length, is that of some 270
	// additions, and nearly all time is spent in the fast kernel.
	gramChunk, gramChunks = 256, 16
	// gramParts bounds the number of float32 sums that are made at a time, each by one task.
	gramParts = 16
	// gramMemory bounds what they take, in bytes.
	gramMemory = 128 << 20
)

// Gram returns XᵀX, d×d, for x n×d. Products are summed in float32 over blocks of 256 rows, these over at most 16 blocks, and the rest in float64.
func Gram(x *Dense) *Symmetric {
	d := x.Cols
	return gram(d, x.Rows, func(sum []float32, _ *Dense, lo, hi int, accumulate bool) {
		kernel.GramRows(sum, d, x.Data[lo*d:], d, hi-lo, d, 0, d, accumulate)
	})
}

// GramBlocks returns XᵀX, d×d, of an X of n rows that is never held whole: rows(dst, lo) sets dst, which has d columns and at most 256 rows, to the
// rows of X from lo on. X is cut into parts of GramPart(n, d) rows: several are asked for at a time, the rows of each in ascending order. The result is that of Gram,
// bit for bit.
func GramBlocks(n, d int, rows func(dst *Dense, lo int)) *Symmetric {
	return gram(d, n, func(sum []float32, block *Dense, lo, hi int, accumulate bool) {
		block.Reshape(hi-lo, d)
		rows(block, lo)
		kernel.GramRows(sum, d, block.Data, d, hi-lo, d, 0, d, accumulate)
	})
}

// GramRows returns XXᵀ, n×n, for x n×d, with sums as in Gram.
func GramRows(x *Dense) *Symmetric {
	n := x.Rows
	const strip = 240 // rows of the result that are computed at a time, from the diagonal on
	return gram(n, x.Cols, func(sum []float32, _ *Dense, lo, hi int, accumulate bool) {
		for i := 0; i < n; i += strip {
			from := x.Data[i*x.Cols+lo:]
			kernel.Gemm(sum[i*n+i:], n, from, x.Cols, false, from, x.Cols, true, min(strip, n-i), n-i, hi-lo, accumulate)
		}
	})
}

// GramPart returns the number of terms of each part that a sum of n terms for a Gram matrix of order d is cut into; sizes alone decide.
func GramPart(n, d int) int {
	_, terms := gramWave(d, n)
	return terms
}

// gramWave returns how many parts of a Gram matrix are summed at a time, and how many terms each has.
func gramWave(order, length int) (parts, terms int) {
	chunks := (length + gramChunk - 1) / gramChunk
	parts = max(1, min(gramParts, chunks, gramMemory/(4*max(1, order*order))))
	return parts, gramChunk * max(1, min(gramChunks, (chunks+parts-1)/parts))
}

// gram sums the upper triangle of a Gram matrix of the given order over length terms and mirrors it. Parts are summed in float32, as many at a
// time as gramWave says, and then added to the whole in their order. add sets sum to the terms from lo to hi, or adds them; block is memory for it.
func gram(order, length int, add func(sum []float32, block *Dense, lo, hi int, accumulate bool)) *Symmetric {
	total := NewSymmetric(order)
	if order == 0 || length == 0 {
		return total
	}
	parts, terms := gramWave(order, length)
	sums, blocks := NewDense(parts, order*order), make([]Dense, parts)
	for begun := 0; begun < length; begun += parts * terms {
		wave := min(length-begun, parts*terms)
		parallel.For(wave, terms, func(from, to int) {
			p := from / terms
			for lo := from; lo < to; lo += gramChunk {
				add(sums.Row(p), &blocks[p], begun+lo, begun+min(lo+gramChunk, to), lo > from)
			}
		})
		const strip = 16 // rows of the result to a task
		parallel.For(order, strip, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				for p := range (wave + terms - 1) / terms {
					kernel.Accumulate(total.Row(i)[i:], 1, sums.Row(p)[i*order+i:(i+1)*order])
				}
			}
		})
	}
	for i := range order {
		for j := range i {
			total.Data[i*order+j] = total.Data[j*order+i]
		}
	}
	return total
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

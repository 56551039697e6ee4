package factor

import (
	"context"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Symmetric is an n×n symmetric matrix of float64, both triangles stored, row-major.
type Symmetric struct {
	N    int
	Data []float64
}

// NewSymmetric returns an n×n matrix of zeros.
func NewSymmetric(n int) *Symmetric { return &Symmetric{N: n, Data: memory.Make[float64](n * n)} }

// SymmetricPart returns (m + mᵀ)/2 in float64.
func SymmetricPart(m *mat.Dense) *Symmetric {
	s := NewSymmetric(m.Rows)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			s.Row(i)[j] = (float64(v) + float64(m.Row(j)[i])) / 2
		}
	}
	return s
}

// Row returns row i, a slice of s's own memory.
func (s *Symmetric) Row(i int) []float64 { return s.Data[i*s.N : (i+1)*s.N] }

// Trace returns Σ_i s_ii.
func (s *Symmetric) Trace() (sum float64) {
	for i := range s.N {
		sum += s.Data[i*s.N+i]
	}
	return sum
}

// GramCut is the eigenvalue of a Gram matrix, as a share of its trace, below which a direction does not count. Sums of
// float32 products have errors of about 10⁻⁸ of the trace, so GramCut keeps rounding errors out of solutions. It is far
// below what matters to a classifier.
const GramCut = 1e-7

const (
	// gramChunk is the number of products in one float32 sum. gramChunks is the number of such sums that are added in
	// float32 before they are added to the float64 sum. A Gram matrix of any number of rows therefore has the rounding
	// error of about 270 additions, and nearly all time is spent in the fast kernel.
	gramChunk, gramChunks = 256, 16
	// gramParts limits the number of float32 sums computed concurrently, each by one task.
	gramParts = 16
	// gramMemory limits the memory of these sums, in bytes.
	gramMemory = 128 << 20
)

// Gram returns XᵀX, d×d, for x n×d. Products are summed in float32 over blocks of 256 rows, block sums in float32 over
// at most 16 blocks, and the rest in float64. The result is the same for any number of threads. The only error is
// ctx.Err().
func Gram(ctx context.Context, x *mat.Dense) (*Symmetric, error) {
	d := x.Cols
	return gram(ctx, d, x.Rows, func(sum []float32, _ *mat.Dense, lo, hi int, accumulate bool) {
		kernel.GramRows(kernel.Rows(sum, d), kernel.Rows(x.Data[lo*d:], d), hi-lo, d, 0, d, accumulate)
	})
}

// GramBlocks returns XᵀX, d×d, for an X of n rows that is never completely in memory. rows(dst, lo) sets dst to the
// rows of X from lo on; dst has d columns and at most 256 rows. X is cut into parts of GramPart(n, d) rows. Several
// parts are read concurrently, the rows of each in ascending order. The result is bit-identical to Gram. The only error
// is ctx.Err().
func GramBlocks(ctx context.Context, n, d int, rows func(dst *mat.Dense, lo int)) (*Symmetric, error) {
	return gram(ctx, d, n, func(sum []float32, block *mat.Dense, lo, hi int, accumulate bool) {
		block.Reshape(hi-lo, d)
		rows(block, lo)
		kernel.GramRows(kernel.Rows(sum, d), kernel.Rows(block.Data, d), hi-lo, d, 0, d, accumulate)
	})
}

// GramRows returns XXᵀ, n×n, for x n×d, with sums as in Gram. The only error is ctx.Err().
func GramRows(ctx context.Context, x *mat.Dense) (*Symmetric, error) {
	n := x.Rows
	const strip = 240 // rows of the result that are computed at a time, from the diagonal on
	return gram(ctx, n, x.Cols, func(sum []float32, _ *mat.Dense, lo, hi int, accumulate bool) {
		for i := 0; i < n; i += strip {
			from := x.Data[i*x.Cols+lo:]
			terms := kernel.Rows(from, x.Cols)
			kernel.Gemm(kernel.Rows(sum[i*n+i:], n), terms, terms.T(), min(strip, n-i), n-i, hi-lo, accumulate)
		}
	})
}

// GramPart returns the number of rows in each part that GramBlocks cuts n rows of d columns into. It depends only on
// the sizes.
func GramPart(n, d int) int {
	_, terms := gramWave(d, n)
	return terms
}

// gramWave returns the number of parts of a Gram matrix that are summed concurrently, and the number of terms of each
// part.
func gramWave(order, length int) (parts, terms int) {
	chunks := (length + gramChunk - 1) / gramChunk
	parts = max(1, min(gramParts, chunks, gramMemory/(4*max(1, order*order))))
	return parts, gramChunk * max(1, min(gramChunks, (chunks+parts-1)/parts))
}

// gram computes the upper triangle of a Gram matrix of the given order, whose elements are sums of length terms, and
// mirrors it. Parts are summed in float32, several concurrently (see gramWave), and then added to the total in their
// order. add sets sum to the terms from lo to hi−1, or adds them to sum; block is scratch memory for add.
func gram(ctx context.Context, order, length int,
	add func(sum []float32, block *mat.Dense, lo, hi int, accumulate bool)) (*Symmetric, error) {
	total := NewSymmetric(order)
	if order == 0 || length == 0 {
		return total, ctx.Err()
	}
	parts, terms := gramWave(order, length)
	sums, blocks := mat.NewDense(parts, order*order), make([]mat.Dense, parts)
	for begun := 0; begun < length; begun += parts * terms {
		wave := min(length-begun, parts*terms)
		err := parallel.ForContext(ctx, wave, terms, func(from, to int) {
			p := from / terms
			for lo := from; lo < to && ctx.Err() == nil; lo += gramChunk {
				add(sums.Row(p), &blocks[p], begun+lo, begun+min(lo+gramChunk, to), lo > from)
			}
		})
		if err != nil {
			return nil, err
		}
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
	return total, nil
}

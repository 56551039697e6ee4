package factor

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Tall is a matrix of many rows that is read in blocks. mat.View implements it. Another type may compute its rows on
// demand.
type Tall interface {
	// Dims returns the numbers of rows and columns.
	Dims() (rows, cols int)
	// Block returns rows lo to hi−1, one after the other. It may write them to buffer. It is safe for concurrent use with
	// different buffers.
	Block(lo, hi int, buffer *mat.Dense) []float32
}

// ErrRange says that values are too large or too small for products in float32: squares overflow or underflow. Scaling
// all values by a power of two helps.
var ErrRange = errors.New("numbers out of the range of products in float32")

const (
	// If squared norms of rows are between these limits, squared distances neither overflow nor lose much to underflow.
	LeastNorm, MostNorm = 0x1p-40, 0x1p40
	// sampleSteps is the number of power iterations on the sample that precede the products with all rows.
	sampleSteps = 4
)

// LeftSingular returns an orthonormal basis, n×r, of the space of the leading k left singular vectors of x, n×d. It
// computes the leading eigenvectors of XXᵀ if n ≤ d, and otherwise XV with the leading eigenvectors V of XᵀX. r is
// below k if the rank of x is lower. The eigenvectors come from LeadingEigen, with its cost and errors.
func LeftSingular(ctx context.Context, x *mat.Dense, k int, src rand.Source) (*mat.Dense, error) {
	gram := Gram
	wide := x.Rows <= x.Cols
	if wide {
		gram = GramRows
	}
	g, err := gram(ctx, x)
	if err != nil {
		return nil, err
	}
	values, vectors, err := LeadingEigen(ctx, g, k, src)
	if err != nil {
		return nil, err
	}
	leading := vectors.Columns(0, Rank(values, k))
	if wide {
		return leading, nil
	}
	var u mat.Dense
	mat.Mul(&u, x, leading)
	return Orthonormal(ctx, &u)
}

// CentredLeftByGram returns an orthonormal basis, n×r with r ≤ k, of the leading k left singular vectors of (I −
// 11ᵀ/n)X. It is meant for x with many rows and a mean near zero. It reads x twice: for XᵀX (n·d² operations) and for
// XV. The error is ctx.Err() or ErrRange.
func CentredLeftByGram(ctx context.Context, x Tall, k int, src rand.Source) (*mat.Dense, error) {
	n, d := x.Dims()
	g, err := GramBlocks(ctx, n, d, func(dst *mat.Dense, lo int) {
		if rows := x.Block(lo, lo+dst.Rows, dst); len(rows) > 0 && &rows[0] != &dst.Data[0] {
			copy(dst.Data, rows)
		}
	})
	if err != nil {
		return nil, err
	}
	if trace := g.Trace(); !(trace >= LeastNorm*float64(n) && trace <= MostNorm) {
		return nil, ErrRange
	}
	values, right, err := LeadingEigen(ctx, g, k, src)
	if err != nil {
		return nil, err
	}
	u, err := project(ctx, x, right.Columns(0, Rank(values, k)))
	if err != nil {
		return nil, err
	}
	return Orthonormal(ctx, u)
}

// CentredLeftByKrylov is like CentredLeftByGram, for an x with many columns. It uses the Rayleigh-Ritz method in a
// block Krylov space (Musco and Musco 2015). sample contains some rows of x. Power iteration on sample, from
// k+Oversampling random vectors of src, gives V. The Krylov space is spanned by
//
//	[V, XᵀXV].
//
// It reads x twice and needs 8·n·d·(k+Oversampling) operations. The error is ctx.Err() or ErrRange.
func CentredLeftByKrylov(ctx context.Context, x, sample Tall, k int, src rand.Source) (*mat.Dense, error) {
	_, d := x.Dims()
	v := Gaussian(d, k+Oversampling, src)
	var err error
	for range sampleSteps {
		if v, err = covariance(ctx, sample, v); err != nil {
			return nil, err
		}
		if v, err = Orthonormal(ctx, v); err != nil {
			return nil, err
		}
	}
	image, err := covariance(ctx, x, v)
	if err != nil {
		return nil, err
	}
	scaleColumns(image)
	both := mat.NewDense(d, v.Cols+image.Cols)
	for i := range d {
		copy(both.Row(i)[copy(both.Row(i), v.Row(i)):], image.Row(i))
	}
	basis, err := Orthonormal(ctx, both)
	if err != nil {
		return nil, err
	}
	y, err := project(ctx, x, basis)
	if err != nil {
		return nil, err
	}
	g, err := Gram(ctx, y)
	if err != nil {
		return nil, err
	}
	values, turn, err := g.EigenColumns(ctx)
	if err != nil {
		return nil, err
	}
	var u mat.Dense
	mat.Mul(&u, y, turn.Columns(0, Rank(values, k)))
	return Orthonormal(ctx, &u)
}

const (
	// passTasks is the maximum number of tasks for a pass over many rows. Each task has its own sums.
	passTasks = 32
	// leastPass is the minimum number of rows in a task.
	leastPass = 2048
	// blockSize is the number of values in a block: 256 kB, half of a typical second-level cache.
	blockSize = 1 << 16
)

// PassRows returns the number of rows in a task of a pass over n rows.
func PassRows(n int) int { return max(leastPass, (n+passTasks-1)/passTasks) }

// buffers is a pool of memory for blocks.
var buffers = sync.Pool{New: func() any { return new(mat.Dense) }}

// Each calls f for blocks of the rows lo to hi−1 of x: block contains rows at to end−1.
func Each(x Tall, lo, hi int, f func(at, end int, block []float32)) {
	_, d := x.Dims()
	buffer := buffers.Get().(*mat.Dense)
	defer buffers.Put(buffer)
	for rows := max(32, blockSize/max(1, d)); lo < hi; lo += rows {
		end := min(lo+rows, hi)
		f(lo, end, x.Block(lo, end, buffer))
	}
}

// covariance returns XᵀX·v, d×m for v d×m. It does not subtract the mean of the rows, which is about zero. The error is
// ctx.Err() or ErrRange.
func covariance(ctx context.Context, x Tall, v *mat.Dense) (*mat.Dense, error) {
	n, _ := x.Dims()
	d, m := v.Dims()
	chunk := PassRows(n)
	parts := make([]mat.Dense, (n+chunk-1)/chunk)
	err := parallel.ForContext(ctx, n, chunk, func(lo, hi int) {
		part := &parts[lo/chunk]
		part.Reshape(d, m)
		y := mat.NewDense(max(32, blockSize/max(1, d)), m)
		Each(x, lo, hi, func(at, end int, block []float32) {
			kernel.Gemm(kernel.Rows(y.Data, m), kernel.Rows(block, d), kernel.Rows(v.Data, m), end-at, m, d, false)
			kernel.Gemm(kernel.Rows(part.Data, m), kernel.Rows(block, d).T(), kernel.Rows(y.Data, m), d, m, end-at, at > lo)
		})
	})
	if err != nil {
		return nil, err
	}
	image := &parts[0]
	for _, part := range parts[1:] {
		kernel.Add(image.Data, image.Data, part.Data)
	}
	if !(kernel.Dot(image.Data, image.Data) <= math.MaxFloat32) {
		return nil, ErrRange
	}
	return image, nil
}

// project returns (I − 11ᵀ/n)X·v, n×m. The error is ctx.Err() or ErrRange.
func project(ctx context.Context, x Tall, v *mat.Dense) (*mat.Dense, error) {
	n, _ := x.Dims()
	d, m := v.Dims()
	u := mat.NewDense(n, m)
	err := parallel.ForContext(ctx, n, PassRows(n), func(lo, hi int) {
		Each(x, lo, hi, func(at, end int, block []float32) {
			kernel.Gemm(kernel.Rows(u.Data[at*m:], m), kernel.Rows(block, d), kernel.Rows(v.Data, m), end-at, m, d, false)
		})
	})
	if err != nil {
		return nil, err
	}
	shift := ColumnMeans(u.View().Rows())
	if !(kernel.Dot(shift, shift) <= MostNorm) {
		return nil, ErrRange
	}
	kernel.Scale(shift, -1, shift)
	for i := range n {
		kernel.Add(u.Row(i), u.Row(i), shift)
	}
	return u, nil
}

// Package product multiplies matrices. Its functions return the error of their context soon after the context is done;
// the contents of dst are then undefined. Package mat has the same products without a context.
package product

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
)

// Dense has the fields of mat.Dense, so that a pointer to one can be converted.
type Dense struct {
	Rows, Cols int
	Data       []float32
}

// Reshape is mat.Dense.Reshape.
func (m *Dense) Reshape(rows, cols int) {
	if rows < 0 || cols < 0 || cols > 0 && rows > math.MaxInt/cols {
		panic(fmt.Sprintf("mat: %d×%d matrix, must have 0 to %d numbers", rows, cols, math.MaxInt))
	}
	m.Rows, m.Cols, m.Data = rows, cols, memory.Resized(m.Data, rows*cols)
}

// CSR has the fields of mat.CSR, so that a pointer to one can be converted.
type CSR struct {
	Rows, Cols int
	Indptr     []int64
	Indices    []int32
	Data       []float32
}

// Mul sets dst to a·b. a is m×k, b is k×n, and dst becomes m×n.
func Mul(ctx context.Context, dst, a, b *Dense) error {
	if a.Cols != b.Rows {
		panic(fmt.Sprintf("mat: %d×%d times %d×%d", a.Rows, a.Cols, b.Rows, b.Cols))
	}
	dst.Reshape(a.Rows, b.Cols)
	return product(ctx, dst, a, b, false, false, a.Cols)
}

// MulTA sets dst to aᵀ·b. a is k×m, b is k×n, and dst becomes m×n.
func MulTA(ctx context.Context, dst, a, b *Dense) error {
	if a.Rows != b.Rows {
		panic(fmt.Sprintf("mat: (%d×%d)ᵀ times %d×%d", a.Rows, a.Cols, b.Rows, b.Cols))
	}
	dst.Reshape(a.Cols, b.Cols)
	if b.Cols > fewColumns || b.Cols >= a.Cols || len(a.Data) < manyValues {
		return product(ctx, dst, a, b, true, false, a.Rows)
	}
	// bᵀ·a has the same sums and reads a row by row, where aᵀ·b would read narrow columns of it.
	swapped := &Dense{Rows: b.Cols, Cols: a.Cols, Data: memory.Make[float32](b.Cols * a.Cols)}
	err := product(ctx, swapped, b, a, true, false, a.Rows)
	for i := range swapped.Rows {
		for j, v := range swapped.Data[i*swapped.Cols : (i+1)*swapped.Cols] {
			dst.Data[j*dst.Cols+i] = v
		}
	}
	return err
}

// With up to fewColumns columns of b and at least manyValues values of a, which then exceeds the L2 cache, MulTA
// computes bᵀ·a, in a half to a third of the time.
const fewColumns, manyValues = 48, 1 << 19

// MulTB sets dst to a·bᵀ. a is m×k, b is n×k, and dst becomes m×n.
func MulTB(ctx context.Context, dst, a, b *Dense) error {
	if a.Cols != b.Cols {
		panic(fmt.Sprintf("mat: %d×%d times (%d×%d)ᵀ", a.Rows, a.Cols, b.Rows, b.Cols))
	}
	dst.Reshape(a.Rows, b.Rows)
	return product(ctx, dst, a, b, false, true, a.Cols)
}

// factors is a product dst = a·b with inner dimension k, either factor stored transposed or not.
type factors struct {
	ctx            context.Context
	dst, a, b      Dense // copies of the headers
	transA, transB bool
	k              int
}

var rowStrips, columnStrips parallel.Loop[factors]

// smallProduct is the number of multiplications below which starting goroutines costs more than they save (about 10
// µs).
const smallProduct = 1 << 17

// product cuts the m×n output into one strip per worker, along its longer side. The cuts do not change the output: the
// order in which the kernel sums along k depends only on k.
func product(ctx context.Context, dst, a, b *Dense, transA, transB bool, k int) error {
	m, n := dst.Rows, dst.Cols
	if m == 0 || n == 0 {
		return ctx.Err()
	}
	workers := runtime.GOMAXPROCS(0)
	if m*n*k < smallProduct {
		workers = 1
	}
	f := factors{ctx, *dst, *a, *b, transA, transB, k}
	const align = 16 // strips keep whole register tiles
	if m >= n {
		strip := ((m+workers-1)/workers + align - 1) / align * align
		return rowStrips.ForContext(ctx, m, strip, f, func(f *factors, lo, hi int) { f.tile(lo, hi, 0, f.dst.Cols) })
	}
	strip := ((n+workers-1)/workers + align - 1) / align * align
	return columnStrips.ForContext(ctx, n, strip, f, func(f *factors, lo, hi int) { f.tile(0, f.dst.Rows, lo, hi) })
}

// tile computes rows i0 to i1−1, columns j0 to j1−1 of the product.
func (f *factors) tile(i0, i1, j0, j1 int) {
	a, b := i0*f.a.Cols, j0
	if f.transA {
		a = i0
	}
	if f.transB {
		b = j0 * f.b.Cols
	}
	left := kernel.Block{Data: f.a.Data[a:], Stride: f.a.Cols, Transposed: f.transA}
	right := kernel.Block{Data: f.b.Data[b:], Stride: f.b.Cols, Transposed: f.transB}
	to := kernel.Rows(f.dst.Data[i0*f.dst.Cols+j0:], f.dst.Cols)
	kernel.GemmContext(f.ctx, to, left, right, i1-i0, j1-j0, f.k, false)
}

// MulSparse sets dst to s·b. s is m×k, b is k×n, and dst becomes m×n. The entries of a row are added in ascending order
// of their columns.
func MulSparse(ctx context.Context, dst *Dense, s *CSR, b *Dense) error {
	if s.Cols != b.Rows {
		panic(fmt.Sprintf("mat: sparse %d×%d times %d×%d", s.Rows, s.Cols, b.Rows, b.Cols))
	}
	dst.Reshape(s.Rows, b.Cols)
	const chunk = 64
	f := sparseFactors{*dst, *b, *s}
	return sparseProducts.ForContext(ctx, s.Rows, chunk, f, func(f *sparseFactors, lo, hi int) {
		d := f.b.Cols
		s := kernel.Sparse{Indptr: f.s.Indptr, Indices: f.s.Indices, Weights: f.s.Data}
		kernel.Gather(kernel.Rows(f.dst.Data[lo*d:hi*d], d), s, lo, hi, kernel.Rows(f.b.Data, d), d)
	})
}

// sparseFactors is a product dst = s·b.
type sparseFactors struct {
	dst, b Dense // copies of the headers
	s      CSR
}

var sparseProducts parallel.Loop[sparseFactors]

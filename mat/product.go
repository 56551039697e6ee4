package mat

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
)

// Mul sets dst to a·b. The shapes are a m×k, b k×n, dst m×n.
func Mul(dst, a, b *Dense) { _ = MulContext(context.Background(), dst, a, b) }

// MulContext is Mul, but returns ctx's error soon after ctx is done. The contents of dst are then undefined.
func MulContext(ctx context.Context, dst, a, b *Dense) error {
	if a.Cols != b.Rows {
		panic(fmt.Sprintf("mat: %d×%d times %d×%d", a.Rows, a.Cols, b.Rows, b.Cols))
	}
	dst.Reshape(a.Rows, b.Cols)
	return product(ctx, dst, a, b, false, false, a.Cols)
}

// MulTA sets dst to aᵀ·b. The shapes are a k×m, b k×n, dst m×n.
func MulTA(dst, a, b *Dense) { _ = MulTAContext(context.Background(), dst, a, b) }

// MulTAContext is MulTA, but returns ctx's error soon after ctx is done. The contents of dst are then undefined.
func MulTAContext(ctx context.Context, dst, a, b *Dense) error {
	if a.Rows != b.Rows {
		panic(fmt.Sprintf("mat: (%d×%d)ᵀ times %d×%d", a.Rows, a.Cols, b.Rows, b.Cols))
	}
	dst.Reshape(a.Cols, b.Cols)
	return product(ctx, dst, a, b, true, false, a.Rows)
}

// MulTB sets dst to a·bᵀ. The shapes are a m×k, b n×k, dst m×n.
func MulTB(dst, a, b *Dense) { _ = MulTBContext(context.Background(), dst, a, b) }

// MulTBContext is MulTB, but returns ctx's error soon after ctx is done. The contents of dst are then undefined.
func MulTBContext(ctx context.Context, dst, a, b *Dense) error {
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

// MulSparse sets dst to s·b. The shapes are s m×k, b k×n, dst m×n. The entries of a row are added in ascending order of
// their columns.
func MulSparse(dst *Dense, s *CSR, b *Dense) { _ = MulSparseContext(context.Background(), dst, s, b) }

// MulSparseContext is MulSparse, but returns ctx's error soon after ctx is done. The contents of dst are then
// undefined.
func MulSparseContext(ctx context.Context, dst *Dense, s *CSR, b *Dense) error {
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

// Transpose returns mᵀ as a new matrix, by a counting sort of the columns. Entry e of mᵀ is entry from[e] of m. The
// only error is ctx.Err().
func (m *CSR) Transpose(ctx context.Context) (t *CSR, from []int64, err error) {
	const step = 1 << 14 // rows between two checks of ctx
	t = &CSR{Rows: m.Cols, Cols: m.Rows, Indptr: memory.Make[int64](m.Cols + 1), Indices: memory.Make[int32](m.NNZ())}
	from = memory.Make[int64](m.NNZ())
	if m.Data != nil {
		t.Data = memory.Make[float32](m.NNZ())
	}
	for some := range slices.Chunk(m.Indices, 1<<22) {
		for _, j := range some {
			t.Indptr[j+1]++
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	for j := range m.Cols {
		t.Indptr[j+1] += t.Indptr[j]
	}
	next := append([]int64(nil), t.Indptr[:m.Cols]...)
	for i := range m.Rows {
		if i%step == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		for e := m.Indptr[i]; e < m.Indptr[i+1]; e++ {
			at := next[m.Indices[e]]
			next[m.Indices[e]]++
			t.Indices[at], from[at] = int32(i), e
			if m.Data != nil {
				t.Data[at] = m.Data[e]
			}
		}
	}
	return t, from, nil
}

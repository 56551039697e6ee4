package mat

import (
	"fmt"
	"runtime"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
)

// Mul sets dst to a·b. The shapes are a m×k, b k×n, dst m×n.
func Mul(dst, a, b *Dense) {
	if a.Cols != b.Rows {
		panic(fmt.Sprintf("mat: %d×%d times %d×%d", a.Rows, a.Cols, b.Rows, b.Cols))
	}
	dst.Reshape(a.Rows, b.Cols)
	product(dst, a.Cols, func(c []float32, i, m, j, n int) {
		kernel.Gemm(c, dst.Cols, a.Data[i*a.Cols:], a.Cols, false, b.Data[j:], b.Cols, false, m, n, a.Cols, false)
	})
}

// MulTA sets dst to aᵀ·b. The shapes are a k×m, b k×n, dst m×n.
func MulTA(dst, a, b *Dense) {
	if a.Rows != b.Rows {
		panic(fmt.Sprintf("mat: (%d×%d)ᵀ times %d×%d", a.Rows, a.Cols, b.Rows, b.Cols))
	}
	dst.Reshape(a.Cols, b.Cols)
	product(dst, a.Rows, func(c []float32, i, m, j, n int) {
		kernel.Gemm(c, dst.Cols, a.Data[i:], a.Cols, true, b.Data[j:], b.Cols, false, m, n, a.Rows, false)
	})
}

// MulTB sets dst to a·bᵀ. The shapes are a m×k, b n×k, dst m×n.
func MulTB(dst, a, b *Dense) {
	if a.Cols != b.Cols {
		panic(fmt.Sprintf("mat: %d×%d times (%d×%d)ᵀ", a.Rows, a.Cols, b.Rows, b.Cols))
	}
	dst.Reshape(a.Rows, b.Rows)
	product(dst, a.Cols, func(c []float32, i, m, j, n int) {
		kernel.Gemm(c, dst.Cols, a.Data[i*a.Cols:], a.Cols, false, b.Data[j*b.Cols:], b.Cols, true, m, n, a.Cols, false)
	})
}

// smallProduct is the number of multiplications below which starting goroutines costs more than they save (some 10 µs).
const smallProduct = 1 << 17

// product cuts the m×n output into a strip for each worker, along its longer side, and computes each with tile, which gets
// the output from element (i, j) on and the size of the strip. How the output is cut changes no bit of it: the kernel sums
// along k in an order that k alone decides.
func product(dst *Dense, k int, tile func(c []float32, i, m, j, n int)) {
	m, n := dst.Rows, dst.Cols
	if m == 0 || n == 0 {
		return
	}
	workers := runtime.GOMAXPROCS(0)
	if m*n*k < smallProduct {
		workers = 1
	}
	const align = 16 // strips keep whole register tiles
	if m >= n {
		strip := ((m+workers-1)/workers + align - 1) / align * align
		parallel.For(m, strip, func(lo, hi int) { tile(dst.Data[lo*n:], lo, hi-lo, 0, n) })
		return
	}
	strip := ((n+workers-1)/workers + align - 1) / align * align
	parallel.For(n, strip, func(lo, hi int) { tile(dst.Data[lo:], 0, m, lo, hi-lo) })
}

// MulSparse sets dst to s·b. The shapes are s m×k, b k×n, dst m×n. The entries of a row are added in ascending order of their columns.
func MulSparse(dst *Dense, s *CSR, b *Dense) {
	if s.Cols != b.Rows {
		panic(fmt.Sprintf("mat: sparse %d×%d times %d×%d", s.Rows, s.Cols, b.Rows, b.Cols))
	}
	dst.Reshape(s.Rows, b.Cols)
	const chunk = 64
	parallel.For(s.Rows, chunk, func(lo, hi int) {
		kernel.Gather(dst.Data[lo*b.Cols:hi*b.Cols], b.Cols, lo, hi, s.Indptr, s.Indices, s.Data, nil, nil, 0, b.Data, b.Cols, b.Cols)
	})
}

// T returns the transpose of m as a new matrix, by a counting sort of its columns.
func (m *CSR) T() *CSR {
	t := &CSR{Rows: m.Cols, Cols: m.Rows, Indptr: make([]int64, m.Cols+1), Indices: make([]int32, m.NNZ())}
	if m.Data != nil {
		t.Data = make([]float32, m.NNZ())
	}
	for _, j := range m.Indices {
		t.Indptr[j+1]++
	}
	for j := range m.Cols {
		t.Indptr[j+1] += t.Indptr[j]
	}
	next := append([]int64(nil), t.Indptr[:m.Cols]...)
	for i := range m.Rows {
		for e := m.Indptr[i]; e < m.Indptr[i+1]; e++ {
			at := next[m.Indices[e]]
			next[m.Indices[e]]++
			t.Indices[at] = int32(i)
			if m.Data != nil {
				t.Data[at] = m.Data[e]
			}
		}
	}
	return t
}

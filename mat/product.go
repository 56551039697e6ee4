package mat

import (
	"context"
	"slices"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/product"
)

// Mul sets dst to a·b. a is m×k, b is k×n, and dst becomes m×n.
func Mul(dst, a, b *Dense) {
	_ = product.Mul(context.Background(), (*product.Dense)(dst), (*product.Dense)(a), (*product.Dense)(b))
}

// MulTA sets dst to aᵀ·b. a is k×m, b is k×n, and dst becomes m×n.
func MulTA(dst, a, b *Dense) {
	_ = product.MulTA(context.Background(), (*product.Dense)(dst), (*product.Dense)(a), (*product.Dense)(b))
}

// MulTB sets dst to a·bᵀ. a is m×k, b is n×k, and dst becomes m×n.
func MulTB(dst, a, b *Dense) {
	_ = product.MulTB(context.Background(), (*product.Dense)(dst), (*product.Dense)(a), (*product.Dense)(b))
}

// MulSparse sets dst to s·b. s is m×k, b is k×n, and dst becomes m×n. The entries of a row are added in ascending order
// of their columns.
func MulSparse(dst *Dense, s *CSR, b *Dense) {
	_ = product.MulSparse(context.Background(), (*product.Dense)(dst), (*product.CSR)(s), (*product.Dense)(b))
}

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

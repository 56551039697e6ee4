package mat

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
)

// CSR is a rows×cols sparse matrix in compressed sparse row format: the entries of row i are at positions Indptr[i] to
// Indptr[i+1]−1, with columns Indices, ascending within a row, and values Data. A nil Data means that every stored
// entry is 1, as in an unweighted adjacency.
type CSR struct {
	Rows, Cols int
	Indptr     []int64 // Rows+1 long
	Indices    []int32
	Data       []float32 // nil: all ones
}

// Dims returns the numbers of rows and columns.
func (m *CSR) Dims() (rows, cols int) { return m.Rows, m.Cols }

// ReadBlock sets dst to columns lo to hi−1 of the given rows, as a dense matrix.
func (m *CSR) ReadBlock(dst *Dense, rows []int32, lo, hi int) error {
	dst.Reshape(len(rows), hi-lo)
	clear(dst.Data)
	for r, i := range rows {
		columns := m.Indices[m.Indptr[i]:m.Indptr[i+1]]
		first, _ := slices.BinarySearch(columns, int32(lo))
		for e := first; e < len(columns) && int(columns[e]) < hi; e++ {
			dst.Row(r)[int(columns[e])-lo] = m.at(m.Indptr[i] + int64(e))
		}
	}
	return nil
}

// LowerTriangular reports whether m is strictly lower triangular. m must be that, or symmetric with an empty diagonal,
// so its first entry decides.
func (m *CSR) LowerTriangular() bool {
	for i := range m.Rows {
		if e := m.Indptr[i]; e < m.Indptr[i+1] {
			return int(m.Indices[e]) < i
		}
	}
	return false
}

// NNZ returns the number of stored entries.
func (m *CSR) NNZ() int { return len(m.Indices) }

// Row returns an iterator over the entries (column, value) of row i, columns ascending.
func (m *CSR) Row(i int) iter.Seq2[int, float32] {
	return func(yield func(int, float32) bool) {
		for e := m.Indptr[i]; e < m.Indptr[i+1]; e++ {
			if !yield(int(m.Indices[e]), m.at(e)) {
				return
			}
		}
	}
}

func (m *CSR) at(e int64) float32 {
	if m.Data == nil {
		return 1
	}
	return m.Data[e]
}

// Validate returns an error that names the first fault of m: wrong lengths, row pointers out of bounds, columns out of
// range or not ascending within their row. It returns the error of ctx soon after ctx ends.
func (m *CSR) Validate(ctx context.Context) error {
	return m.ValidateRows(ctx, func(int, int) {})
}

// ValidateRows is Validate, and also calls use for ranges of valid rows, from several goroutines. Rows lo to hi−1 were
// read just before the call, so that a matrix that is mapped from a file is read only once.
func (m *CSR) ValidateRows(ctx context.Context, use func(lo, hi int)) error {
	if m.Rows < 0 || m.Cols < 0 {
		return fmt.Errorf("%d rows and %d columns, must be at least 0", m.Rows, m.Cols)
	}
	if len(m.Indptr) != m.Rows+1 {
		return fmt.Errorf("%d row pointers for %d rows, expected %d", len(m.Indptr), m.Rows, m.Rows+1)
	}
	if m.Indptr[0] != 0 || m.Indptr[m.Rows] != int64(len(m.Indices)) {
		return fmt.Errorf("row pointers run from %d to %d, must be 0 to the number of entries %d", m.Indptr[0],
			m.Indptr[m.Rows], len(m.Indices))
	}
	if m.Data != nil && len(m.Data) != len(m.Indices) {
		return fmt.Errorf("%d values for %d entries", len(m.Data), len(m.Indices))
	}
	const chunk = 1 << 12
	return parallel.Try(ctx, m.Rows, chunk, func(lo, hi int) error {
		if err := m.validateRows(lo, hi); err != nil {
			return err
		}
		use(lo, hi)
		return nil
	})
}

// validateRows returns the first fault in rows first to end−1. It does not assume that earlier rows are valid.
func (m *CSR) validateRows(first, end int) error {
	for i := first; i < end; i++ {
		lo, hi := m.Indptr[i], m.Indptr[i+1]
		if lo < 0 || lo > hi || hi > int64(len(m.Indices)) {
			return fmt.Errorf("row %d runs from entry %d to %d of %d", i, lo, hi, len(m.Indices))
		}
		last := int32(-1)
		for _, j := range m.Indices[lo:hi] {
			if j < 0 || int(j) >= m.Cols {
				return fmt.Errorf("column %d in row %d, must be 0 to %d", j, i, m.Cols-1)
			}
			if j <= last {
				return fmt.Errorf("columns %d, %d in row %d do not ascend", last, j, i)
			}
			last = j
		}
	}
	return nil
}

// Dense returns m as a dense matrix.
func (m *CSR) Dense() *Dense {
	d := NewDense(m.Rows, m.Cols)
	for i := range m.Rows {
		m.copyRow(d.Row(i), i)
	}
	return d
}

// Sparse returns m as a sparse matrix of its non-zero entries. Data is never nil.
func (m *Dense) Sparse() *CSR {
	s := &CSR{Rows: m.Rows, Cols: m.Cols, Indptr: memory.Make[int64](m.Rows + 1), Data: []float32{}}
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			if v != 0 {
				s.Indices = append(s.Indices, int32(j))
				s.Data = append(s.Data, v)
			}
		}
		s.Indptr[i+1] = int64(len(s.Indices))
	}
	return s
}

// Columns returns columns lo to hi−1 of m as a new matrix. Its column j is column lo+j of m.
func (m *CSR) Columns(lo, hi int) *CSR {
	if lo < 0 || lo > hi || hi > m.Cols {
		panic(fmt.Sprintf("mat: columns %d to %d of %d", lo, hi, m.Cols))
	}
	c := &CSR{Rows: m.Rows, Cols: hi - lo, Indptr: memory.Make[int64](m.Rows + 1)}
	if m.Data != nil {
		c.Data = []float32{}
	}
	for i := range m.Rows {
		start, end := m.Indptr[i], m.Indptr[i+1]
		from, _ := slices.BinarySearch(m.Indices[start:end], int32(lo))
		for e := start + int64(from); e < end && int(m.Indices[e]) < hi; e++ {
			c.Indices = append(c.Indices, m.Indices[e]-int32(lo))
			if m.Data != nil {
				c.Data = append(c.Data, m.Data[e])
			}
		}
		c.Indptr[i+1] = int64(len(c.Indices))
	}
	return c
}

// Select returns the given rows of m as a new matrix, in the given order, repeats allowed.
func (m *CSR) Select(rows []int32) *CSR {
	s := &CSR{Rows: len(rows), Cols: m.Cols, Indptr: memory.Make[int64](len(rows) + 1)}
	if m.Data != nil {
		s.Data = []float32{}
	}
	for i, v := range rows {
		lo, hi := m.Indptr[v], m.Indptr[v+1]
		s.Indices = append(s.Indices, m.Indices[lo:hi]...)
		if m.Data != nil {
			s.Data = append(s.Data, m.Data[lo:hi]...)
		}
		s.Indptr[i+1] = int64(len(s.Indices))
	}
	return s
}

func (m *CSR) copyRow(dst []float32, i int) {
	clear(dst)
	for e := m.Indptr[i]; e < m.Indptr[i+1]; e++ {
		dst[m.Indices[e]] = m.at(e)
	}
}

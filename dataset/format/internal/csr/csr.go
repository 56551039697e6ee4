// Package csr reads sparse matrices of other programs, whose columns may be unsorted and repeated.
package csr

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// The numbers of entries and of rows between two checks of the context.
const look, lookRows = 1 << 20, 1 << 12

// Check returns an error if m cannot be read row by row. Unlike m.Validate, it allows repeated and unsorted columns, as
// scipy does. It returns ctx.Err() soon after ctx is done.
func Check(ctx context.Context, m *mat.CSR) error {
	if len(m.Indptr) != m.Rows+1 {
		return fmt.Errorf("%d row pointers for %d rows, expected %d", len(m.Indptr), m.Rows, m.Rows+1)
	}
	if m.Data != nil && len(m.Data) != len(m.Indices) {
		return fmt.Errorf("%d values for %d entries", len(m.Data), len(m.Indices))
	}
	if m.Indptr[0] != 0 || m.Indptr[m.Rows] != int64(len(m.Indices)) {
		return fmt.Errorf("row pointers run from %d to %d, must be 0 to the number of entries %d",
			m.Indptr[0], m.Indptr[m.Rows], len(m.Indices))
	}
	for i := range m.Rows {
		if m.Indptr[i] > m.Indptr[i+1] {
			return fmt.Errorf("row pointer %d of row %d is above %d of the next", m.Indptr[i], i, m.Indptr[i+1])
		}
	}
	for e, j := range m.Indices {
		if e%look == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if j < 0 || int(j) >= m.Cols {
			return fmt.Errorf("column %d of entry %d, must be 0 to %d", j, e, m.Cols-1)
		}
	}
	return ctx.Err()
}

// gather fills s, in which only Rows and Cols are set, with the entries (row[e], col[e], data[e]), sorted by row. It
// checks row indices, but not column indices. It returns ctx.Err() soon after ctx is done.
func gather(ctx context.Context, s *mat.CSR, row, col []int32, data []float32) (*mat.CSR, error) {
	if len(row) != len(col) || len(data) != len(row) {
		return nil, fmt.Errorf("%d rows, %d columns and %d values, must be equal numbers", len(row), len(col), len(data))
	}
	s.Indptr = memory.Make[int64](s.Rows + 1)
	for e, i := range row {
		if e%look == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if i < 0 || int(i) >= s.Rows {
			return nil, fmt.Errorf("row %d of entry %d, must be 0 to %d", i, e, s.Rows-1)
		}
		s.Indptr[i+1]++
	}
	for i := range s.Rows {
		s.Indptr[i+1] += s.Indptr[i]
	}
	at := memory.Clone(s.Indptr)
	s.Indices, s.Data = memory.Make[int32](len(row)), memory.Make[float32](len(row))
	for e, i := range row {
		if e%look == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.Indices[at[i]], s.Data[at[i]] = col[e], data[e]
		at[i]++
	}
	return s, nil
}

// Transpose returns the transpose of t, which must have values. It checks t. If t holds the columns of a matrix as
// rows, the result is that matrix. It returns ctx.Err() soon after ctx is done.
func Transpose(ctx context.Context, t *mat.CSR) (*mat.CSR, error) {
	if err := Check(ctx, t); err != nil {
		return nil, fmt.Errorf("in columns: %w", err)
	}
	rows, err := Rows(ctx, t)
	if err != nil {
		return nil, err
	}
	return gather(ctx, &mat.CSR{Rows: t.Cols, Cols: t.Rows}, t.Indices, rows, t.Data)
}

// Parts are the arrays of a sparse matrix of another program.
type Parts struct {
	// Layout is csr, csc or coo.
	Layout     string
	Rows, Cols int
	// Pointers say where each row (csr) or column (csc) begins. A matrix in coo has Row instead.
	Pointers []int64
	Row      []int32
	// Col holds the column of each entry, or in csc its row.
	Col []int32
	// Values holds the values of the entries; nil means ones.
	Values []float32
}

// CSR returns the matrix with the columns of each row ascending. Repeated entries are added up, as scipy does.
func (p Parts) CSR(ctx context.Context) (m *mat.CSR, err error) {
	if p.Values == nil {
		p.Values = memory.Filled[float32](len(p.Col), 1)
	}
	switch p.Layout {
	case "coo":
		m, err = gather(ctx, &mat.CSR{Rows: p.Rows, Cols: p.Cols}, p.Row, p.Col, p.Values)
	case "csc":
		m, err = Transpose(ctx, &mat.CSR{Rows: p.Cols, Cols: p.Rows, Indptr: p.Pointers, Indices: p.Col, Data: p.Values})
	default:
		m = &mat.CSR{Rows: p.Rows, Cols: p.Cols, Indptr: p.Pointers, Indices: p.Col, Data: p.Values}
	}
	if err == nil {
		err = Check(ctx, m)
	}
	if err == nil {
		err = SortRows(ctx, m)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Rows returns the row of each entry of m. It returns ctx.Err() soon after ctx is done.
func Rows(ctx context.Context, m *mat.CSR) ([]int32, error) {
	rows := memory.Make[int32](len(m.Indices))
	for i := range m.Rows {
		if i%lookRows == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row := rows[m.Indptr[i]:m.Indptr[i+1]]
		for e := range row {
			row[e] = int32(i)
		}
	}
	return rows, nil
}

// Edges returns the entries of a square matrix that are not zero as edges. A value that is negative or not finite is an
// error, and so is a cancelled ctx. The edges reuse the memory of m and overwrite its entries.
func Edges(ctx context.Context, m *mat.CSR) (graph.Edges, error) {
	if m.Rows != m.Cols {
		return graph.Edges{}, fmt.Errorf("adjacency is %d×%d, must be square", m.Rows, m.Cols)
	}
	rows, err := Rows(ctx, m)
	if err != nil {
		return graph.Edges{}, err
	}
	e := graph.Edges{From: rows, To: m.Indices, Weight: m.Data}
	bad, err := Positive(ctx, &e)
	if bad >= 0 {
		err = fmt.Errorf("weight %v of edge %d–%d, must be a positive finite number", e.Weight[bad], e.From[bad], e.To[bad])
	}
	return e, err
}

// Positive drops edges of weight 0, and all weights if the others are 1. It returns the first edge whose weight is
// negative or not finite, or −1. It returns ctx.Err() soon after ctx is done.
func Positive(ctx context.Context, e *graph.Edges) (bad int, err error) {
	if e.Weight == nil {
		return -1, nil
	}
	kept, plain := 0, true
	for k, w := range e.Weight {
		if k%look == 0 && ctx.Err() != nil {
			return -1, ctx.Err()
		}
		if w < 0 || w != w || w > math.MaxFloat32 {
			return k, nil
		}
		if w != 0 {
			e.From[kept], e.To[kept], e.Weight[kept] = e.From[k], e.To[k], w
			plain = plain && w == 1
			kept++
		}
	}
	e.From, e.To, e.Weight = e.From[:kept], e.To[:kept], e.Weight[:kept]
	if plain {
		e.Weight = nil
	}
	return -1, nil
}

// SortRows sorts the columns of each row in place, and sums the values of repeated columns, as scipy does. m.Data must
// not be nil. Soon after ctx is done, SortRows returns ctx.Err() and leaves m invalid.
func SortRows(ctx context.Context, m *mat.CSR) error {
	const chunk = 1024
	length := memory.Make[int64](m.Rows + 1)
	err := parallel.ForContext(ctx, m.Rows, chunk, func(lo, hi int) {
		type entry struct {
			column int32
			value  float32
		}
		var row []entry
		for i := lo; i < hi; i++ {
			columns, values := m.Indices[m.Indptr[i]:m.Indptr[i+1]], m.Data[m.Indptr[i]:m.Indptr[i+1]]
			length[i+1] = int64(len(columns))
			if ascending(columns) {
				continue
			}
			row = row[:0]
			for e, j := range columns {
				row = append(row, entry{j, values[e]})
			}
			slices.SortStableFunc(row, func(a, b entry) int { return cmp.Compare(a.column, b.column) })
			kept := 0
			for e, v := range row {
				if e > 0 && v.column == row[e-1].column {
					values[kept-1] += v.value
					continue
				}
				columns[kept], values[kept] = v.column, v.value
				kept++
			}
			length[i+1] = int64(kept)
		}
	})
	if err != nil {
		return err
	}
	at := int64(0)
	for i := range m.Rows {
		if i%lookRows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		from := m.Indptr[i]
		copy(m.Indices[at:], m.Indices[from:from+length[i+1]])
		copy(m.Data[at:], m.Data[from:from+length[i+1]])
		m.Indptr[i] = at
		at += length[i+1]
	}
	m.Indptr[m.Rows] = at
	m.Indices, m.Data = m.Indices[:at], m.Data[:at]
	return nil
}

// ascending reports whether columns are strictly ascending.
func ascending(columns []int32) bool {
	for e := 1; e < len(columns); e++ {
		if columns[e] <= columns[e-1] {
			return false
		}
	}
	return true
}

package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// arcs is a list of edges as files have them. Its nodes are in range and its weights positive and finite: readers check that
// where they know the place.
type arcs struct {
	from, to []int32
	weight   []float32 // nil: all 1
}

// maxNodes bounds nodes and columns: indices are int32.
const maxNodes = math.MaxInt32

// checkCSR returns what keeps m from being read row by row. Unlike m.Validate it lets columns repeat and stand in any order, as
// scipy does.
func checkCSR(m *mat.CSR) error {
	if len(m.Indptr) != m.Rows+1 {
		return fmt.Errorf("%d row pointers for %d rows, want %d", len(m.Indptr), m.Rows, m.Rows+1)
	}
	if m.Data != nil && len(m.Data) != len(m.Indices) {
		return fmt.Errorf("%d values for %d entries", len(m.Data), len(m.Indices))
	}
	if m.Indptr[0] != 0 || m.Indptr[m.Rows] != int64(len(m.Indices)) {
		return fmt.Errorf("row pointers run from %d to %d, want 0 to the number of entries %d", m.Indptr[0], m.Indptr[m.Rows], len(m.Indices))
	}
	for i := range m.Rows {
		if m.Indptr[i] > m.Indptr[i+1] {
			return fmt.Errorf("row pointer %d of row %d is above %d of the next", m.Indptr[i], i, m.Indptr[i+1])
		}
	}
	if e := firstOutside(m.Indices, m.Cols); e < len(m.Indices) {
		return fmt.Errorf("column %d of entry %d, want 0 to %d", m.Indices[e], e, m.Cols-1)
	}
	return nil
}

// firstOutside returns the place of the first index that is not in [0, n), or the number of indices.
func firstOutside(indices []int32, n int) int {
	const chunk = 1 << 20
	first := make([]int, (len(indices)+chunk-1)/chunk)
	parallel.For(len(indices), chunk, func(lo, hi int) {
		at := lo
		for at < hi && uint(indices[at]) < uint(n) { // a negative one is large
			at++
		}
		first[lo/chunk] = at
	})
	for c, at := range first {
		if at < min((c+1)*chunk, len(indices)) {
			return at
		}
	}
	return len(indices)
}

// arcsOf returns the entries of a square matrix whose value is not zero as arcs; a value that is negative or not finite is an error.
func arcsOf(m *mat.CSR) (arcs, error) {
	if m.Rows != m.Cols {
		return arcs{}, fmt.Errorf("adjacency is %d×%d, want it square", m.Rows, m.Cols)
	}
	a := arcs{from: make([]int32, 0, len(m.Indices)), to: m.Indices, weight: m.Data}
	for i := range m.Rows {
		for range m.Indptr[i+1] - m.Indptr[i] {
			a.from = append(a.from, int32(i))
		}
	}
	kept, plain := 0, true
	for e, w := range m.Data {
		if w < 0 || w != w || w > math.MaxFloat32 {
			return arcs{}, fmt.Errorf("weight %v of edge %d–%d, want a positive finite number", w, a.from[e], a.to[e])
		}
		if w != 0 {
			a.from[kept], a.to[kept], a.weight[kept] = a.from[e], a.to[e], w
			plain = plain && w == 1
			kept++
		}
	}
	if m.Data != nil {
		a.from, a.to, a.weight = a.from[:kept], a.to[:kept], a.weight[:kept]
	}
	if plain {
		a.weight = nil
	}
	return a, nil
}

// sortRows makes the columns of each row ascend and adds up the values of repeated ones, as scipy reads them. It changes m.
func sortRows(m *mat.CSR) {
	const chunk = 1024
	length := make([]int64, m.Rows+1)
	parallel.For(m.Rows, chunk, func(lo, hi int) {
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
	at := int64(0)
	for i := range m.Rows {
		from := m.Indptr[i]
		copy(m.Indices[at:], m.Indices[from:from+length[i+1]])
		copy(m.Data[at:], m.Data[from:from+length[i+1]])
		m.Indptr[i] = at
		at += length[i+1]
	}
	m.Indptr[m.Rows] = at
	m.Indices, m.Data = m.Indices[:at], m.Data[:at]
}

// ascending says whether columns ascend without repeats.
func ascending(columns []int32) bool {
	for e := 1; e < len(columns); e++ {
		if columns[e] <= columns[e-1] {
			return false
		}
	}
	return true
}

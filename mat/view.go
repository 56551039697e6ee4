package mat

import "context"

// View is a selection of rows of a dense matrix, in any order. It shares the memory of the matrix. The zero value has
// no rows.
type View struct {
	of   *Dense
	rows []int32 // nil: all rows in order
}

// View returns all rows of m.
func (m *Dense) View() View { return View{of: m} }

// Select returns the given rows of m, in the given order, repeats allowed. It keeps rows. If rows is empty or nil, so
// is the view.
func (m *Dense) Select(rows []int32) View {
	if rows == nil {
		rows = []int32{} // nil means all rows
	}
	return View{of: m, rows: rows}
}

// Dims returns the numbers of rows and columns.
func (v View) Dims() (rows, cols int) {
	if v.of == nil {
		return 0, 0
	}
	if v.rows == nil {
		return v.of.Rows, v.of.Cols
	}
	return len(v.rows), v.of.Cols
}

// Row returns row i, a slice of the matrix's own memory.
func (v View) Row(i int) []float32 {
	if v.rows != nil {
		i = int(v.rows[i])
	}
	return v.of.Row(i)
}

// Rows returns all rows, slices of the matrix's own memory.
func (v View) Rows() [][]float32 {
	n, _ := v.Dims()
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = v.Row(i)
	}
	return rows
}

// Block returns rows lo to hi−1, contiguous. They share the matrix's memory if v comes from Dense.View, and are copied
// into buffer otherwise.
func (v View) Block(lo, hi int, buffer *Dense) []float32 {
	if v.of == nil {
		return nil
	}
	if v.rows == nil {
		return v.of.Data[lo*v.of.Cols : hi*v.of.Cols]
	}
	buffer.Reshape(hi-lo, v.of.Cols)
	for i := lo; i < hi; i++ {
		copy(buffer.Row(i-lo), v.Row(i))
	}
	return buffer.Data
}

// Dense returns the rows as a matrix: the underlying matrix if v comes from Dense.View, otherwise a copy.
func (v View) Dense() *Dense {
	if v.of == nil {
		return new(Dense)
	}
	if v.rows == nil {
		return v.of
	}
	m := new(Dense)
	v.of.Gather(m, v.rows)
	return m
}

// FirstNotFinite returns the position of the first NaN or infinity of v in row-major order, and whether there is one.
func (v View) FirstNotFinite() (row, col int, found bool) {
	n, _ := v.Dims()
	if n > 0 && v.rows == nil {
		row, col, found, _ = FirstNotFinite(context.Background(), v.of) // reading a *Dense never fails
		return row, col, found
	}
	for i := range n {
		if j := firstNotFinite(context.Background(), v.Row(i)); j >= 0 {
			return i, j, true
		}
	}
	return 0, 0, false
}

package autodiff

import "github.com/graph-condensation/cgc/internal/kernel"

// Sum returns Σ_ij x_ij, 1×1.
func (t *Tape) Sum(x *Var) *Var { return t.ColumnSums(t.RowSums(x)) }

// RowSums returns the sum of each row, n×1 for x n×c.
func (t *Tape) RowSums(x *Var) *Var {
	return t.rowwise(x, x.Value.Rows, 1, func(v *Var, lo, hi int) {
		for i := lo; i < hi; i++ {
			var sum float64
			for _, x := range v.a.Value.Row(i) {
				sum += float64(x)
			}
			v.own.Data[i] = float32(sum)
		}
	}, func(v, g *Var) *Var { return v.tape.RepeatColumn(g, v.a.Value.Cols) })
}

// rowwise records an operation on x, and runs its body over all rows of the result, rows×cols. dx is the gradient in x.
func (t *Tape) rowwise(x *Var, rows, cols int, body func(v *Var, lo, hi int), dx gradient) *Var {
	v := t.record(x, nil, dx, nil)
	v.own.Reshape(rows, cols)
	return t.run(v, rows, rowChunk(max(cols, x.Value.Cols)), body)
}

// RepeatColumn returns the n×cols matrix whose columns all equal x, n×1. It is the transpose of RowSums.
func (t *Tape) RepeatColumn(x *Var, cols int) *Var {
	checkShape("a column to repeat", x.Value, x.Value.Rows, 1)
	return t.rowwise(x, x.Value.Rows, cols, func(v *Var, lo, hi int) {
		for i := lo; i < hi; i++ {
			row, x := v.own.Row(i), v.a.Value.Data[i]
			for j := range row {
				row[j] = x
			}
		}
	}, func(v, g *Var) *Var { return v.tape.RowSums(g) })
}

// sumChunk is the number of rows in a block. Rows of a block are added in float32, and the sums of blocks in float64.
const sumChunk = 256

// ColumnSums returns the sum of each column, 1×c for x n×c. It adds in float32 within blocks of 256 rows, and in
// float64 across blocks.
func (t *Tape) ColumnSums(x *Var) *Var {
	n, c := x.Value.Dims()
	v := t.record(x, nil, func(v, g *Var) *Var { return v.tape.repeatRow(g, v.a.Value.Rows) }, nil)
	v.own.Reshape((n+sumChunk-1)/sumChunk, c) // one row for each block
	t.run(v, n, sumChunk, func(v *Var, lo, hi int) {
		if lo == hi {
			return
		}
		sum := v.own.Row(lo / sumChunk)
		copy(sum, v.a.Value.Row(lo))
		for i := lo + 1; i < hi; i++ {
			kernel.Add(sum, sum, v.a.Value.Row(i))
		}
	})
	t.sums = append(t.sums[:0], make([]float64, c)...)
	for i := range v.own.Rows {
		for j, s := range v.own.Row(i) {
			t.sums[j] += float64(s)
		}
	}
	v.own.Reshape(1, c)
	for j, s := range t.sums {
		v.own.Data[j] = float32(s)
	}
	return v
}

// repeatRow returns the rows×c matrix whose rows all equal x, 1×c. It is the transpose of ColumnSums.
func (t *Tape) repeatRow(x *Var, rows int) *Var {
	checkShape("a row to repeat", x.Value, 1, x.Value.Cols)
	return t.rowwise(x, rows, x.Value.Cols, func(v *Var, lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(v.own.Row(i), v.a.Value.Data)
		}
	}, func(v, g *Var) *Var { return v.tape.ColumnSums(g) })
}

// AddRow adds the row b, 1×c, to each row of x, n×c. b may be a bias.
func (t *Tape) AddRow(x, b *Var) *Var {
	checkShape("a row to add", b.Value, 1, x.Value.Cols)
	v := t.record(x, b, same, func(v, g *Var) *Var { return v.tape.ColumnSums(g) })
	v.own.Reshape(x.Value.Rows, x.Value.Cols)
	return t.run(v, x.Value.Rows, rowChunk(x.Value.Cols), func(v *Var, lo, hi int) {
		for i := lo; i < hi; i++ {
			kernel.Add(v.own.Row(i), v.a.Value.Row(i), v.b.Value.Data)
		}
	})
}

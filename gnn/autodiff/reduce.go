package autodiff

import (
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
)

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

// LogSoftmax returns the logarithm of the softmax of each row: x_ij − log Σ_k exp(x_ik). The largest element of a row
// is subtracted first, so that no exponential overflows.
func (t *Tape) LogSoftmax(x *Var) *Var {
	v := t.record(x, nil, func(v, g *Var) *Var {
		t := v.tape
		return t.Sub(g, t.Mul(t.Exp(v), t.RepeatColumn(t.RowSums(g), g.Value.Cols)))
	}, nil)
	v.own.Reshape(x.Value.Rows, x.Value.Cols)
	return t.run(v, x.Value.Rows, rowChunk(8*x.Value.Cols), func(v *Var, lo, hi int) {
		for i := lo; i < hi; i++ {
			x, dst := v.a.Value.Row(i), v.own.Row(i)
			top := float32(math.Inf(-1))
			for _, a := range x {
				top = max(top, a)
			}
			shift := float32(math.Log(float64(kernel.ExpShifted(dst, x, top))))
			for j, a := range x {
				dst[j] = a - top - shift
			}
		}
	})
}

// CrossEntropy returns −(1/n) Σ_i Σ_c y_ic·log softmax(x_i)_c, 1×1, for logits x n×c and targets y n×c. Each row of y
// is a distribution over the classes, such as OneHot of a label. CrossEntropy is differentiable in x and y.
func (t *Tape) CrossEntropy(x, y *Var) *Var {
	if x.Value.Rows == 0 {
		panic("autodiff: cross entropy of 0 rows")
	}
	return t.Scale(-1/float32(x.Value.Rows), t.Sum(t.Mul(y, t.LogSoftmax(x))))
}

// OneHot returns the n×classes matrix with a 1 at (i, labels[i]) and zeros elsewhere.
func OneHot(labels []int32, classes int) *mat.Dense {
	y := mat.NewDense(len(labels), classes)
	for i, c := range labels {
		if c < 0 || int(c) >= classes {
			panic(fmt.Sprintf("autodiff: label %d of row %d, must be 0 to %d", c, i, classes-1))
		}
		y.Row(i)[c] = 1
	}
	return y
}

package autodiff

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/product"
	"github.com/graph-condensation/cgc/mat"
)

// Rows returns the rows of x that index lists, in that order. Rows may be repeated. index must not change until Reset.
func (t *Tape) Rows(x *Var, index []int32) *Var {
	return t.rows(x, index, func(v, g *Var) *Var { return v.tape.SpreadRows(g, v.index, v.a.Value.Rows) })
}

// rows implements Rows with dx as the gradient in x.
func (t *Tape) rows(x *Var, index []int32, dx gradient) *Var {
	checkIndex(index, x.Value.Rows)
	v := t.record(x, nil, dx, nil)
	v.index = index
	v.own.Reshape(len(index), x.Value.Cols)
	return t.run(v, len(index), rowChunk(x.Value.Cols), func(v *Var, lo, hi int) {
		for r := lo; r < hi; r++ {
			copy(v.own.Row(r), v.a.Value.Row(int(v.index[r])))
		}
	})
}

// checkIndex panics if index lists a row outside 0 to rows−1. Reused memory may extend beyond the rows of a matrix.
func checkIndex(index []int32, rows int) {
	for r, i := range index {
		if i < 0 || int(i) >= rows {
			panic(fmt.Sprintf("autodiff: index %d is row %d, must be 0 to %d", r, i, rows-1))
		}
	}
}

// SpreadRows returns a matrix with the given number of rows. Row i is the sum of the rows r of x with index[r] = i,
// added in ascending order of r. SpreadRows is the transpose of Rows.
func (t *Tape) SpreadRows(x *Var, index []int32, rows int) *Var {
	if len(index) != x.Value.Rows {
		panic(fmt.Sprintf("autodiff: %d places for %d rows", len(index), x.Value.Rows))
	}
	checkIndex(index, rows)
	v := t.record(x, nil, func(v, g *Var) *Var { return v.tape.Rows(g, v.index) }, nil)
	v.index = index
	v.own.Reshape(rows, x.Value.Cols)
	clear(v.own.Data)
	for r, i := range index {
		if r%(1<<14) == 0 && t.ctx.Err() != nil {
			break // the next operation panics, which ends Within
		}
		row := v.own.Row(int(i))
		kernel.Add(row, row, x.Value.Row(r))
	}
	return v
}

// Concat returns [a b], the columns of a followed by the columns of b. a and b must have the same number of rows.
func (t *Tape) Concat(a, b *Var) *Var {
	checkShape("the right part", b.Value, a.Value.Rows, b.Value.Cols)
	v := t.record(a, b,
		func(v, g *Var) *Var { return v.tape.Columns(g, 0, v.a.Value.Cols) },
		func(v, g *Var) *Var { return v.tape.Columns(g, v.a.Value.Cols, g.Value.Cols) })
	v.own.Reshape(a.Value.Rows, a.Value.Cols+b.Value.Cols)
	return t.run(v, a.Value.Rows, rowChunk(v.own.Cols), func(v *Var, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := v.own.Row(i)
			copy(row, v.a.Value.Row(i))
			copy(row[v.a.Value.Cols:], v.b.Value.Row(i))
		}
	})
}

// Columns returns columns lo to hi−1 of x.
func (t *Tape) Columns(x *Var, lo, hi int) *Var {
	if lo < 0 || hi < lo || hi > x.Value.Cols {
		panic(fmt.Sprintf("autodiff: columns %d to %d of %d", lo, hi, x.Value.Cols))
	}
	v := t.record(x, nil, func(v, g *Var) *Var { return v.tape.padColumns(g, v.first, v.a.Value.Cols) }, nil)
	v.first = lo
	v.own.Reshape(x.Value.Rows, hi-lo)
	return t.run(v, x.Value.Rows, rowChunk(hi-lo), func(v *Var, lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(v.own.Row(i), v.a.Value.Row(i)[v.first:])
		}
	})
}

// padColumns returns a matrix of cols columns: x starting at column first, and zeros elsewhere.
func (t *Tape) padColumns(x *Var, first, cols int) *Var {
	v := t.record(x, nil, func(v, g *Var) *Var {
		return v.tape.Columns(g, v.first, v.first+v.a.Value.Cols)
	}, nil)
	v.first = first
	v.own.Reshape(x.Value.Rows, cols)
	return t.run(v, x.Value.Rows, rowChunk(cols), func(v *Var, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := v.own.Row(i)
			clear(row)
			copy(row[v.first:], v.a.Value.Row(i))
		}
	})
}

// multiplication is product.Mul, or one of the products with a transposed factor.
type multiplication func(ctx context.Context, dst, a, b *product.Dense) error

func (t *Tape) multiply(a, b *Var, by multiplication, da, db gradient) *Var {
	v := t.record(a, b, da, db)
	_ = by(t.ctx, (*product.Dense)(&v.own), (*product.Dense)(a.Value), (*product.Dense)(b.Value))
	return v
}

// MatMul returns a·b, m×n for a m×k and b k×n.
func (t *Tape) MatMul(a, b *Var) *Var {
	return t.multiply(a, b, product.Mul,
		func(v, g *Var) *Var { return v.tape.MatMulTB(g, v.b) },
		func(v, g *Var) *Var { return v.tape.MatMulTA(v.a, g) })
}

// MatMulTA returns aᵀ·b, m×n for a k×m and b k×n.
func (t *Tape) MatMulTA(a, b *Var) *Var {
	return t.multiply(a, b, product.MulTA,
		func(v, g *Var) *Var { return v.tape.MatMulTB(v.b, g) },
		func(v, g *Var) *Var { return v.tape.MatMul(v.a, g) })
}

// MatMulTB returns a·bᵀ, m×n for a m×k and b n×k.
func (t *Tape) MatMulTB(a, b *Var) *Var {
	return t.multiply(a, b, product.MulTB,
		func(v, g *Var) *Var { return v.tape.MatMul(g, v.b) },
		func(v, g *Var) *Var { return v.tape.MatMulTA(g, v.a) })
}

// Linear is a fixed linear map x ↦ L·x, such as Â or sparse features.
type Linear interface {
	// Apply sets dst to L·x. dst does not alias x.
	Apply(dst, x *mat.Dense)
	// T returns Lᵀ.
	T() Linear
}

// Linear returns l·x. The map itself is a constant: it must not change until Reset.
func (t *Tape) Linear(l Linear, x *Var) *Var {
	v := t.record(x, nil, func(v, g *Var) *Var { return v.tape.Linear(v.linear.T(), g) }, nil)
	v.linear = l
	l.Apply(&v.own, x.Value)
	return v
}

// Transpose returns xᵀ.
func (t *Tape) Transpose(x *Var) *Var {
	v := t.record(x, nil, func(v, g *Var) *Var { return v.tape.Transpose(g) }, nil)
	n, c := x.Value.Dims()
	v.own.Reshape(c, n)
	return t.run(v, c, rowChunk(n), func(v *Var, lo, hi int) {
		x := v.a.Value
		for i := range x.Rows { // reads rows in order; each task writes its own rows
			for j, value := range x.Row(i)[lo:hi] {
				v.own.Data[(lo+j)*x.Rows+i] = value
			}
		}
	})
}

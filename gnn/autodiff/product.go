package autodiff

import (
	"context"

	"github.com/graph-condensation/cgc/internal/product"
	"github.com/graph-condensation/cgc/mat"
)

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

package autodiff

import (
	"github.com/graph-condensation/cgc/internal/product"
	"github.com/graph-condensation/cgc/mat"
)

// MatMul returns a·b, m×n for a m×k and b k×n.
func (t *Tape) MatMul(a, b *Var) *Var {
	v := t.record(a, b, matMulGrad)
	_ = product.Mul(t.ctx, (*product.Dense)(&v.own), (*product.Dense)(a.Value), (*product.Dense)(b.Value))
	return v
}

func matMulGrad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(v.tape.MatMulTB(g, v.b))
	}
	if wanted(v.b) {
		v.b.add(v.tape.MatMulTA(v.a, g))
	}
}

// MatMulTA returns aᵀ·b, m×n for a k×m and b k×n.
func (t *Tape) MatMulTA(a, b *Var) *Var {
	v := t.record(a, b, matMulTAGrad)
	_ = product.MulTA(t.ctx, (*product.Dense)(&v.own), (*product.Dense)(a.Value), (*product.Dense)(b.Value))
	return v
}

func matMulTAGrad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(v.tape.MatMulTB(v.b, g))
	}
	if wanted(v.b) {
		v.b.add(v.tape.MatMul(v.a, g))
	}
}

// MatMulTB returns a·bᵀ, m×n for a m×k and b n×k.
func (t *Tape) MatMulTB(a, b *Var) *Var {
	v := t.record(a, b, matMulTBGrad)
	_ = product.MulTB(t.ctx, (*product.Dense)(&v.own), (*product.Dense)(a.Value), (*product.Dense)(b.Value))
	return v
}

func matMulTBGrad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(v.tape.MatMul(g, v.b))
	}
	if wanted(v.b) {
		v.b.add(v.tape.MatMulTA(g, v.a))
	}
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
	v := t.record(x, nil, linearGrad)
	v.linear = l
	l.Apply(&v.own, x.Value)
	return v
}

func linearGrad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(v.tape.Linear(v.linear.T(), g))
	}
}

// Transpose returns xᵀ.
func (t *Tape) Transpose(x *Var) *Var {
	v := t.record(x, nil, transposeGrad)
	n, c := x.Value.Dims()
	v.own.Reshape(c, n)
	return t.run(v, c, rowChunk(n), transposeBody)
}

func transposeBody(v *Var, lo, hi int) {
	x := v.a.Value
	for i := range x.Rows { // reads rows in order; each task writes its own rows
		for j, value := range x.Row(i)[lo:hi] {
			v.own.Data[(lo+j)*x.Rows+i] = value
		}
	}
}

func transposeGrad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(v.tape.Transpose(g))
	}
}

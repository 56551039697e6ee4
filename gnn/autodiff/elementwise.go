package autodiff

import (
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/kernel"
)

// elementwise records an operation on a and b, and runs its body over all elements. The result has the shape of a. b
// may be nil.
func (t *Tape) elementwise(a, b *Var, vjp func(v, g *Var), alpha, beta float32, body func(v *Var, lo, hi int)) *Var {
	if b != nil {
		checkShape("the second operand", b.Value, a.Value.Rows, a.Value.Cols)
	}
	v := t.record(a, b, vjp)
	v.alpha, v.beta = alpha, beta
	v.own.Reshape(a.Value.Rows, a.Value.Cols)
	return t.run(v, len(v.own.Data), elementChunk, body)
}

// Add returns a + b for a and b of equal shapes.
func (t *Tape) Add(a, b *Var) *Var { return t.elementwise(a, b, addGrad, 0, 0, addBody) }

func addBody(v *Var, lo, hi int) {
	kernel.Add(v.own.Data[lo:hi], v.a.Value.Data[lo:hi], v.b.Value.Data[lo:hi])
}

func addGrad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(g)
	}
	if wanted(v.b) {
		v.b.add(g)
	}
}

// Sub returns a − b for a and b of equal shapes.
func (t *Tape) Sub(a, b *Var) *Var { return t.elementwise(a, b, subGrad, 0, 0, subBody) }

func subBody(v *Var, lo, hi int) {
	dst, a, b := v.own.Data[lo:hi], v.a.Value.Data[lo:hi], v.b.Value.Data[lo:hi]
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
}

func subGrad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(g)
	}
	if wanted(v.b) {
		v.b.add(v.tape.Scale(-1, g))
	}
}

// Mul returns a ⊙ b, the element-wise product, for a and b of equal shapes.
func (t *Tape) Mul(a, b *Var) *Var { return t.elementwise(a, b, mulGrad, 0, 0, mulBody) }

func mulBody(v *Var, lo, hi int) {
	kernel.Mul(v.own.Data[lo:hi], v.a.Value.Data[lo:hi], v.b.Value.Data[lo:hi])
}

func mulGrad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(v.tape.Mul(g, v.b))
	}
	if wanted(v.b) {
		v.b.add(v.tape.Mul(g, v.a))
	}
}

// Scale returns alpha·a.
func (t *Tape) Scale(alpha float32, a *Var) *Var {
	return t.elementwise(a, nil, scaleGrad, alpha, 0, scaleBody)
}

func scaleBody(v *Var, lo, hi int) {
	kernel.Scale(v.own.Data[lo:hi], v.alpha, v.a.Value.Data[lo:hi])
}

func scaleGrad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(v.tape.Scale(v.alpha, g))
	}
}

// ReLU returns max(0, x). Its derivative at 0 is 0 here.
func (t *Tape) ReLU(x *Var) *Var { return t.gate(x, x, 1, 0) }

// LeakyReLU returns x where x > 0, and slope·x elsewhere. Its derivative at 0 is slope here.
func (t *Tape) LeakyReLU(slope float32, x *Var) *Var { return t.gate(x, x, 1, slope) }

// gate returns positive·x where by > 0, and negative·x elsewhere. It is linear in x, so its gradient in x is a gate
// too. Its derivative in by is 0 wherever it exists.
func (t *Tape) gate(x, by *Var, positive, negative float32) *Var {
	checkShape("the gate", by.Value, x.Value.Rows, x.Value.Cols)
	v := t.record(x, nil, gateGrad)
	v.alpha, v.beta = positive, negative
	v.b = by
	v.own.Reshape(x.Value.Rows, x.Value.Cols)
	return t.run(v, len(v.own.Data), elementChunk, gateBody)
}

func gateBody(v *Var, lo, hi int) {
	dst, x, by := v.own.Data[lo:hi], v.a.Value.Data[lo:hi], v.b.Value.Data[lo:hi]
	if v.alpha == 1 && v.beta == 0 {
		kernel.ReLUGrad(dst, x, by)
		return
	}
	for i, b := range by {
		slope := v.beta
		if b > 0 {
			slope = v.alpha
		}
		dst[i] = slope * x[i]
	}
}

func gateGrad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(v.tape.gate(g, v.b, v.alpha, v.beta))
	}
}

// ELU returns x where x > 0, and exp(x) − 1 elsewhere (Clevert et al. 2016, α = 1).
func (t *Tape) ELU(x *Var) *Var { return t.elementwise(x, nil, eluGrad, 0, 0, eluBody) }

func eluBody(v *Var, lo, hi int) {
	for i, x := range v.a.Value.Data[lo:hi] {
		if x <= 0 {
			x = float32(math.Expm1(float64(x)))
		}
		v.own.Data[lo+i] = x
	}
}

func eluGrad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(v.tape.Mul(g, v.tape.expBelow(v.a)))
	}
}

// expBelow returns exp(min(0, x)), the derivative of ELU.
func (t *Tape) expBelow(x *Var) *Var {
	return t.elementwise(x, nil, expBelowGrad, 0, 0, expBelowBody)
}

func expBelowBody(v *Var, lo, hi int) {
	for i, x := range v.a.Value.Data[lo:hi] {
		v.own.Data[lo+i] = float32(math.Exp(float64(min(0, x))))
	}
}

func expBelowGrad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(v.tape.gate(v.tape.Mul(g, v), v.a, 0, 1))
	}
}

// Exp returns exp(x), element-wise.
func (t *Tape) Exp(x *Var) *Var { return t.elementwise(x, nil, expGrad, 0, 0, expBody) }

func expBody(v *Var, lo, hi int) {
	for i, x := range v.a.Value.Data[lo:hi] {
		v.own.Data[lo+i] = float32(math.Exp(float64(x)))
	}
}

func expGrad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(v.tape.Mul(g, v))
	}
}

// Power returns xᵖ, element-wise, for x > 0. For p = −1 it is 1/x, for p = ½ the square root.
func (t *Tape) Power(x *Var, p float32) *Var {
	return t.elementwise(x, nil, powerGrad, p, 0, powerBody)
}

func powerBody(v *Var, lo, hi int) {
	for i, x := range v.a.Value.Data[lo:hi] {
		v.own.Data[lo+i] = float32(math.Pow(float64(x), float64(v.alpha)))
	}
}

func powerGrad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(v.tape.Mul(g, v.tape.Scale(v.alpha, v.tape.Power(v.a, v.alpha-1))))
	}
}

// Log returns the natural logarithm of x > 0, element-wise.
func (t *Tape) Log(x *Var) *Var { return t.elementwise(x, nil, logGrad, 0, 0, logBody) }

func logBody(v *Var, lo, hi int) {
	for i, x := range v.a.Value.Data[lo:hi] {
		v.own.Data[lo+i] = float32(math.Log(float64(x)))
	}
}

func logGrad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(v.tape.Mul(g, v.tape.Power(v.a, -1)))
	}
}

// Dropout sets each element of x to zero with probability p in [0,1), and multiplies it by 1/(1−p) otherwise. The
// expected value is x (Srivastava et al. 2014). p is rounded to a multiple of 2⁻¹⁶. Dropout draws one value from src.
// For p = 0 it returns x itself.
func (t *Tape) Dropout(x *Var, p float64, src rand.Source) *Var {
	if p == 0 {
		return x
	}
	mask := t.record(nil, nil, nil)
	mask.own.Reshape(x.Value.Rows, x.Value.Cols)
	maskWithin(t.ctx, mask.own.Data, p, src)
	return t.Mul(x, mask)
}

package autodiff

import (
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/dropout"
	"github.com/graph-condensation/cgc/internal/kernel"
)

// elementwise records an operation on a and b, and runs its body over all elements. b may be nil. The result has the
// shape of a.
func (t *Tape) elementwise(a, b *Var, alpha, beta float32, body func(v *Var, lo, hi int), da, db gradient) *Var {
	if b != nil {
		checkShape("the second operand", b.Value, a.Value.Rows, a.Value.Cols)
	}
	v := t.record(a, b, da, db)
	v.alpha, v.beta = alpha, beta
	v.own.Reshape(a.Value.Rows, a.Value.Cols)
	return t.run(v, len(v.own.Data), elementChunk, body)
}

// function records an operation whose value at each element of x is f(x, alpha), and whose gradient in x is dx.
func (t *Tape) function(x *Var, alpha float32, f func(x, alpha float64) float64, dx gradient) *Var {
	v := t.record(x, nil, dx, nil)
	v.alpha, v.f = alpha, f
	v.own.Reshape(x.Value.Rows, x.Value.Cols)
	return t.run(v, len(v.own.Data), functionChunk, func(v *Var, lo, hi int) {
		for i, x := range v.a.Value.Data[lo:hi] {
			v.own.Data[lo+i] = float32(v.f(float64(x), float64(v.alpha)))
		}
	})
}

// Add returns a + b for a and b of equal shapes.
func (t *Tape) Add(a, b *Var) *Var {
	return t.elementwise(a, b, 0, 0, func(v *Var, lo, hi int) {
		kernel.Add(v.own.Data[lo:hi], v.a.Value.Data[lo:hi], v.b.Value.Data[lo:hi])
	}, same, same)
}

// same is the gradient with respect to an operand of a sum.
func same(_, g *Var) *Var { return g }

// Sub returns a − b for a and b of equal shapes.
func (t *Tape) Sub(a, b *Var) *Var {
	return t.elementwise(a, b, 0, 0, func(v *Var, lo, hi int) {
		dst, a, b := v.own.Data[lo:hi], v.a.Value.Data[lo:hi], v.b.Value.Data[lo:hi]
		for i := range dst {
			dst[i] = a[i] - b[i]
		}
	}, same, func(v, g *Var) *Var { return v.tape.Scale(-1, g) })
}

// Mul returns a ⊙ b, the element-wise product, for a and b of equal shapes.
func (t *Tape) Mul(a, b *Var) *Var {
	return t.elementwise(a, b, 0, 0, func(v *Var, lo, hi int) {
		kernel.Mul(v.own.Data[lo:hi], v.a.Value.Data[lo:hi], v.b.Value.Data[lo:hi])
	},
		func(v, g *Var) *Var { return v.tape.Mul(g, v.b) },
		func(v, g *Var) *Var { return v.tape.Mul(g, v.a) })
}

// Scale returns alpha·a.
func (t *Tape) Scale(alpha float32, a *Var) *Var {
	return t.elementwise(a, nil, alpha, 0, func(v *Var, lo, hi int) {
		kernel.Scale(v.own.Data[lo:hi], v.alpha, v.a.Value.Data[lo:hi])
	}, func(v, g *Var) *Var { return v.tape.Scale(v.alpha, g) }, nil)
}

// ReLU returns max(0, x). Its derivative at 0 is 0 here.
func (t *Tape) ReLU(x *Var) *Var { return t.gate(x, x, 1, 0) }

// LeakyReLU returns x where x > 0, and slope·x elsewhere. Its derivative at 0 is set to slope.
func (t *Tape) LeakyReLU(slope float32, x *Var) *Var { return t.gate(x, x, 1, slope) }

// gate returns positive·x where by > 0, and negative·x elsewhere. It is linear in x, so its gradient in x is a gate
// too. Its derivative in by is 0 wherever it exists.
func (t *Tape) gate(x, by *Var, positive, negative float32) *Var {
	return t.elementwise(x, by, positive, negative, func(v *Var, lo, hi int) {
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
	}, func(v, g *Var) *Var { return v.tape.gate(g, v.b, v.alpha, v.beta) }, nil)
}

// ELU returns x where x > 0, and exp(x) − 1 elsewhere (Clevert et al. 2016, α = 1).
func (t *Tape) ELU(x *Var) *Var {
	return t.function(x, 0, func(x, _ float64) float64 {
		if x <= 0 {
			x = math.Expm1(x)
		}
		return x
	}, func(v, g *Var) *Var { return v.tape.Mul(g, v.tape.expBelow(v.a)) })
}

// expBelow returns exp(min(0, x)), the derivative of ELU.
func (t *Tape) expBelow(x *Var) *Var {
	return t.function(x, 0, func(x, _ float64) float64 { return math.Exp(min(0, x)) },
		func(v, g *Var) *Var { return v.tape.gate(v.tape.Mul(g, v), v.a, 0, 1) })
}

// Exp returns exp(x), element-wise.
func (t *Tape) Exp(x *Var) *Var {
	v := t.record(x, nil, func(v, g *Var) *Var { return v.tape.Mul(g, v) }, nil)
	v.own.Reshape(x.Value.Rows, x.Value.Cols)
	return t.run(v, len(v.own.Data), functionChunk, func(v *Var, lo, hi int) {
		kernel.Exp(v.own.Data[lo:hi], v.a.Value.Data[lo:hi])
	})
}

// Power returns xᵖ, element-wise, for x > 0. p = −1 gives 1/x, and p = ½ gives the square root.
func (t *Tape) Power(x *Var, p float32) *Var {
	return t.function(x, p, math.Pow, func(v, g *Var) *Var {
		return v.tape.Mul(g, v.tape.Scale(v.alpha, v.tape.Power(v.a, v.alpha-1)))
	})
}

// Log returns the natural logarithm of x > 0, element-wise.
func (t *Tape) Log(x *Var) *Var {
	return t.function(x, 0, func(x, _ float64) float64 { return math.Log(x) },
		func(v, g *Var) *Var { return v.tape.Mul(g, v.tape.Power(v.a, -1)) })
}

// Dropout sets each element of x to zero with probability p in [0,1), and multiplies it by 1/(1−p) otherwise. The
// expected value is x (Srivastava et al. 2014). p is rounded to a multiple of 2⁻¹⁶. Dropout draws one value from src.
// For p = 0 it returns x itself.
func (t *Tape) Dropout(x *Var, p float64, src rand.Source) *Var {
	if p == 0 {
		return x
	}
	mask := t.record(nil, nil, nil, nil)
	mask.own.Reshape(x.Value.Rows, x.Value.Cols)
	dropout.Mask(t.ctx, mask.own.Data, p, src)
	return t.Mul(x, mask)
}

// sharp is the distance of |c| from 1 below which ArcCosine0 treats c as ±1. The derivative of κ₀ is unbounded near ±1,
// so if float32 rounded a cosine of 1 to 1 − 10⁻⁷, κ₀ would fall by 10⁻⁴.
const sharp = 5e-7

// ArcCosine0 returns the arc-cosine kernel of degree 0 of a cosine c, element by element (Cho and Saul 2009):
//
//	κ₀(c) = (π − arccos c)/π.
//
// It is twice the expected product of the derivatives of two ReLU units with Gaussian inputs of correlation c. If |c|
// is above 1 − 5·10⁻⁷, c is treated as ±1 and the derivative as 0. Elsewhere the derivative is 1/(π√(1−c²)).
func (t *Tape) ArcCosine0(c *Var) *Var {
	return t.function(c, 0, func(c, _ float64) float64 {
		x := clipped(c)
		if math.Abs(x) >= 1-sharp {
			x = math.Round(x)
		}
		return 1 - math.Acos(x)/math.Pi
	}, func(v, g *Var) *Var { return v.tape.Mul(g, v.tape.arcSlope(v.a)) })
}

// ArcCosine1 returns the arc-cosine kernel of degree 1 of a cosine c, element by element:
//
//	κ₁(c) = (√(1−c²) + c·(π − arccos c))/π.
//
// It is twice the expected product of two ReLU units with standard normal inputs of correlation c; κ₁(1) = 1. Values of
// c beyond ±1 are clipped. The derivative is κ₀.
func (t *Tape) ArcCosine1(c *Var) *Var {
	return t.function(c, 0, func(c, _ float64) float64 {
		x := clipped(c)
		return (math.Sqrt(1-x*x) + x*(math.Pi-math.Acos(x))) / math.Pi
	}, func(v, g *Var) *Var { return v.tape.Mul(g, v.tape.ArcCosine0(v.a)) })
}

// arcSlope returns s = 1/(π√(1−c²)), the derivative of κ₀. Its own derivative is π²·c·s³.
func (t *Tape) arcSlope(c *Var) *Var {
	return t.function(c, 0, func(c, _ float64) float64 {
		x := clipped(c)
		if math.Abs(x) >= 1-sharp {
			return 0
		}
		return 1 / (math.Pi * math.Sqrt(1-x*x))
	}, func(v, g *Var) *Var {
		t := v.tape
		cube := t.Mul(v, t.Mul(v, v))
		return t.Mul(g, t.Scale(math.Pi*math.Pi, t.Mul(v.a, cube)))
	})
}

func clipped(c float64) float64 { return max(-1, min(1, c)) }

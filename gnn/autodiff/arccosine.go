package autodiff

import "math"

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

// clipped returns c clipped to [−1, 1].
func clipped(c float64) float64 { return max(-1, min(1, c)) }

package autodiff

import "math"

// sharp is the distance of |c| from 1 below which ArcCosine0 takes c for ±1. Its derivative grows without bound there.
// A cosine of 1 that float32 rounds to 1 − 10⁻⁷ would lower κ₀ by 10⁻⁴.
const sharp = 5e-7

// ArcCosine0 returns the arc-cosine kernel of degree 0 of a cosine c, element by element (Cho and Saul 2009):
//
//	κ₀(c) = (π − arccos c)/π.
//
// It is the mean product of the derivatives of two ReLU units, doubled. c with |c| above 1 − 5·10⁻⁷ counts as
// ±1, where the derivative counts as 0. Elsewhere it is 1/(π√(1−c²)).
func (t *Tape) ArcCosine0(c *Var) *Var {
	return t.elementwise(c, nil, arcCosine0Grad, 0, 0, arcCosine0Body)
}

func arcCosine0Body(v *Var, lo, hi int) {
	for i, c := range v.a.Value.Data[lo:hi] {
		x := clipped(c)
		if math.Abs(x) >= 1-sharp {
			x = math.Round(x)
		}
		v.own.Data[lo+i] = float32(1 - math.Acos(x)/math.Pi)
	}
}

func arcCosine0Grad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(v.tape.Mul(g, v.tape.arcSlope(v.a)))
	}
}

// ArcCosine1 returns the arc-cosine kernel of degree 1 of a cosine c, element by element:
//
//	κ₁(c) = (√(1−c²) + c·(π − arccos c))/π.
//
// It is the mean product of two ReLU units, doubled; κ₁(1) = 1. c beyond ±1 counts as ±1. The derivative is κ₀.
func (t *Tape) ArcCosine1(c *Var) *Var {
	return t.elementwise(c, nil, arcCosine1Grad, 0, 0, arcCosine1Body)
}

func arcCosine1Body(v *Var, lo, hi int) {
	for i, c := range v.a.Value.Data[lo:hi] {
		x := clipped(c)
		v.own.Data[lo+i] = float32((math.Sqrt(1-x*x) + x*(math.Pi-math.Acos(x))) / math.Pi)
	}
}

func arcCosine1Grad(v, g *Var) {
	if wanted(v.a) {
		v.a.add(v.tape.Mul(g, v.tape.ArcCosine0(v.a)))
	}
}

// arcSlope returns 1/(π√(1−c²)), the derivative of κ₀.
func (t *Tape) arcSlope(c *Var) *Var { return t.elementwise(c, nil, arcSlopeGrad, 0, 0, arcSlopeBody) }

func arcSlopeBody(v *Var, lo, hi int) {
	for i, c := range v.a.Value.Data[lo:hi] {
		x := clipped(c)
		v.own.Data[lo+i] = 0
		if math.Abs(x) < 1-sharp {
			v.own.Data[lo+i] = float32(1 / (math.Pi * math.Sqrt(1-x*x)))
		}
	}
}

// arcSlopeGrad: the derivative of s = 1/(π√(1−c²)) is π²·c·s³.
func arcSlopeGrad(v, g *Var) {
	if wanted(v.a) {
		t := v.tape
		cube := t.Mul(v, t.Mul(v, v))
		v.a.add(t.Mul(g, t.Scale(math.Pi*math.Pi, t.Mul(v.a, cube))))
	}
}

// clipped returns c within [−1, 1].
func clipped(c float32) float64 { return max(-1, min(1, float64(c))) }

package kernel

import "math"

// Softmax sets x_i = exp(x_i − max x) / Σ_j exp(x_j − max x). An empty x stays empty. An element of −∞ becomes 0. If x
// contains a NaN or +∞, or only −∞, some or all elements become NaN.
func Softmax(x []float32) {
	if len(x) == 0 {
		return
	}
	best.softmax(x)
}

func (im *implementation) softmax(x []float32) {
	sum := im.expShifted(x, x, im.maximum(x))
	im.scale(x, 1/sum, x)
}

// Maximum returns the maximum of x, or −∞ if x is empty. It ignores NaNs.
func Maximum(x []float32) float32 { return best.maximum(x) }

// ExpShifted sets dst_i = exp(x_i − shift) and returns their sum. dst may be x. The relative error of an element is
// below 2⁻²². Results below the smallest normal number become 0.
func ExpShifted(dst, x []float32, shift float32) float32 {
	equal(len(dst), len(x))
	return best.expShifted(dst, x, shift)
}

// Exp sets dst_i = exp(x_i), computed by math.Exp in float64. dst may be x.
func Exp(dst, x []float32) {
	equal(len(dst), len(x))
	s := borrow()
	for len(x) > 0 {
		n := min(len(s.wide), len(x))
		for i, v := range x[:n] {
			s.wide[i] = float64(v)
		}
		for i, e := range s.exp(n) {
			dst[i] = float32(e)
		}
		dst, x = dst[n:], x[n:]
	}
	s.giveBack()
}

// ExpSum returns Σ_j math.Exp(scale·(x_j − shift)), added in ascending order.
func ExpSum(x []float32, shift float32, scale float64) (sum float64) {
	s := borrow()
	for len(x) > 0 {
		n := min(len(s.wide), len(x))
		for j, v := range x[:n] {
			s.wide[j] = scale * float64(v-shift)
		}
		for _, e := range s.exp(n) {
			sum += e
		}
		x = x[n:]
	}
	s.giveBack()
	return sum
}

// exp replaces the first n numbers of s.wide by their exponentials, and returns them.
func (s *scratch) exp(n int) []float64 {
	padded := s.wide[:roundUp(n, expBlock)]
	clear(padded[n:])
	best.exp(padded)
	return padded[:n]
}

// expBlock divides the number of elements for implementation.exp.
const expBlock = 8

func expGeneric(x []float64) {
	for i, v := range x {
		x[i] = math.Exp(v)
	}
}

func maximumGeneric(x []float32) float32 {
	top := float32(math.Inf(-1))
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	return top
}

func expShiftedGeneric(dst, x []float32, shift float32) float32 {
	var sum float32
	x = x[:len(dst)]
	for i, v := range x {
		v -= shift
		var e float32
		if !(v < expLowest) {
			e = float32(math.Exp(float64(v)))
		}
		dst[i] = e
		sum += e
	}
	return sum
}

// expLowest is the bound below which exp is not a normal number: ln 2⁻¹²⁶, rounded up.
const expLowest = -87.336544

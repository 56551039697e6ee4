package kernel

import (
	"math"
	"slices"
)

// MaxFloat16 and MaxBFloat16 are the largest finite values of the two 16-bit formats.
const (
	MaxFloat16  = 65504
	MaxBFloat16 = 0x1.fep127
)

// WidenFloat16 sets dst to the float16 (IEEE 754 binary16) of src. Each is exactly representable as a float32. A
// signalling NaN becomes a quiet one.
func WidenFloat16(dst []float32, src []uint16) {
	equal(len(dst), len(src))
	best.widenFloat16(dst, src)
}

// WidenBFloat16 sets dst to the bfloat16 of src, the upper halves of float32.
func WidenBFloat16(dst []float32, src []uint16) {
	equal(len(dst), len(src))
	best.widenBFloat16(dst, src)
}

// NarrowFloat16 sets dst to the float16 nearest to src, ties to even. Values that would round beyond MaxFloat16 become
// infinite.
func NarrowFloat16(dst []uint16, src []float32) {
	equal(len(dst), len(src))
	best.narrowFloat16(dst, src)
}

// NarrowBFloat16 sets dst to the bfloat16 nearest to src, ties to even. Values that would round beyond MaxBFloat16
// become infinite.
func NarrowBFloat16(dst []uint16, src []float32) {
	equal(len(dst), len(src))
	for i, v := range src {
		bits := math.Float32bits(v)
		if bits&0x7fffffff > infinite {
			dst[i] = uint16(bits>>16) | 0x40 // a quiet NaN
			continue
		}
		dst[i] = uint16((bits + 0x7fff + bits>>16&1) >> 16)
	}
}

// NarrowScaled sets dst to the float16 nearest to alpha·src·factors, element by element. Each product is rounded to
// float32, beginning with the product with alpha.
func NarrowScaled(dst []uint16, alpha float32, factors, src []float32) {
	equal(len(dst), len(src))
	equal(len(dst), len(factors))
	best.narrowScaled(dst, alpha, factors, src)
}

// WidenScaled sets dst to alpha·src·factors, element by element. The products are rounded as in NarrowScaled.
func WidenScaled(dst []float32, alpha float32, factors []float32, src []uint16) {
	equal(len(dst), len(src))
	equal(len(dst), len(factors))
	best.widenScaled(dst, alpha, factors, src)
}

// Magnitudes raises top to the magnitudes of x: top[k] becomes max(top[k], |x[k]|). top must not be negative. NaN ranks
// above infinity, and is kept.
func Magnitudes(top, x []float32) {
	equal(len(top), len(x))
	best.magnitudes(top, x)
}

// infinite holds the bits of the infinite float32.
const infinite = 0x7f800000

// Finite reports whether no number of x is NaN or infinite.
func Finite(x []float32) bool { return best.largest(x) < infinite }

// FirstNotFinite returns the index of the first number of x that is NaN or infinite, or −1 if there is none.
func FirstNotFinite(x []float32) int {
	if Finite(x) {
		return -1
	}
	return slices.IndexFunc(x, func(v float32) bool { return math.Float32bits(v)&infinite == infinite })
}

// Within reports whether no magnitude of x exceeds bound, and no number is NaN. bound must not be negative.
func Within(x []float32, bound float32) bool { return best.largest(x) <= math.Float32bits(bound) }

func widenFloat16Generic(dst []float32, src []uint16) {
	dst = dst[:len(src)]
	for i, h := range src {
		dst[i] = widened(h)
	}
}

// widened returns the value of float16 h. The fields of h are shifted to their places in a float32, whose exponent bias
// is 112 larger.
func widened(h uint16) float32 {
	sign, rest := uint32(h&0x8000)<<16, uint32(h&0x7fff)<<13
	switch {
	case h&0x7c00 == 0: // subnormal: rest is the mantissa of a number with the exponent −14, whose leading 1 is subtracted
		const least = 113 << 23
		small := math.Float32frombits(rest+least) - math.Float32frombits(least)
		return math.Float32frombits(math.Float32bits(small) | sign)
	case h&0x7fff > 0x7c00:
		return math.Float32frombits(sign | rest | 0x7fc00000)
	case h&0x7fff == 0x7c00:
		return math.Float32frombits(sign | infinite)
	}
	return math.Float32frombits(sign | (rest + 112<<23))
}

func widenBFloat16Generic(dst []float32, src []uint16) {
	dst = dst[:len(src)]
	for i, h := range src {
		dst[i] = math.Float32frombits(uint32(h) << 16)
	}
}

func narrowFloat16Generic(dst []uint16, src []float32) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = narrowed(v)
	}
}

// narrowed returns the float16 nearest to v.
func narrowed(v float32) uint16 {
	bits := math.Float32bits(v)
	sign, rest := uint16(bits>>16&0x8000), bits&0x7fffffff
	switch {
	case rest > infinite:
		return sign | 0x7e00 | uint16(rest>>13&0x3ff)
	case rest >= 143<<23: // 2¹⁶
		return sign | 0x7c00
	case rest < 113<<23: // below 2⁻¹⁴: adding ½ lets the float32 unit round to multiples of 2⁻²⁴
		return sign | uint16(math.Float32bits(math.Float32frombits(rest)+0.5)-126<<23)
	}
	return sign | uint16((rest-112<<23+0xfff+rest>>13&1)>>13)
}

func largestGeneric(x []float32) (top uint32) {
	for _, v := range x {
		top = max(top, math.Float32bits(v)&0x7fffffff)
	}
	return top
}

func magnitudesGeneric(top, x []float32) {
	top = top[:len(x)]
	for k, v := range x {
		top[k] = math.Float32frombits(max(math.Float32bits(top[k]), math.Float32bits(v)&0x7fffffff))
	}
}

func narrowScaledGeneric(dst []uint16, alpha float32, factors, src []float32) {
	dst, factors = dst[:len(src)], factors[:len(src)]
	for k, v := range src {
		dst[k] = narrowed(float32(alpha*v) * factors[k])
	}
}

func widenScaledGeneric(dst []float32, alpha float32, factors []float32, src []uint16) {
	dst, factors = dst[:len(src)], factors[:len(src)]
	for k, h := range src {
		dst[k] = float32(alpha*widened(h)) * factors[k]
	}
}

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// expPolynomial is q with exp(r) ≈ 1 + r + r²·q(r) on |r| ≤ ½·ln 2, the constant term first. q interpolates
// (exp(r)−1−r)/r² at the five Chebyshev points of that interval, with an error below 1e-8.
var expPolynomial = []float64{0.5, 0.16666578, 0.041666556, 0.008363173, 0.0013926176}

// exponential writes exp in float64, in place, over blocks of 8 elements from −700 to 700. With x = n·ln 2 + r, it
// computes the Taylor series of exp(r/16) − 1 and squares four times (Shibata 2010). These are the steps of math.Exp on
// processors with FMA, so the bits are the same.
func (s set) exponential() {
	s.function("exponential", "func(x *float64, blocks int)")
	x, blocks := param("x"), param("blocks")
	name := "exponential" + s.suffix
	GLOBL(name, 24)
	constants := []float64{
		math.Log2E, 0x1.62e42fefa3p-1, 0x1.3de6af278ece6p-42, // 1/ln 2, and ln 2 in two parts
		1. / 16, 2,
		1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1,
	}
	for i, c := range constants {
		DATA(8*i, U64(math.Float64bits(c)))
	}
	DATA(8*len(constants), U64(1023)) // the bias of an exponent
	table := GP64()
	LEAQ(NewDataAddr(NewStaticSymbol(name), 0), table)
	values := make([]VecVirtual, len(constants)+1)
	for i := range values {
		if !s.wide && i > 4 && i < len(constants) {
			continue // there are 16 registers
		}
		values[i] = s.vector()
		VBROADCASTSD(Mem{Base: table, Disp: 8 * i}, values[i])
	}
	perLn2, high, rest, sixteenth, two := values[0], values[1], values[2], values[3], values[4]
	bias := values[len(constants)]
	coefficient := func(i int) VecVirtual {
		if values[i] != nil {
			return values[i]
		}
		v := s.vector()
		VBROADCASTSD(Mem{Base: table, Disp: 8 * i}, v)
		return v
	}
	Label("block")
	for at := 0; at < 64; at += s.bytes() {
		r, p, n := s.vector(), s.vector(), s.vector()
		var integers VecVirtual = XMM()
		if s.wide {
			integers = YMM()
		}
		VMOVUPD(Mem{Base: x, Disp: at}, r)
		VMULPD(perLn2, r, n)
		if s.wide {
			VCVTPD2DQ(n, integers)
		} else {
			VCVTPD2DQY(n, integers)
		}
		VCVTDQ2PD(integers, n)
		VFNMADD231PD(high, n, r)
		VFNMADD231PD(rest, n, r)
		VMULPD(sixteenth, r, r)
		VMOVUPD(coefficient(5), p)
		for i := 6; i < len(constants); i++ {
			VFMADD213PD(coefficient(i), r, p)
		}
		VMULPD(p, r, r)
		for range 3 { // (1+v)² − 1 = v·(v+2)
			VADDPD(two, r, p)
			VMULPD(p, r, r)
		}
		VADDPD(two, r, p)
		VFMADD213PD(coefficient(len(constants)-1), p, r)
		VPMOVSXDQ(integers, n)
		VPADDQ(bias, n, n)
		VPSLLQ(U8(52), n, n)
		VMULPD(n, r, r)
		VMOVUPD(r, Mem{Base: x, Disp: at})
	}
	ADDQ(U8(64), x)
	DECQ(blocks)
	JNE(LabelRef("block"))
	finish()
}

// softmax writes the two passes before the division: the maximum, and the exponentials with their sum.
func (s set) softmax() {
	s.function("maximum", "func(x []float32) float32")
	lowest := GP32()
	MOVL(U32(math.Float32bits(float32(math.Inf(-1)))), lowest)
	infinity := XMM()
	VMOVD(lowest, infinity)
	top := s.vector()
	VBROADCASTSS(infinity, top)
	s.each("x", func(l loop) {
		x := l.load("x")
		if l.mask == nil {
			VMAXPS(top, x, top) // gives the second operand, top, unless x > top
			return
		}
		if s.wide {
			VMAXPS(top, x, l.mask.k, top)
			return
		}
		VMAXPS(top, x, x)
		VBLENDVPS(l.mask.v, x, top, top)
	})
	low := s.reduce(top, func(o ...Op) { VMAXPS(o...) })
	Store(low, ReturnIndex(0))
	finish()

	// exp(v) = 2ⁿ·exp(r), n = round(v/ln 2), r = v − n·ln 2 with ln 2 in two parts.
	s.function("expShifted", "func(dst, x []float32, shift float32) float32")
	constants := []float64{
		math.Log2E,
		math.Ln2,
		math.Ln2 - float64(float32(math.Ln2)),
		1,
		89,         // from here on, exp is infinite; the bound keeps n small
		-87.336544, // results below this are 0
	}
	GLOBL("exp"+s.suffix, 24)
	for i, c := range append(constants, expPolynomial...) {
		DATA(4*i, U32(math.Float32bits(float32(c))))
	}
	table := GP64()
	LEAQ(NewDataAddr(NewStaticSymbol("exp"+s.suffix), 0), table)
	constant := func(i int) Mem { return Mem{Base: table, Disp: 4 * i} }
	shift := s.broadcast("shift")
	sum := s.vector()
	s.zero(sum)
	perLn2, high, rest, one, most, least := s.vector(), s.vector(), s.vector(), s.vector(), s.vector(), s.vector()
	for i, v := range []Op{perLn2, high, rest, one, most, least} {
		VBROADCASTSS(constant(i), v)
	}
	s.each("dst x", func(l loop) {
		v := l.load("x")
		VSUBPS(shift, v, v)
		n, r, p, c := s.vector(), s.vector(), s.vector(), s.vector()
		VMINPS(v, most, r) // gives the second operand, v, if it is NaN
		VMAXPS(r, least, r)
		VMULPS(perLn2, r, n)
		if s.wide {
			VRNDSCALEPS(U8(0), n, n)
		} else {
			VROUNDPS(U8(0), n, n)
		}
		VFNMADD231PS(high, n, r)
		VFNMADD231PS(rest, n, r)
		last := len(constants) + len(expPolynomial) - 1
		VBROADCASTSS(constant(last), p)
		for i := last - 1; i >= len(constants); i-- {
			VBROADCASTSS(constant(i), c)
			VFMADD213PS(c, r, p)
		}
		VMULPS(r, r, c)
		VADDPS(one, r, r)
		VFMADD213PS(r, c, p)
		if s.wide {
			VSCALEFPS(n, p, p)
			k := K()
			VCMPPS(U8(21), least, v, k) // !(v < least), which is true for NaN
			VMOVAPS_Z(p, k, p)
			l.store(p, "dst")
			if l.mask != nil {
				VADDPS(p, sum, l.mask.k, sum)
			} else {
				VADDPS(p, sum, sum)
			}
			return
		}
		// Multiply by 2ⁿ in two factors, each of which is a normal number.
		half := s.vector()
		VCVTPS2DQ(n, n)
		VPSRAD(U8(1), n, half)
		VPSUBD(half, n, n)
		for _, exponent := range []Op{half, n} {
			VPSLLD(U8(23), exponent, exponent)
			VPADDD(one, exponent, exponent)
			VMULPS(exponent, p, p)
		}
		VCMPPS(U8(21), least, v, v)
		VANDPS(v, p, p)
		l.store(p, "dst")
		if l.mask != nil {
			VANDPS(l.mask.v, p, p)
		}
		VADDPS(p, sum, sum)
	})
	low = s.reduce(sum, func(o ...Op) { VADDPS(o...) })
	Store(low, ReturnIndex(0))
	finish()
}

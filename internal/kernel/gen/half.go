package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// half writes the conversion loops between float32 and the 16-bit types. They process complete registers. The portable
// loops, which give the same bits, process the rest.
func (s set) half() {
	s.convert("widenFloat16", "func(dst *float32, src *uint16, blocks int)",
		"widens blocks (at least 1) of 16 float16 to float32.", 4, 2, func(dst, src Mem) {
			v := s.vector()
			VCVTPH2PS(src, v)
			VMOVUPS(v, dst)
		})
	s.convert("widenBFloat16", "func(dst *float32, src *uint16, blocks int)",
		"widens blocks (at least 1) of 16 bfloat16 to float32.", 4, 2, func(dst, src Mem) {
			v := s.vector()
			VPMOVZXWD(src, v)
			VPSLLD(U8(16), v, v)
			VMOVUPS(v, dst)
		})
	s.convert("narrowFloat16", "func(dst *uint16, src *float32, blocks int)",
		"rounds blocks (at least 1) of 16 float32 to the nearest float16, ties to even.", 2, 4, func(dst, src Mem) {
			v := s.vector()
			VMOVUPS(src, v)
			VCVTPS2PH(U8(0), v, dst)
		})
	s.convert("magnitudes", "func(dst, src *float32, blocks int)",
		"raises blocks (at least 1) of 16 numbers of dst to the magnitudes of src.", 4, 4, func(dst, src Mem) {
			v := s.vector()
			VMOVUPS(src, v)
			VPSLLD(U8(1), v, v)
			VPSRLD(U8(1), v, v)
			VPMAXUD(dst, v, v)
			VMOVUPS(v, dst)
		})
	s.scaled("narrowScaled", "func(dst *uint16, alpha float32, factors, src *float32, blocks int)",
		"rounds alpha·src·factors to float16, in blocks (at least 1) of 16.", 2, 4,
		func(dst, factors, src Mem, alpha Op) {
			v := s.vector()
			VMULPS(src, alpha, v)
			VMULPS(factors, v, v)
			VCVTPS2PH(U8(0), v, dst)
		})
	s.scaled("widenScaled", "func(dst *float32, alpha float32, factors *float32, src *uint16, blocks int)",
		"sets dst to alpha·src·factors of float16, in blocks (at least 1) of 16.", 4, 2,
		func(dst, factors, src Mem, alpha Op) {
			v := s.vector()
			VCVTPH2PS(src, v)
			VMULPS(alpha, v, v)
			VMULPS(factors, v, v)
			VMOVUPS(v, dst)
		})
	s.largest()
}

// scaled writes a loop over blocks of 16 elements, of the given sizes in bytes, with a factor for each element and one
// for all.
func (s set) scaled(name, signature, doc string, to, from int, step func(dst, factors, src Mem, alpha Op)) {
	TEXT(name+s.suffix, 4, signature)
	Pragma("noescape")
	Doc(name + s.suffix + " " + doc)
	dst, factors, src, blocks := GP64(), GP64(), GP64(), GP64()
	Load(Param("dst"), dst)
	alpha := s.vector()
	address, err := Param("alpha").Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(address.Addr, alpha)
	Load(Param("factors"), factors)
	Load(Param("src"), src)
	Load(Param("blocks"), blocks)
	Label("block")
	for i := 0; i < 16; i += s.lanes {
		step(Mem{Base: dst, Disp: i * to}, Mem{Base: factors, Disp: 4 * i}, Mem{Base: src, Disp: i * from}, alpha)
	}
	ADDQ(U8(16*to), dst)
	ADDQ(U8(64), factors)
	ADDQ(U8(16*from), src)
	DECQ(blocks)
	JNE(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// convert writes a loop over blocks of 16 elements, of the given sizes in bytes.
func (s set) convert(name, signature, doc string, to, from int, step func(dst, src Mem)) {
	TEXT(name+s.suffix, 4, signature)
	Pragma("noescape")
	Doc(name + s.suffix + " " + doc)
	dst, src, blocks := GP64(), GP64(), GP64()
	Load(Param("dst"), dst)
	Load(Param("src"), src)
	Load(Param("blocks"), blocks)
	Label("block")
	for i := 0; i < 16; i += s.lanes {
		step(Mem{Base: dst, Disp: i * to}, Mem{Base: src, Disp: i * from})
	}
	ADDQ(U8(16*to), dst)
	ADDQ(U8(16*from), src)
	DECQ(blocks)
	JNE(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// largest writes the maximum of magnitudes as integers: NaN is above infinity, and infinity above the rest.
func (s set) largest() {
	TEXT("largest"+s.suffix, 4, "func(x *float32, blocks int) uint32")
	Pragma("noescape")
	Doc("largest" + s.suffix + " returns the largest magnitude in blocks (at least 1) of 16 numbers, as bits.")
	x, blocks := GP64(), GP64()
	Load(Param("x"), x)
	Load(Param("blocks"), blocks)
	mask, bits := s.vector(), GP32()
	MOVL(U32(0x7fffffff), bits)
	low := XMM()
	VMOVD(bits, low)
	VPBROADCASTD(low, mask)
	top, v := s.vector(), s.vector()
	s.zero(top)
	Label("block")
	for i := 0; i < 16; i += s.lanes {
		m := Mem{Base: x, Disp: 4 * i}
		if s.wide {
			VPANDD(m, mask, v)
		} else {
			VPAND(m, mask, v)
		}
		VPMAXUD(v, top, top)
	}
	ADDQ(U8(64), x)
	DECQ(blocks)
	JNE(LabelRef("block"))
	narrow, other := YMM(), YMM()
	if s.wide {
		VEXTRACTI64X4(U8(1), top, other)
		VPMAXUD(top.AsY(), other, narrow)
	} else {
		VMOVDQU(top, narrow)
	}
	VEXTRACTI128(U8(1), narrow, other.AsX())
	VPMAXUD(narrow.AsX(), other.AsX(), narrow.AsX())
	for _, order := range []uint64{0x4e, 0xb1} {
		VPSHUFD(U8(order), narrow.AsX(), other.AsX())
		VPMAXUD(narrow.AsX(), other.AsX(), narrow.AsX())
	}
	VMOVD(narrow.AsX(), bits)
	Store(bits, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// features writes a function that asks the processor whether it has F16C, which golang.org/x/sys/cpu does not report.
func features() {
	TEXT("hasF16C", 4, "func() bool")
	Doc("hasF16C reports whether the processor converts float16: bit 29 of ECX of leaf 1 of CPUID.")
	MOVL(U32(1), EAX)
	XORL(ECX, ECX)
	CPUID()
	SHRL(U8(29), ECX)
	ANDL(U8(1), ECX)
	Store(CL, ReturnIndex(0))
	RET()
}

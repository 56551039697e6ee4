package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// half writes the conversion loops between float32 and the 16-bit types. They process at least one block of 16
// elements. The portable loops, which give the same bits, process the rest.
func (s set) half() {
	s.convert("widenFloat16", "func(dst *float32, src *uint16, blocks int)", 4, 2, func(dst, src Mem) {
		v := s.vector()
		VCVTPH2PS(src, v)
		VMOVUPS(v, dst)
	})
	s.convert("widenBFloat16", "func(dst *float32, src *uint16, blocks int)", 4, 2, func(dst, src Mem) {
		v := s.vector()
		VPMOVZXWD(src, v)
		VPSLLD(U8(16), v, v)
		VMOVUPS(v, dst)
	})
	s.convert("narrowFloat16", "func(dst *uint16, src *float32, blocks int)", 2, 4, func(dst, src Mem) {
		v := s.vector()
		VMOVUPS(src, v)
		VCVTPS2PH(U8(0), v, dst)
	})
	s.convert("magnitudes", "func(dst, src *float32, blocks int)", 4, 4, func(dst, src Mem) {
		v := s.vector()
		VMOVUPS(src, v)
		VPSLLD(U8(1), v, v)
		VPSRLD(U8(1), v, v)
		VPMAXUD(dst, v, v)
		VMOVUPS(v, dst)
	})
	s.scaled("narrowScaled", "func(dst *uint16, alpha float32, factors, src *float32, blocks int)", 2, 4,
		func(dst, factors, src Mem, alpha Op) {
			v := s.vector()
			VMULPS(src, alpha, v)
			VMULPS(factors, v, v)
			VCVTPS2PH(U8(0), v, dst)
		})
	s.scaled("widenScaled", "func(dst *float32, alpha float32, factors *float32, src *uint16, blocks int)", 4, 2,
		func(dst, factors, src Mem, alpha Op) {
			v := s.vector()
			VCVTPH2PS(src, v)
			VMULPS(alpha, v, v)
			VMULPS(factors, v, v)
			VMOVUPS(v, dst)
		})
	s.largest()
}

// stream is a slice that a loop walks, with the size of an element in bytes.
type stream struct {
	at   GPVirtual
	size int
}

// blocks writes a loop over n blocks of 16 elements. step gets the addresses for one register of elements.
func (s set) blocks(n GPVirtual, streams []stream, step func(at []Mem)) {
	Label("block")
	for i := 0; i < 16; i += s.lanes {
		var at []Mem
		for _, x := range streams {
			at = append(at, Mem{Base: x.at, Disp: i * x.size})
		}
		step(at)
	}
	for _, x := range streams {
		ADDQ(U8(16*x.size), x.at)
	}
	DECQ(n)
	JNE(LabelRef("block"))
}

// scaled writes a loop that converts elements to another size, with a factor for each element and one for all.
func (s set) scaled(name, signature string, to, from int, step func(dst, factors, src Mem, alpha Op)) {
	s.function(name, signature)
	dst, alpha, factors, src := param("dst"), s.broadcast("alpha"), param("factors"), param("src")
	s.blocks(param("blocks"), []stream{{dst, to}, {factors, 4}, {src, from}}, func(at []Mem) {
		step(at[0], at[1], at[2], alpha)
	})
	finish()
}

// convert writes a loop that converts elements to another size.
func (s set) convert(name, signature string, to, from int, step func(dst, src Mem)) {
	s.function(name, signature)
	dst, src := param("dst"), param("src")
	s.blocks(param("blocks"), []stream{{dst, to}, {src, from}}, func(at []Mem) { step(at[0], at[1]) })
	finish()
}

// largest writes the maximum of magnitudes as integers: NaN is above infinity, and infinity above the rest.
func (s set) largest() {
	s.function("largest", "func(x *float32, blocks int) uint32")
	x, blocks := param("x"), param("blocks")
	mask, bits := s.vector(), GP32()
	MOVL(U32(0x7fffffff), bits)
	low := XMM()
	VMOVD(bits, low)
	VPBROADCASTD(low, mask)
	top, v := s.vector(), s.vector()
	s.zero(top)
	s.blocks(blocks, []stream{{x, 4}}, func(at []Mem) {
		if s.wide {
			VPANDD(at[0], mask, v)
		} else {
			VPAND(at[0], mask, v)
		}
		VPMAXUD(v, top, top)
	})
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
	finish()
}

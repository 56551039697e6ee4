package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// transpose writes the loop that transposes blocks of 8×8 in registers: pairs of rows, then pairs of pairs, then
// halves.
func (s set) transpose() {
	s.function("transpose8", "func(dst *float32, ldd int, src *float32, lds, blocks int)")
	dst, ldd, src, lds, blocks := param("dst"), param("ldd"), param("src"), param("lds"), param("blocks")
	SHLQ(U8(2), ldd)
	SHLQ(U8(2), lds)
	src3, dst3 := GP64(), GP64()
	far := GP64()
	Label("block")
	// load loads four rows: rows 0 to 3 from src, and rows 4 to 7 from far. third points to the third of them.
	load := func(base, third Register, stride Register) (v [4]VecVirtual) {
		LEAQ(Mem{Base: base, Index: stride, Scale: 2}, third.(GPVirtual))
		for i := range v {
			v[i] = YMM()
		}
		VMOVUPS(Mem{Base: base}, v[0])
		VMOVUPS(Mem{Base: base, Index: stride, Scale: 1}, v[1])
		VMOVUPS(Mem{Base: third}, v[2])
		VMOVUPS(Mem{Base: third, Index: stride, Scale: 1}, v[3])
		return v
	}
	LEAQ(Mem{Base: src, Index: lds, Scale: 4}, far)
	low := load(src, src3, lds)
	high := load(far, src3, lds)
	quads := func(v [4]VecVirtual) (q [4]VecVirtual) {
		ab, AB, cd, CD := YMM(), YMM(), YMM(), YMM()
		VUNPCKLPS(v[1], v[0], ab)
		VUNPCKHPS(v[1], v[0], AB)
		VUNPCKLPS(v[3], v[2], cd)
		VUNPCKHPS(v[3], v[2], CD)
		for i := range q {
			q[i] = YMM()
		}
		VUNPCKLPD(cd, ab, q[0])
		VUNPCKHPD(cd, ab, q[1])
		VUNPCKLPD(CD, AB, q[2])
		VUNPCKHPD(CD, AB, q[3])
		return q
	}
	l, h := quads(low), quads(high)
	store := func(half uint64) {
		LEAQ(Mem{Base: dst, Index: ldd, Scale: 2}, dst3)
		out := YMM()
		for i := range 4 {
			VPERM2F128(U8(half), h[i], l[i], out)
			base := dst
			if i >= 2 {
				base = dst3
			}
			m := Mem{Base: base}
			if i%2 == 1 {
				m.Index, m.Scale = ldd, 1
			}
			VMOVUPS(out, m)
		}
		LEAQ(Mem{Base: dst, Index: ldd, Scale: 4}, dst)
	}
	store(0x20)
	store(0x31)
	ADDQ(U8(32), src)
	DECQ(blocks)
	JNE(LabelRef("block"))
	finish()
}

// lowest writes the loop that reduces the 16 running minima of each row to the smallest one, with the lowest index in a
// tie.
func (s set) lowest() {
	s.function("lowest", "func(nearest *int32, least *float32, value *float32, index *int32, m int)")
	nearest, least, value, index, m := param("nearest"), param("least"), param("value"), param("index"), param("m")
	bits, low, none := GP32(), XMM(), YMM()
	MOVL(U32(0x7fffffff), bits)
	VMOVD(bits, low)
	VPBROADCASTD(low, none)
	Label("row")
	v0, v1, top, other := YMM(), YMM(), YMM(), YMM()
	VMOVUPS(Mem{Base: value}, v0)
	VMOVUPS(Mem{Base: value, Disp: 32}, v1)
	// fold combines the lanes of top by op, and leaves the result in all lanes.
	fold := func(op func(...Op)) {
		VPERM2F128(U8(1), top, top, other)
		op(other, top, top)
		VPERMILPS(U8(0x4e), top, other)
		op(other, top, top)
		VPERMILPS(U8(0xb1), top, other)
		op(other, top, top)
	}
	VMINPS(v1, v0, top)
	fold(func(o ...Op) { VMINPS(o...) })
	VMOVSS(top.AsX(), Mem{Base: least})
	VCMPPS(U8(0), top, v0, v0) // equal
	VCMPPS(U8(0), top, v1, v1)
	VBLENDVPS(v0, Mem{Base: index}, none, top)
	VBLENDVPS(v1, Mem{Base: index, Disp: 32}, none, other)
	VPMINSD(other, top, top)
	fold(func(o ...Op) { VPMINSD(o...) })
	VMOVD(top.AsX(), Mem{Base: nearest})
	ADDQ(U8(64), value)
	ADDQ(U8(64), index)
	ADDQ(U8(4), least)
	ADDQ(U8(4), nearest)
	DECQ(m)
	JNE(LabelRef("row"))
	finish()
}

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tiles writes the micro-kernel, with a body for each number of rows and for one or two registers of columns.
func (s set) tiles() {
	s.function("tile",
		"func(c *float32, ldc int, a *float32, rs, cs int, b *float32, m, n, k, ahead int, accumulate bool)")
	m, n := param("m"), param("n")
	s.choose(n, 2, func(vectors int) int { return (vectors-1)*s.lanes + 1 }, func(s set, vectors int) {
		s.choose(m, s.rows, func(rows int) int { return rows }, func(s set, rows int) { s.tile(rows, vectors) })
	})
}

// tile writes the micro-kernel for a number of rows and one or two registers of columns. The sums stay in registers. In
// each step of k, the row of B is loaded once and every element of A is broadcast to a register.
func (s set) tile(rows, vectors int) {
	a, rs, cs, b := param("a"), param("rs"), param("cs"), param("b")
	k := param("k")
	SHLQ(U8(2), rs)
	SHLQ(U8(2), cs)
	// Every step prefetches a part of the next strip of A, which follows these rows.
	next, stride := GP64(), GP64()
	IMUL3Q(U8(rows), rs, next)
	ADDQ(a, next)
	Load(Param("ahead"), stride)
	// Each pointer addresses three rows: at the pointer, and one and two strides after it.
	bases := []GPVirtual{a}
	if rows > 3 {
		three := GP64()
		LEAQ(Mem{Base: rs, Index: rs, Scale: 2}, three)
		for r := 3; r < rows; r += 3 {
			base := GP64()
			LEAQ(Mem{Base: bases[len(bases)-1], Index: three, Scale: 1}, base)
			bases = append(bases, base)
		}
	}
	element := func(r int) Mem {
		m := Mem{Base: bases[r/3]}
		if r%3 > 0 {
			m.Index, m.Scale = rs, uint8(r%3)
		}
		return m
	}
	// Prefetch the tile of C, which is needed when the sums are done.
	c, ldc := param("c"), param("ldc")
	SHLQ(U8(2), ldc)
	ahead := GP64()
	MOVQ(c, ahead)
	for r := range rows {
		PREFETCHT0(Mem{Base: ahead})
		if vectors*s.bytes() > 64 {
			PREFETCHT0(Mem{Base: ahead, Disp: 64})
		}
		if r < rows-1 {
			ADDQ(ldc, ahead)
		}
	}
	sums := make([][]VecVirtual, rows)
	for r := range sums {
		for range vectors {
			v := s.vector()
			s.zero(v)
			sums[r] = append(sums[r], v)
		}
	}
	row := []VecVirtual{s.vector(), s.vector()}[:vectors]
	x := s.vector()
	s.label("step")
	for v := range vectors {
		VMOVUPS(s.at(b, v), row[v])
	}
	for r := range rows {
		VBROADCASTSS(element(r), x)
		for v := range vectors {
			VFMADD231PS(row[v], x, sums[r][v])
		}
	}
	PREFETCHT0(Mem{Base: next})
	ADDQ(stride, next)
	ADDQ(U32(2*s.bytes()), b)
	for _, base := range bases {
		ADDQ(cs, base)
	}
	DECQ(k)
	JNE(s.ref("step"))

	n := param("n")
	accumulate := GP8()
	Load(Param("accumulate"), accumulate)
	// each calls f for every register of the tile with its address in C. pointer is the address of the first.
	each := func(pointer GPVirtual, f func(sum VecVirtual, at Mem, last bool)) {
		for r := range rows {
			for v := range vectors {
				f(sums[r][v], s.at(pointer, v), v == vectors-1)
			}
			if r < rows-1 {
				ADDQ(ldc, pointer)
			}
		}
	}
	// finishPart writes a tile whose last register of each row is masked.
	finishPart := func(store string) {
		if vectors > 1 {
			SUBQ(U8(s.lanes), n)
		}
		mask := s.tail(n)
		s.loadMask(&mask)
		TESTB(accumulate, accumulate)
		JE(s.ref(store))
		MOVQ(c, ahead)
		old := s.vector()
		each(ahead, func(sum VecVirtual, at Mem, last bool) {
			switch {
			case !last:
				VADDPS(at, sum, sum)
			case s.wide:
				VADDPS(at, sum, mask.k, sum)
			default:
				s.loadTail(at, mask, old)
				VADDPS(old, sum, sum)
			}
		})
		s.label(store)
		each(c, func(sum VecVirtual, at Mem, last bool) {
			if last {
				s.storeTail(sum, mask, at)
			} else {
				VMOVUPS(sum, at)
			}
		})
		finish()
	}
	if s.wide {
		finishPart("store")
		return
	}
	// Masked stores of AVX2 are slow on some machines, so complete tiles avoid them.
	CMPQ(n, U8(vectors*s.lanes))
	JNE(s.ref("part"))
	TESTB(accumulate, accumulate)
	JE(s.ref("store"))
	MOVQ(c, ahead)
	each(ahead, func(sum VecVirtual, at Mem, _ bool) { VADDPS(at, sum, sum) })
	s.label("store")
	MOVQ(c, ahead)
	each(ahead, func(sum VecVirtual, at Mem, _ bool) { VMOVUPS(sum, at) })
	finish()

	s.label("part")
	finishPart("storePart")
}

// copyPanel writes the loop that copies a full panel of B: rows of two registers, which are lds values apart in the
// source and contiguous in the panel.
func (s set) copyPanel() {
	s.function("copyPanel", "func(dst, src *float32, lds, rows int)")
	dst, src, lds, rows := param("dst"), param("src"), param("lds"), param("rows")
	SHLQ(U8(2), lds)
	v0, v1 := s.vector(), s.vector()
	Label("row")
	PREFETCHT0(Mem{Base: src, Index: lds, Scale: 8})
	PREFETCHT0(Mem{Base: src, Index: lds, Scale: 8, Disp: 2*s.bytes() - 4})
	VMOVUPS(s.at(src, 0), v0)
	VMOVUPS(s.at(src, 1), v1)
	VMOVUPS(v0, s.at(dst, 0))
	VMOVUPS(v1, s.at(dst, 1))
	ADDQ(lds, src)
	ADDQ(U32(2*s.bytes()), dst)
	DECQ(rows)
	JNE(LabelRef("row"))
	finish()
}

// closest writes the loop that folds a tile of products into the running minima. In both sets, a row has 16 lanes of
// minima.
func (s set) closest() {
	s.function("closest", "func(value *float32, index *int32, product, norms *float32, m int, first int32)")
	value, index, product, norms, m := param("value"), param("index"), param("product"), param("norms"), param("m")
	for i := range 2 * s.lanes {
		if i == 0 {
			GLOBL("iota"+s.suffix, 24)
		}
		DATA(4*i, U32(uint32(i)))
	}
	iota := GP64()
	LEAQ(NewDataAddr(NewStaticSymbol("iota"+s.suffix), 0), iota)
	first := s.vector()
	bits, low := GP32(), XMM()
	Load(Param("first"), bits)
	VMOVD(bits, low)
	VPBROADCASTD(low, first)
	two := s.vector()
	MOVL(U32(math.Float32bits(2)), bits)
	VMOVD(bits, low)
	VBROADCASTSS(low, two)
	var norm, number []VecVirtual
	for v := range 2 {
		nv, iv := s.vector(), s.vector()
		VMOVUPS(s.at(norms, v), nv)
		VPADDD(s.at(iota, v), first, iv)
		norm, number = append(norm, nv), append(number, iv)
	}
	Label("row")
	old, at := s.vector(), s.vector()
	for v := range 2 {
		// With AVX-512, both registers of the tile update the same 16 minima, in ascending order. With AVX2, each updates its
		// own 8.
		state := v
		if s.wide {
			state = 0
		}
		if !s.wide || v == 0 {
			VMOVUPS(s.at(value, state), old)
			VMOVUPS(s.at(index, state), at)
		}
		f := s.vector()
		VMOVUPS(s.at(product, v), f)
		VFNMADD213PS(norm[v], two, f) // norm − 2·product
		if s.wide {
			k := K()
			VCMPPS(U8(17), old, f, k) // f < old, which is false for NaN
			VMOVAPS(f, k, old)
			VMOVDQA32(number[v], k, at)
		} else {
			less := s.vector()
			VCMPPS(U8(17), old, f, less)
			VBLENDVPS(less, f, old, old)
			VBLENDVPS(less, number[v], at, at)
		}
		if !s.wide || v == 1 {
			VMOVUPS(old, s.at(value, state))
			VMOVUPS(at, s.at(index, state))
		}
	}
	ADDQ(U32(2*s.bytes()), product)
	ADDQ(U32(64), value)
	ADDQ(U32(64), index)
	DECQ(m)
	JNE(LabelRef("row"))
	finish()
}

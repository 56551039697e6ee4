package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// prefetchAhead is the prefetch distance, in entries, for rows of X of the given number of cache lines. About 256 lines
// in flight keep memory busy. Narrow rows are twice as fast as with a distance of 16; beyond 128 there is no gain.
//
// Rows are prefetched into the L2 cache and not into L1. A core can wait for about twenty L1 lines at a time and for
// more L2 lines, so random rows arrive at twice the rate.
func prefetchAhead(lines int) int { return min(128, 256/lines) }

// gathers writes the sparse row × dense loop, with a body for each number of registers that a row fills.
func (s set) gathers() {
	s.function("gather", "func(dst *float32, ldd int, rows *int32, first, count int, position *int32, indptr *int64,"+
		" indices *int32, weights, left, right *float32, self float32, x *float32, ldx, d int)")
	d := param("d")
	ahead := AllocLocal(8) // the cursor's row, as an address in rows; 0 without a list
	left := AllocLocal(8)  // rows after the cursor's row
	s.choose(d, s.gathered, func(vectors int) int { return (vectors-1)*s.lanes + 1 }, func(s set, vectors int) {
		s.gather(vectors, ahead, left)
	})
}

// gather writes the sparse row × dense loop for at least one row, and for rows that fill a given number of registers.
// The sum of a row stays in registers. A cursor runs ahead over the edges, across the ends of rows, and prefetches the
// data that they need.
func (s set) gather(vectors int, ahead, left Mem) {
	position, indices, weights := param("position"), param("indices"), param("weights")
	right, x, ldx := param("right"), param("x"), param("ldx")
	SHLQ(U8(2), ldx)
	n := param("d")
	if vectors > 1 {
		SUBQ(U32((vectors-1)*s.lanes), n)
	}
	mask := s.tail(n)
	SHLQ(U8(2), address("ldd"))

	t := GP64()
	cursor, cursorEnd := GP64(), GP64()

	// locate turns the node in j into the address of its data.
	locate := func(j GPVirtual, where string) {
		TESTQ(position, position)
		JE(s.ref("identity" + where))
		MOVLQSX(Mem{Base: position, Index: j, Scale: 4}, j)
		s.label("identity" + where)
		IMULQ(ldx, j)
		ADDQ(x, j)
	}
	// look advances the cursor by one edge.
	look := func(where string) {
		s.label("look" + where)
		CMPQ(cursor, cursorEnd)
		JGE(s.ref("refill" + where))
		MOVLQSX(Mem{Base: indices, Index: cursor, Scale: 4}, t)
		INCQ(cursor)
		TESTQ(right, right)
		JE(s.ref("ones" + where))
		PREFETCHT0(Mem{Base: right, Index: t, Scale: 4})
		s.label("ones" + where)
		locate(t, where)
		for at := 0; at < vectors*s.bytes(); at += 64 {
			PREFETCHT1(Mem{Base: t, Disp: at})
		}
		s.label("looked" + where)
	}
	// refill moves the cursor to the next row of a list; after the last row, the cursor stays at its end.
	refill := func(where string) {
		s.label("refill" + where)
		CMPQ(left, U8(0))
		JE(s.ref("looked" + where))
		DECQ(left)
		ADDQ(U8(4), ahead)
		MOVQ(ahead, t)
		MOVLQSX(Mem{Base: t}, t)
		SHLQ(U8(3), t)
		ADDQ(address("indptr"), t)
		MOVQ(Mem{Base: t}, cursor)
		MOVQ(Mem{Base: t, Disp: 8}, cursorEnd)
		JMP(s.ref("look" + where))
	}

	// The cursor starts in the first row. Without a list, all rows count as one row that ends with the last one.
	node := GP64()
	MOVQ(U32(0), left)
	Load(Param("rows"), t)
	MOVQ(t, ahead)
	indptr := param("indptr")
	TESTQ(t, t)
	JE(s.ref("contiguous"))
	MOVLQSX(Mem{Base: t}, node)
	MOVQ(Mem{Base: indptr, Index: node, Scale: 8}, cursor)
	MOVQ(Mem{Base: indptr, Index: node, Scale: 8, Disp: 8}, cursorEnd)
	Load(Param("count"), t)
	DECQ(t)
	MOVQ(t, left)
	JMP(s.ref("warm"))
	s.label("contiguous")
	Load(Param("first"), node)
	MOVQ(Mem{Base: indptr, Index: node, Scale: 8}, cursor)
	ADDQ(address("count"), node)
	MOVQ(Mem{Base: indptr, Index: node, Scale: 8}, cursorEnd)
	s.label("warm")
	steps := GP64()
	MOVQ(U32(prefetchAhead((vectors*s.bytes()+63)/64)), steps)
	s.label("warming")
	look("Warm")
	DECQ(steps)
	JNE(s.ref("warming"))

	one := GP32()
	MOVL(U32(0x3f800000), one)
	var sums []VecVirtual
	for range vectors {
		sums = append(sums, s.vector())
	}
	coefficient := XMM()
	w := s.vector()
	// accumulate adds the coefficient times the data at j.
	accumulate := func(j GPVirtual) {
		VBROADCASTSS(coefficient, w)
		for v := range vectors {
			switch {
			case v < vectors-1:
				VFMADD231PS(s.at(j, v), w, sums[v])
			case s.wide:
				VFMADD231PS(s.at(j, v), w, mask.k, sums[v])
			default:
				part := s.vector()
				s.loadTail(s.at(j, v), mask, part)
				VFMADD231PS(part, w, sums[v])
			}
		}
	}

	s.label("row")
	Load(Param("rows"), t)
	TESTQ(t, t)
	JE(s.ref("following"))
	MOVLQSX(Mem{Base: t}, node)
	ADDQ(U8(4), address("rows"))
	JMP(s.ref("start"))
	s.label("following")
	Load(Param("first"), node)
	INCQ(address("first"))
	s.label("start")
	edge, end := GP64(), GP64()
	Load(Param("indptr"), t)
	MOVQ(Mem{Base: t, Index: node, Scale: 8}, edge)
	MOVQ(Mem{Base: t, Index: node, Scale: 8, Disp: 8}, end)
	for _, v := range sums {
		s.zero(v)
	}
	CMPQ(edge, end)
	JGE(s.ref("self"))

	s.label("edge")
	look("Edge")
	j := GP64()
	MOVLQSX(Mem{Base: indices, Index: edge, Scale: 4}, j)
	VMOVD(one, coefficient)
	TESTQ(weights, weights)
	JE(s.ref("unweighted"))
	VMOVSS(Mem{Base: weights, Index: edge, Scale: 4}, coefficient)
	s.label("unweighted")
	TESTQ(right, right)
	JE(s.ref("unscaled"))
	VMULSS(Mem{Base: right, Index: j, Scale: 4}, coefficient, coefficient)
	s.label("unscaled")
	locate(j, "Data")
	accumulate(j)
	INCQ(edge)
	CMPQ(edge, end)
	JLT(s.ref("edge"))

	s.label("self")
	VMOVSS(address("self"), coefficient)
	bits := GP32()
	VMOVD(coefficient, bits)
	ADDL(bits, bits) // shifts out the sign, to test for zero
	JE(s.ref("finish"))
	TESTQ(right, right)
	JE(s.ref("selfUnscaled"))
	VMULSS(Mem{Base: right, Index: node, Scale: 4}, coefficient, coefficient)
	s.label("selfUnscaled")
	own := GP64()
	MOVQ(node, own)
	locate(own, "Self")
	accumulate(own)

	s.label("finish")
	Load(Param("left"), t)
	TESTQ(t, t)
	JE(s.ref("write"))
	VBROADCASTSS(Mem{Base: t, Index: node, Scale: 4}, w)
	for _, v := range sums {
		VMULPS(w, v, v)
	}
	s.label("write")
	dst := param("dst")
	for v := range vectors {
		if v < vectors-1 {
			VMOVUPS(sums[v], s.at(dst, v))
			continue
		}
		if !s.wide {
			// w is free by now
			VMOVUPS(mask.from, w)
			VMASKMOVPS(sums[v], w, s.at(dst, v))
		} else {
			s.storeTail(sums[v], mask, s.at(dst, v))
		}
	}
	ADDQ(address("ldd"), dst)
	MOVQ(dst, address("dst"))
	DECQ(address("count"))
	JNE(s.ref("row"))
	finish()
	refill("Warm")
	refill("Edge")
}

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// summed describes the rows of a sum: float32, or float16 that is widened when it is read.
type summed struct {
	name, element string
	shift, size   int // the size of an element in bytes is size = 1<<shift
	weighted      bool
	factored      bool // a row is followed by its factor, a float32
}

var summedRows = []summed{
	{name: "gatherSum", element: "float32", shift: 2, size: 4},
	{name: "gatherSumHalf", element: "uint16", shift: 1, size: 2},
	{name: "gatherWeightedHalf", element: "uint16", shift: 1, size: 2, weighted: true},
	{name: "gatherFactored", element: "uint16", shift: 1, size: 2, factored: true},
}

// gatherSums writes a sparse row × dense loop, with a body for 16, 32, 48 and 64 columns.
func (s set) gatherSums(kind summed) {
	weights := ""
	if kind.weighted {
		weights = "weights, "
	}
	s.function(kind.name, fmt.Sprintf("func(dst *float32, ldd, d, count int, indptr *int64, indices *int32,"+
		" %sscale *float32, x *%s, ldx int)", weights, kind.element))
	d := param("d")
	s.choose(d, 4, func(parts int) int { return 16 * parts }, func(s set, parts int) { s.gatherSum(kind, parts) })
}

// gatherSum writes the simplest sparse row × dense loop, for at least one row of 16·parts values and without a list of
// rows. At each entry, it prefetches the data of an entry far ahead.
func (s set) gatherSum(kind summed, parts int) {
	vectors, row := parts*64/s.bytes(), 16*parts*kind.size
	var asked []int // offsets in a row, one in each of its cache lines
	for at := 0; at < row; at += 64 {
		asked = append(asked, at)
	}
	if kind.factored { // such rows may begin anywhere
		asked = append(asked, row)
	}
	dst, ldd := param("dst"), param("ldd")
	SHLQ(U8(2), ldd)
	count, indptr, indices := param("count"), param("indptr"), param("indices")
	var weight GPVirtual
	if kind.weighted {
		weight = param("weights")
	}
	scale, x, ldx := param("scale"), param("x"), param("ldx")
	SHLQ(U8(kind.shift), ldx)
	edge, end, last := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: indptr, Index: count, Scale: 8}, last)
	DECQ(last)
	MOVQ(Mem{Base: indptr}, edge)
	var sums []VecVirtual
	for range vectors {
		sums = append(sums, s.vector())
	}
	j, ahead := GP64(), GP64()

	s.label("row")
	ADDQ(U8(8), indptr)
	MOVQ(Mem{Base: indptr}, end)
	for _, v := range sums {
		s.zero(v)
	}
	CMPQ(edge, end)
	JGE(s.ref("finish"))
	s.label("edge")
	LEAQ(Mem{Base: edge, Disp: sumAhead(len(asked))}, ahead)
	CMPQ(ahead, last)
	CMOVQGT(last, ahead)
	MOVLQSX(Mem{Base: indices, Index: ahead, Scale: 4}, ahead)
	IMULQ(ldx, ahead)
	for _, at := range asked {
		PREFETCHT1(Mem{Base: x, Index: ahead, Scale: 1, Disp: at})
	}
	MOVLQSX(Mem{Base: indices, Index: edge, Scale: 4}, j)
	IMULQ(ldx, j)
	w, wide := s.vector(), s.vector()
	switch {
	case kind.weighted:
		VBROADCASTSS(Mem{Base: weight, Index: edge, Scale: 4}, w)
	case kind.factored:
		VBROADCASTSS(Mem{Base: x, Index: j, Scale: 1, Disp: row}, w)
	}
	for v, sum := range sums {
		from := Mem{Base: x, Index: j, Scale: 1, Disp: v * s.lanes * kind.size}
		switch {
		case kind.weighted:
			VCVTPH2PS(from, wide)
			VFMADD231PS(wide, w, sum)
		case kind.factored: // the product is rounded, as if it had been stored
			VCVTPH2PS(from, wide)
			VMULPS(wide, w, wide)
			VADDPS(wide, sum, sum)
		case kind.size == 2:
			VCVTPH2PS(from, wide)
			VADDPS(wide, sum, sum)
		default:
			VADDPS(from, sum, sum)
		}
	}
	INCQ(edge)
	CMPQ(edge, end)
	JLT(s.ref("edge"))
	s.label("finish")
	factor := s.vector()
	VBROADCASTSS(Mem{Base: scale}, factor)
	ADDQ(U8(4), scale)
	for v, sum := range sums {
		VMULPS(factor, sum, sum)
		VMOVUPS(sum, s.at(dst, v))
	}
	ADDQ(ldd, dst)
	DECQ(count)
	JNE(s.ref("row"))
	finish()
}

// sumAhead is the prefetch distance in entries, for 128 cache lines in flight to the L2 cache (see prefetchAhead). From
// 64 to 384 lines, the time is the same within the noise of a shared machine.
func sumAhead(lines int) int { return 128 / lines }

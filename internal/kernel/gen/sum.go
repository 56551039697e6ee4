package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// gatherSum is the simplest sparse row × dense loop, for rows of a number of cache lines: no weights, and no list of
// rows. Each entry asks for the data of one far ahead of it.
func (s set) gatherSum(lines int) {
	TEXT(fmt.Sprintf("gatherSum%d%s", lines, s.suffix), 4,
		"func(dst *float32, ldd int, count int, indptr *int64, indices *int32, scale *float32, x *float32, ldx int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("gatherSum%d%s sums count rows (at least 1) of %d values: see GatherSum.", lines, s.suffix, 16*lines))
	vectors := lines * 64 / s.bytes()
	dst, ldd, count, indptr, indices := GP64(), GP64(), GP64(), GP64(), GP64()
	scale, x, ldx := GP64(), GP64(), GP64()
	Load(Param("dst"), dst)
	Load(Param("ldd"), ldd)
	SHLQ(U8(2), ldd)
	Load(Param("count"), count)
	Load(Param("indptr"), indptr)
	Load(Param("indices"), indices)
	Load(Param("scale"), scale)
	Load(Param("x"), x)
	Load(Param("ldx"), ldx)
	SHLQ(U8(2), ldx)
	edge, end, last := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: indptr, Index: count, Scale: 8}, last)
	DECQ(last)
	MOVQ(Mem{Base: indptr}, edge)
	var sums []VecVirtual
	for range vectors {
		sums = append(sums, s.vector())
	}
	j, ahead := GP64(), GP64()

	Label("row")
	ADDQ(U8(8), indptr)
	MOVQ(Mem{Base: indptr}, end)
	for _, v := range sums {
		s.zero(v)
	}
	CMPQ(edge, end)
	JGE(LabelRef("finish"))
	Label("edge")
	LEAQ(Mem{Base: edge, Disp: sumAhead(lines)}, ahead)
	CMPQ(ahead, last)
	CMOVQGT(last, ahead)
	MOVLQSX(Mem{Base: indices, Index: ahead, Scale: 4}, ahead)
	IMULQ(ldx, ahead)
	for line := range lines {
		PREFETCHT0(Mem{Base: x, Index: ahead, Scale: 1, Disp: 64 * line})
	}
	MOVLQSX(Mem{Base: indices, Index: edge, Scale: 4}, j)
	IMULQ(ldx, j)
	for v, sum := range sums {
		VADDPS(Mem{Base: x, Index: j, Scale: 1, Disp: v * s.bytes()}, sum, sum)
	}
	INCQ(edge)
	CMPQ(edge, end)
	JLT(LabelRef("edge"))
	Label("finish")
	factor := s.vector()
	VBROADCASTSS(Mem{Base: scale}, factor)
	ADDQ(U8(4), scale)
	for v, sum := range sums {
		VMULPS(factor, sum, sum)
		VMOVUPS(sum, s.at(dst, v))
	}
	ADDQ(ldd, dst)
	DECQ(count)
	JNE(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// sumAhead is how many entries ahead data is asked for: 96 cache lines on their way. With half or twice as many a sum
// takes a tenth longer, and without any half as long again.
func sumAhead(lines int) int { return 96 / lines }

package main

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// reduce folds all lanes of v by op into the first lane of the returned register.
func (s set) reduce(v VecVirtual, op func(...Op)) VecVirtual {
	half := YMM()
	if s.wide {
		VEXTRACTF64X4(U8(1), v, half)
		low := YMM()
		VEXTRACTF64X4(U8(0), v, low)
		op(half, low, low)
		v = low
	}
	quarter := XMM()
	low := XMM()
	VEXTRACTF128(U8(1), v, quarter)
	VEXTRACTF128(U8(0), v, low)
	op(quarter, low, low)
	other := XMM()
	VPERMILPS(U8(0x4e), low, other)
	op(other, low, low)
	VPERMILPS(U8(0xb1), low, other)
	op(other, low, low)
	return low
}

// steps writes loops over n elements, for four registers of lanes elements at a time and then for one. The code for the
// rest follows, and ends with the label done.
func steps(n GPVirtual, lanes int, body func(vectors int)) {
	step := func(vectors int, label, next string) {
		Label(label)
		CMPQ(n, U8(vectors*lanes))
		JLT(LabelRef(next))
		body(vectors)
		SUBQ(U8(vectors*lanes), n)
		JMP(LabelRef(label))
	}
	step(4, "four", "one")
	step(1, "one", "tail")
	Label("tail")
	TESTQ(n, n)
	JE(LabelRef("done"))
}

// dot keeps four registers of sums, so that the latency of the fused multiply-add is hidden.
func (s set) dot() {
	s.function("dot", "func(x, y []float32) float32")
	x, y, n := base("x"), base("y"), length("x")
	var sums []VecVirtual
	for range 4 {
		v := s.vector()
		s.zero(v)
		sums = append(sums, v)
	}
	v := s.vector()
	steps(n, s.lanes, func(vectors int) {
		for i := range vectors {
			VMOVUPS(s.at(x, i), v)
			VFMADD231PS(s.at(y, i), v, sums[i])
		}
		ADDQ(U32(vectors*s.bytes()), x)
		ADDQ(U32(vectors*s.bytes()), y)
	})
	mask := s.tail(n)
	s.loadMask(&mask)
	other := s.vector()
	s.loadTail(Mem{Base: x}, mask, v)
	s.loadTail(Mem{Base: y}, mask, other)
	VFMADD231PS(other, v, sums[1])
	Label("done")
	VADDPS(sums[1], sums[0], sums[0])
	VADDPS(sums[3], sums[2], sums[2])
	VADDPS(sums[2], sums[0], sums[0])
	low := s.reduce(sums[0], func(o ...Op) { VADDPS(o...) })
	Store(low.(Register), ReturnIndex(0))
	finish()
}

// loop is an element-wise function that is being written.
type loop struct {
	set
	base  map[string]GPVirtual
	index GPVirtual
	mask  *tail // nil except in the last, partial step
}

// load returns a register with the current values of a slice.
func (l loop) load(name string) VecVirtual {
	v := l.vector()
	m := Mem{Base: l.base[name], Index: l.index, Scale: 4}
	if l.mask != nil {
		l.loadTail(m, *l.mask, v)
	} else {
		VMOVUPS(m, v)
	}
	return v
}

func (l loop) store(v VecVirtual, name string) {
	m := Mem{Base: l.base[name], Index: l.index, Scale: 4}
	if l.mask != nil {
		l.storeTail(v, *l.mask, m)
	} else {
		VMOVUPS(v, m)
	}
}

// each writes the loop over the slices of a function: body is written once for complete registers and once for the
// rest.
func (s set) each(slices string, body func(l loop)) {
	l := loop{set: s, base: map[string]GPVirtual{}, index: GP64()}
	names := strings.Fields(slices)
	n := length(names[0])
	for _, name := range names {
		l.base[name] = base(name)
	}
	XORQ(l.index, l.index)
	SUBQ(U8(s.lanes), n)
	JLT(LabelRef("tail"))
	Label("loop")
	body(l)
	ADDQ(U8(s.lanes), l.index)
	SUBQ(U8(s.lanes), n)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(U8(s.lanes), n)
	JE(LabelRef("done"))
	mask := s.tail(n)
	s.loadMask(&mask)
	l.mask = &mask
	body(l)
	Label("done")
}

func (s set) elementwise() {
	s.function("axpy", "func(alpha float32, x, y []float32)")
	alpha := s.broadcast("alpha")
	s.each("x y", func(l loop) {
		x, y := l.load("x"), l.load("y")
		VFMADD231PS(x, alpha, y)
		l.store(y, "y")
	})
	finish()

	for _, o := range []struct {
		name string
		op   func(...Op)
	}{{"add", func(ops ...Op) { VADDPS(ops...) }}, {"mul", func(ops ...Op) { VMULPS(ops...) }}} {
		s.function(o.name, "func(dst, x, y []float32)")
		s.each("dst x y", func(l loop) {
			x, y := l.load("x"), l.load("y")
			o.op(y, x, x)
			l.store(x, "dst")
		})
		finish()
	}

	s.function("scale", "func(dst []float32, alpha float32, x []float32)")
	alpha = s.broadcast("alpha")
	s.each("dst x", func(l loop) {
		x := l.load("x")
		VMULPS(alpha, x, x)
		l.store(x, "dst")
	})
	finish()

	s.function("relu", "func(dst, x []float32)")
	zero := s.vector()
	s.zero(zero)
	s.each("dst x", func(l loop) {
		x := l.load("x")
		VMAXPS(zero, x, x) // gives the second operand, zero, unless x > 0
		l.store(x, "dst")
	})
	finish()

	s.function("reluGrad", "func(dst, g, x []float32)")
	zero = s.vector()
	s.zero(zero)
	s.each("dst g x", func(l loop) {
		x, g := l.load("x"), l.load("g")
		if s.wide {
			k := K()
			VCMPPS(U8(30), zero, x, k) // x > 0, which is false for NaN
			VMOVAPS_Z(g, k, g)
		} else {
			VCMPPS(U8(30), zero, x, x)
			VANDPS(x, g, g)
		}
		l.store(g, "dst")
	})
	finish()

	s.function("adam", "func(w, g, m, v []float32, decay, b1, c1, b2, c2, rate, root, eps float32)")
	decay, b1, c1, b2 := s.broadcast("decay"), s.broadcast("b1"), s.broadcast("c1"), s.broadcast("b2")
	c2, rate, root, eps := s.broadcast("c2"), s.broadcast("rate"), s.broadcast("root"), s.broadcast("eps")
	s.each("w g m v", func(l loop) {
		w, h, m := l.load("w"), l.load("g"), l.load("m")
		VFMADD231PS(w, decay, h)
		VMULPS(b1, m, m)
		VFMADD231PS(h, c1, m)
		l.store(m, "m")
		VMULPS(h, h, h)
		v := l.load("v")
		VMULPS(b2, v, v)
		VFMADD231PS(h, c2, v)
		l.store(v, "v")
		VSQRTPS(v, v)
		VFMADD213PS(eps, root, v)
		VMULPS(rate, m, m)
		VDIVPS(v, m, m)
		VSUBPS(m, w, w)
		l.store(w, "w")
	})
	finish()
}

// accumulate writes a loop for both sets, since memory limits the speed of float64 sums anyway.
func (s set) accumulate() {
	s.function("accumulate", "func(sum []float64, w float64, x []float32)")
	sum, x, n := base("sum"), base("x"), length("sum")
	w := YMM()
	VBROADCASTSD(address("w"), w)
	steps(n, 4, func(vectors int) {
		for i := range vectors {
			wide, total := YMM(), YMM()
			VCVTPS2PD(Mem{Base: x, Disp: 16 * i}, wide)
			VMOVUPD(Mem{Base: sum, Disp: 32 * i}, total)
			VFMADD231PD(wide, w, total)
			VMOVUPD(total, Mem{Base: sum, Disp: 32 * i})
		}
		ADDQ(U8(16*vectors), x)
		ADDQ(U32(32*vectors), sum)
	})
	single, total := XMM(), XMM()
	VXORPS(single, single, single)
	VCVTSS2SD(Mem{Base: x}, single, single)
	VMOVSD(Mem{Base: sum}, total)
	VFMADD231SD(single, w.AsX(), total)
	VMOVSD(total, Mem{Base: sum})
	ADDQ(U8(4), x)
	ADDQ(U8(8), sum)
	DECQ(n)
	JMP(LabelRef("tail"))
	Label("done")
	finish()
}

// prefetch writes the loop that prefetches x, line by line.
func (s set) prefetch() {
	s.function("prefetch", "func(x []float32)")
	x, n := base("x"), length("x")
	Label("line")
	TESTQ(n, n)
	JLE(LabelRef("done"))
	PREFETCHT0(Mem{Base: x})
	ADDQ(U8(64), x)
	SUBQ(U8(16), n)
	JMP(LabelRef("line"))
	Label("done")
	RET()
}

// prefetchAt writes the loop that prefetches elements of a table into the L2 cache (see prefetchAhead).
func (s set) prefetchAt() {
	s.function("prefetchAt", "func(table *int32, indices []int32)")
	table, at, n, index := param("table"), base("indices"), length("indices"), GP64()
	Label("index")
	TESTQ(n, n)
	JLE(LabelRef("done"))
	MOVLQSX(Mem{Base: at}, index)
	PREFETCHT1(Mem{Base: table, Index: index, Scale: 4})
	ADDQ(U8(4), at)
	DECQ(n)
	JMP(LabelRef("index"))
	Label("done")
	RET()
}

// few writes the loop that multiplies two rows with four others. Registers hold eight sums of eight lanes, the two
// rows, and the current one of the four.
func (s set) few() {
	s.function("few", "func(product, x0, x1, c *float32, d int)")
	product, at := param("product"), GP64()
	rows := [6]GPVirtual{param("x0"), param("x1"), param("c")}
	n := param("d")
	for i := 3; i < 6; i++ {
		rows[i] = GP64()
	}
	for i := 3; i < 6; i++ {
		LEAQ(Mem{Base: rows[i-1], Index: n, Scale: 4}, rows[i])
	}
	XORQ(at, at)
	var sums [8]VecVirtual
	for i := range sums {
		sums[i] = YMM()
		s.zero(sums[i])
	}
	x0, x1, c := YMM(), YMM(), YMM()
	multiply := func(load func(m Mem, dst VecVirtual)) {
		load(Mem{Base: rows[0], Index: at, Scale: 1}, x0)
		load(Mem{Base: rows[1], Index: at, Scale: 1}, x1)
		for j := range 4 {
			load(Mem{Base: rows[2+j], Index: at, Scale: 1}, c)
			VFMADD231PS(c, x0, sums[j])
			VFMADD231PS(c, x1, sums[4+j])
		}
	}
	Label("whole")
	CMPQ(n, U8(8))
	JLT(LabelRef("tail"))
	multiply(func(m Mem, dst VecVirtual) { VMOVUPS(m, dst) })
	ADDQ(U8(32), at)
	SUBQ(U8(8), n)
	JMP(LabelRef("whole"))
	Label("tail")
	TESTQ(n, n)
	JE(LabelRef("sum"))
	mask := s.tail(n)
	s.loadMask(&mask)
	multiply(func(m Mem, dst VecVirtual) { s.loadTail(m, mask, dst) })
	Label("sum")
	for i := 0; i < 8; i += 4 {
		VHADDPS(sums[i+1], sums[i], sums[i])
		VHADDPS(sums[i+3], sums[i+2], sums[i+2])
		VHADDPS(sums[i+2], sums[i], sums[i])
		high := XMM()
		VEXTRACTF128(U8(1), sums[i], high)
		VADDPS(high, sums[i].AsX(), high)
		VMOVUPS(high, Mem{Base: product, Disp: 4 * i})
	}
	finish()
}

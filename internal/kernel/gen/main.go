// Command gen writes the assembly of package kernel, one set of loops at a time:
//
//	go run . -set avx512 -out ../avx512_amd64.s -stubs ../avx512_amd64.go -pkg kernel
//
// generate.sh writes both sets; check.sh checks that the committed files are up to date.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// set is an instruction set that the loops are written for.
type set struct {
	suffix string // the suffix of the names of its functions
	lanes  int    // float32 values in a register
	wide   bool   // AVX-512, which has mask registers; else AVX2 with FMA
	rows   int    // the rows of the micro-kernel's tile, which is two registers wide
	// gathered is the largest number of registers that hold a row of a gathered sum.
	gathered int
	// body is the prefix of the labels in the function body that is being written; see choose.
	body string
}

func main() {
	name := flag.String("set", "", "avx512 or avx2")
	flag.Parse()
	var s set
	switch *name {
	case "avx512":
		s = set{suffix: "AVX512", lanes: 16, wide: true, rows: 12, gathered: 16}
	case "avx2":
		s = set{suffix: "AVX2", lanes: 8, rows: 6, gathered: 14}
	default:
		fmt.Fprintf(os.Stderr, "gen: -set is %q, not avx512 or avx2\n", *name)
		os.Exit(2)
	}
	ConstraintExpr("!purego")
	if !s.wide {
		s.tailMasks()
	}
	s.tiles()
	s.copyPanel()
	s.closest()
	s.gathers()
	for _, kind := range summedRows {
		s.gatherSums(kind)
	}
	s.dot()
	s.elementwise()
	s.softmax()
	s.exponential()
	s.half()
	if !s.wide {
		s.transpose() // both sets use these functions
		s.lowest()
		s.accumulate()
		s.prefetch()
		s.prefetchAt()
		s.few()
	}
	Generate()
}

// function starts a function of the set. It needs no pragma noescape, since sets of loops are called through values.
func (s set) function(name, signature string) { TEXT(name+s.suffix, 4, signature) }

// choose writes code for 1, 2, …, count bodies of a function, one after the other. The last one with v ≥ least(i) runs.
func (s set) choose(v GPVirtual, count int, least func(i int) int, body func(s set, i int)) {
	bodies := make([]set, count+1)
	for i := count; i > 0; i-- {
		bodies[i] = s
		bodies[i].body = fmt.Sprintf("%sbody%d", s.body, i)
		if i > 1 {
			CMPQ(v, U32(least(i)))
			JGE(LabelRef(bodies[i].body))
		}
	}
	for i := 1; i <= count; i++ {
		Label(bodies[i].body)
		body(bodies[i], i)
	}
}

// label begins a part of a body, and ref refers to it.
func (s set) label(name string)        { Label(s.body + name) }
func (s set) ref(name string) LabelRef { return LabelRef(s.body + name) }

func finish() {
	VZEROUPPER()
	RET()
}

// param returns a register with a parameter, base with the address of a slice, and length with its length.
func param(name string) GPVirtual  { return load(Param(name)) }
func base(name string) GPVirtual   { return load(Param(name).Base()) }
func length(name string) GPVirtual { return load(Param(name).Len()) }

func load(c gotypes.Component) GPVirtual {
	r := GP64()
	Load(c, r)
	return r
}

// address returns the place of a parameter on the stack.
func address(name string) Mem {
	c, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return c.Addr
}

// broadcast returns a register filled with a scalar parameter.
func (s set) broadcast(name string) VecVirtual {
	v := s.vector()
	VBROADCASTSS(address(name), v)
	return v
}

// vector returns a fresh register of the set's width.
func (s set) vector() VecVirtual {
	if s.wide {
		return ZMM()
	}
	return YMM()
}

// zero clears a register.
func (s set) zero(v VecVirtual) {
	if s.wide {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}

// bytes returns the width of a register in bytes.
func (s set) bytes() int { return 4 * s.lanes }

// tailMaskName is the table of AVX2 masks: at byte 4·(8−n), n lanes that are on, then lanes that are off.
const tailMaskName = "tailMaskAVX2"

func (s set) tailMasks() {
	GLOBL(tailMaskName, 24) // RODATA|NOPTR
	for i := range 2 * s.lanes {
		v := uint32(0xffffffff)
		if i >= s.lanes {
			v = 0
		}
		DATA(4*i, U32(v))
	}
}

// tail is a mask of the first n lanes: a mask register, or for AVX2 a vector register, or the address of one.
type tail struct {
	k    Register
	v    VecVirtual
	from Mem
}

// tail computes the mask of the first n lanes, 0 ≤ n ≤ lanes, and destroys n. For AVX2 it computes only the address:
// see loadMask.
func (s set) tail(n GPVirtual) (t tail) {
	if s.wide {
		k := K()
		ones := GP64()
		MOVQ(U32(0xffff), ones)
		BZHIQ(n, ones, ones)
		KMOVW(ones.As32(), k)
		t.k = k
		return t
	}
	table := GP64()
	LEAQ(NewDataAddr(NewStaticSymbol(tailMaskName), 0), table)
	NEGQ(n)
	LEAQ(Mem{Base: table, Index: n, Scale: 4, Disp: s.bytes()}, table)
	t.from = Mem{Base: table}
	return t
}

// loadMask puts an AVX2 mask into a register, where it stays.
func (s set) loadMask(t *tail) {
	if !s.wide {
		t.v = YMM()
		VMOVUPS(t.from, t.v)
	}
}

// loadTail loads the lanes that are on. The other lanes become zero.
func (s set) loadTail(m Mem, t tail, dst VecVirtual) {
	switch {
	case s.wide:
		VMOVUPS_Z(m, t.k, dst)
	case t.v != nil:
		VMASKMOVPS(m, t.v, dst)
	default:
		VMOVUPS(t.from, dst)
		VMASKMOVPS(m, dst, dst)
	}
}

// storeTail stores the lanes that are on. An AVX2 mask must have been loaded.
func (s set) storeTail(src VecVirtual, t tail, m Mem) {
	if s.wide {
		VMOVUPS(src, t.k, m)
	} else {
		VMASKMOVPS(src, t.v, m)
	}
}

// at returns the address of vector v after base.
func (s set) at(base Register, v int) Mem { return Mem{Base: base, Disp: v * s.bytes()} }

package simd128

import (
	"encoding/binary"
	"math"
)

// kind is the type of a value, as the binary format encodes it.
type kind byte

// The types of values.
const (
	i32  kind = 0x7f
	i64  kind = 0x7e
	f32  kind = 0x7d
	f64  kind = 0x7c
	v128 kind = 0x7b
)

// module is a WebAssembly module in the making.
type module struct{ functions []*function }

// function is a function without a result, in the making. Locals are numbered, parameters first.
type function struct {
	name       string
	parameters int
	locals     []kind // of parameters and other locals
	body       []byte
}

// local is the number of a local.
type local uint32

// expr appends the instructions that push a value.
type expr func(f *function)

// function adds a function, and returns it with its parameters.
func (m *module) function(name string, parameters ...kind) (f *function, at []local) {
	f = &function{name: name, parameters: len(parameters), locals: parameters}
	for i := range parameters {
		at = append(at, local(i))
	}
	m.functions = append(m.functions, f)
	return f, at
}

// local adds a local variable.
func (f *function) local(k kind) local {
	f.locals = append(f.locals, k)
	return local(len(f.locals) - 1)
}

// vectors adds n local variables of four float32.
func (f *function) vectors(n int) (all []local) {
	for range n {
		all = append(all, f.local(v128))
	}
	return all
}

func (f *function) emit(bytes ...byte) { f.body = append(f.body, bytes...) }

// unsigned appends n in LEB128.
func unsigned[T int | uint32 | local](to []byte, n T) []byte {
	return binary.AppendUvarint(to, uint64(n))
}

// signed appends n in signed LEB128.
func signed(to []byte, n int32) []byte {
	for {
		low := byte(n & 0x7f)
		n >>= 7
		if n == 0 && low&0x40 == 0 || n == -1 && low&0x40 != 0 {
			return append(to, low)
		}
		to = append(to, low|0x80)
	}
}

// get pushes a local.
func get(l local) expr {
	return func(f *function) { f.body = unsigned(append(f.body, 0x20), l) }
}

// number pushes an i32.
func number(n int32) expr {
	return func(f *function) { f.body = signed(append(f.body, 0x41), n) }
}

// single pushes a float32.
func single(v float32) expr {
	return func(f *function) {
		f.body = binary.LittleEndian.AppendUint32(append(f.body, 0x43), math.Float32bits(v))
	}
}

// scalar is an operation on scalars with any number of operands.
func scalar(code byte) func(operands ...expr) expr {
	return func(operands ...expr) expr {
		return func(f *function) {
			for _, o := range operands {
				o(f)
			}
			f.emit(code)
		}
	}
}

// vector is an operation on vectors with any number of operands. Immediate bytes follow its code.
func vector(code uint32, immediate ...byte) func(operands ...expr) expr {
	return func(operands ...expr) expr {
		return func(f *function) {
			for _, o := range operands {
				o(f)
			}
			f.body = append(unsigned(append(f.body, 0xfd), code), immediate...)
		}
	}
}

// The operations in use.
var (
	isZero  = scalar(0x45)
	less    = scalar(0x48) // i32, signed
	atMost  = scalar(0x4c)
	plus    = scalar(0x6a)
	minus   = scalar(0x6b)
	times   = scalar(0x6c)
	or      = scalar(0x72)
	narrow  = scalar(0xa7) // i64 to i32
	differs = scalar(0x5c) // f32
	fplus   = scalar(0x92)
	ftimes  = scalar(0x94)

	splat     = vector(0x13)
	splatInts = vector(0x11)
	splatWide = vector(0x14)
	vless     = vector(0x43)
	vmore     = vector(0x44)
	vand      = vector(0x4e)
	choose    = vector(0x52) // the first where bits of the third are set, else the second
	widen     = vector(0x5f) // the two lower float32 to float64
	addInts   = vector(0xae)
	vroot     = vector(0xe3)
	vplus     = vector(0xe4)
	vminus    = vector(0xe5)
	vtimes    = vector(0xe6)
	vover     = vector(0xe7)
	wplus     = vector(0xf0) // of two float64
	wtimes    = vector(0xf2)
)

// lane pushes one of the four float32 of v.
func lane(v expr, i int) expr { return vector(0x1f, byte(i))(v) }

// access returns a load with the given code, at an address and an offset in bytes. The encoded alignment, 4 bytes, is
// only a hint.
func access(code byte, simd bool) func(address expr, offset int) expr {
	return func(address expr, offset int) expr {
		return func(f *function) {
			address(f)
			if simd {
				f.emit(0xfd)
			}
			f.body = unsigned(append(f.body, code, 2), offset)
		}
	}
}

var (
	load      = access(0x28, false) // i32
	loadLong  = access(0x29, false) // i64
	loadFloat = access(0x2a, false)
	loadFour  = access(0x00, true)
	loadSplat = access(0x09, true) // one float32, into all four
	loadTwo   = access(0x5d, true) // two float32, and zeros
)

// store writes four float32.
func (f *function) store(address expr, offset int, v expr) {
	address(f)
	v(f)
	f.body = unsigned(append(f.body, 0xfd, 0x0b, 2), offset)
}

// storeFloat writes a float32.
func (f *function) storeFloat(address expr, offset int, v expr) {
	address(f)
	v(f)
	f.body = unsigned(append(f.body, 0x38, 2), offset)
}

// set assigns to a local.
func (f *function) set(l local, v expr) {
	v(f)
	f.body = unsigned(append(f.body, 0x21), l)
}

// advance adds n to a local i32.
func (f *function) advance(l local, n int32) { f.set(l, plus(get(l), number(n))) }

// when runs body if the condition is not 0.
func (f *function) when(condition expr, body func()) {
	condition(f)
	f.emit(0x04, 0x40)
	body()
	f.emit(0x0b)
}

// while repeats body as long as the condition is not 0.
func (f *function) while(condition expr, body func()) {
	f.when(condition, func() {
		f.emit(0x03, 0x40)
		body()
		condition(f)
		f.emit(0x0d, 0, 0x0b)
	})
}

// section appends a section with its length.
func section(to []byte, id byte, content []byte) []byte {
	return append(unsigned(append(to, id), len(content)), content...)
}

// text appends a string with its length.
func text(to []byte, s string) []byte { return append(unsigned(to, len(s)), s...) }

// begin returns the header of a module, and the section with the type of each function.
func (m *module) begin() []byte {
	types := unsigned(nil, len(m.functions))
	for _, f := range m.functions {
		types = unsigned(append(types, 0x60), f.parameters)
		for _, k := range f.locals[:f.parameters] {
			types = append(types, byte(k))
		}
		types = append(types, 0) // no result
	}
	return section([]byte("\x00asm\x01\x00\x00\x00"), 1, types)
}

// kinds returns the section that gives function i the type i.
func (m *module) kinds(to []byte) []byte {
	list := unsigned(nil, len(m.functions))
	for i := range m.functions {
		list = unsigned(list, i)
	}
	return section(to, 3, list)
}

// exports appends the names of all functions.
func (m *module) exports(to []byte) []byte {
	for i, f := range m.functions {
		to = unsigned(append(text(to, f.name), 0), i)
	}
	return to
}

// code returns the section with the given bodies. Each local has an entry of its own.
func (m *module) code(to []byte, body func(i int, f *function) (locals []kind, instructions []byte)) []byte {
	list := unsigned(nil, len(m.functions))
	for i, f := range m.functions {
		locals, instructions := body(i, f)
		text := unsigned(nil, len(locals))
		for _, k := range locals {
			text = append(text, 1, byte(k))
		}
		text = append(append(text, instructions...), 0x0b)
		list = append(unsigned(list, len(text)), text...)
	}
	return section(to, 10, list)
}

// binary returns the module, which imports its memory as go.memory.
func (m *module) binary() []byte {
	out := m.begin()
	out = section(out, 2, append(text(text([]byte{1}, "go"), "memory"), 2, 0, 0))
	out = m.kinds(out)
	out = section(out, 7, m.exports(unsigned(nil, len(m.functions))))
	return m.code(out, func(_ int, f *function) ([]kind, []byte) { return f.locals[f.parameters:], f.body })
}

// relay returns a module with the same functions. Function i calls element i of its table, which is exported too.
func (m *module) relay() []byte {
	out := m.kinds(m.begin())
	out = section(out, 4, unsigned([]byte{1, 0x70, 0}, len(m.functions)))
	exported := m.exports(unsigned(nil, len(m.functions)+1))
	out = section(out, 7, append(text(exported, "table"), 1, 0))
	return m.code(out, func(i int, f *function) (_ []kind, body []byte) {
		for l := range f.parameters {
			body = unsigned(append(body, 0x20), l)
		}
		body = signed(append(body, 0x41), int32(i))
		return nil, append(unsigned(append(body, 0x11), i), 0)
	})
}

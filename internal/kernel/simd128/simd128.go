// Package simd128 makes a WebAssembly module with the hot loops of package kernel, because Go's compiler uses no SIMD
// instructions of WebAssembly. Each loop gives the same bits as the portable one: it rounds every product, and adds in
// the same order.
//
// The module works on the memory of Go's program, which exists only after that program has its imports. So there are
// two modules: Go imports the functions of Relay, which call the functions of Module through a table that is filled
// when both exist (cmd/cgc/internal/web/page/worker.js).
package simd128

import "github.com/graph-condensation/cgc/internal/kernel"

// Addresses and counts are i32. Counts are of numbers, not of bytes.

// wide is the number of columns of a tile.
const wide = kernel.Columns128

// Module returns the module with the loops. It imports its memory as go.memory.
func Module() []byte { return loops().binary() }

// Relay returns the module that Go imports. It exports the same functions, and table, in which function i of its
// exports is element i.
func Relay() []byte { return loops().relay() }

func loops() *module {
	m := new(module)
	m.tile()
	m.gather()
	m.closest()
	m.copyPanel()
	m.dot()
	m.accumulate()
	m.elementwise()
	m.adam()
	return m
}

// bytes converts a count of float32 to bytes.
func bytes(n expr) expr { return times(n, number(4)) }

// tile is the micro-kernel of package kernel, on panels of 8 columns. It computes four rows at a time, in eight
// registers.
func (m *module) tile() {
	f, p := m.function("tile", i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)
	c, ldc, a, rs, cs, b, rows, columns, k, accumulate := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9]
	sums, left, right, x := f.vectors(8), f.local(v128), f.local(v128), f.local(v128)
	pb, end, at := f.local(i32), f.local(i32), f.local(i32)
	from := []local{f.local(i32), f.local(i32), f.local(i32), f.local(i32)}
	for _, stride := range []local{ldc, rs, cs} {
		f.set(stride, bytes(get(stride)))
	}
	f.set(end, plus(get(b), times(get(k), number(4*wide))))
	f.while(less(number(0), get(rows)), func() {
		for _, s := range sums {
			f.set(s, splat(single(0)))
		}
		for i, row := range from {
			f.set(row, get(a)) // a row that A does not have is the first one again
			f.when(less(number(int32(i)), get(rows)), func() { f.set(row, plus(get(a), times(get(rs), number(int32(i))))) })
		}
		f.set(pb, get(b))
		f.while(less(get(pb), get(end)), func() {
			f.set(left, loadFour(get(pb), 0))
			f.set(right, loadFour(get(pb), 16))
			for i, row := range from {
				f.set(x, loadSplat(get(row), 0))
				f.set(sums[2*i], vplus(get(sums[2*i]), vtimes(get(x), get(left))))
				f.set(sums[2*i+1], vplus(get(sums[2*i+1]), vtimes(get(x), get(right))))
				f.set(row, plus(get(row), get(cs)))
			}
			f.advance(pb, 4*wide)
		})
		for i := range 4 {
			f.when(less(number(int32(i)), get(rows)), func() {
				f.set(at, plus(get(c), times(get(ldc), number(int32(i)))))
				f.writeRow(at, sums[2*i], sums[2*i+1], columns, accumulate)
			})
		}
		f.set(c, plus(get(c), times(get(ldc), number(4))))
		f.set(a, plus(get(a), times(get(rs), number(4))))
		f.advance(rows, -4)
	})
}

// writeRow writes the first columns of a row of a tile, or adds them.
func (f *function) writeRow(at, left, right, columns, accumulate local) {
	f.when(isZero(minus(get(columns), number(wide))), func() {
		f.when(get(accumulate), func() {
			f.set(left, vplus(loadFour(get(at), 0), get(left)))
			f.set(right, vplus(loadFour(get(at), 16), get(right)))
		})
		f.store(get(at), 0, get(left))
		f.store(get(at), 16, get(right))
	})
	f.when(less(get(columns), number(wide)), func() {
		for j := range wide - 1 {
			f.when(less(number(int32(j)), get(columns)), func() {
				v := lane(get([]local{left, right}[j/4]), j%4)
				f.when(get(accumulate), func() { f.storeFloat(get(at), 4*j, fplus(loadFloat(get(at), 4*j), v)) })
				f.when(isZero(get(accumulate)), func() { f.storeFloat(get(at), 4*j, v) })
			})
		}
	})
}

// gather is Gather, GatherRows and GatherSum of package kernel. Address 0 stands for nil. It sums as many columns at a
// time as fit in registers.
func (m *module) gather() {
	f, p := m.function("gather",
		i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, f32, i32, i32, i32)
	dst, ldd, rows, first, count, position, indptr, indices := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
	weights, left, right, self, x, ldx, d := p[8], p[9], p[10], p[11], p[12], p[13], p[14]
	sums, factor, one := f.vectors(8), f.local(v128), f.local(f32)
	r, i, j, e, begin, end, column := f.local(i32), f.local(i32), f.local(i32), f.local(i32), f.local(i32), f.local(i32),
		f.local(i32)
	w, plain := f.local(f32), f.local(i32) // the entries before plain have no factors
	at := func(table, index local, size int32) expr { return plus(get(table), times(get(index), number(size))) }
	f.set(ldd, bytes(get(ldd)))
	f.set(ldx, bytes(get(ldx)))
	f.set(d, bytes(get(d)))
	// panel sums width columns, from column on. A single column needs no vector.
	panel := func(width int) {
		vectors := width / 4
		// add adds w times the row of node j.
		add := func() {
			f.when(get(right), func() { f.set(w, ftimes(get(w), loadFloat(at(right, j, 4), 0))) })
			f.when(get(position), func() { f.set(j, load(at(position, j, 4), 0)) })
			f.set(j, plus(plus(get(x), get(column)), times(get(j), get(ldx))))
			if vectors == 0 {
				f.set(one, fplus(get(one), ftimes(get(w), loadFloat(get(j), 0))))
				return
			}
			f.set(factor, splat(get(w)))
			for v := range vectors {
				f.set(sums[v], vplus(get(sums[v]), vtimes(get(factor), loadFour(get(j), 16*v))))
			}
		}
		f.while(atMost(plus(get(column), number(int32(4*width))), get(d)), func() {
			f.set(one, single(0))
			for v := range vectors {
				f.set(sums[v], splat(single(0)))
			}
			f.set(e, get(begin))
			// Sums of rows without factors need the fewest instructions, so that the processor waits for many rows at once.
			f.while(less(get(e), get(plain)), func() {
				f.set(j, plus(plus(get(x), get(column)), times(load(at(indices, e, 4), 0), get(ldx))))
				if vectors == 0 {
					f.set(one, fplus(get(one), loadFloat(get(j), 0)))
				}
				for v := range vectors {
					f.set(sums[v], vplus(get(sums[v]), loadFour(get(j), 16*v)))
				}
				f.advance(e, 1)
			})
			f.while(less(get(e), get(end)), func() {
				f.set(j, load(at(indices, e, 4), 0))
				f.set(w, single(1))
				f.when(get(weights), func() { f.set(w, loadFloat(at(weights, e, 4), 0)) })
				add()
				f.advance(e, 1)
			})
			f.when(differs(get(self), single(0)), func() {
				f.set(j, get(i))
				f.set(w, get(self))
				add()
			})
			f.when(get(left), func() {
				f.set(w, loadFloat(at(left, i, 4), 0))
				f.set(one, ftimes(get(one), get(w)))
				for v := range vectors {
					f.set(sums[v], vtimes(get(sums[v]), splat(get(w))))
				}
			})
			out := plus(get(dst), get(column))
			if vectors == 0 {
				f.storeFloat(out, 0, get(one))
			}
			for v := range vectors {
				f.store(out, 16*v, get(sums[v]))
			}
			f.advance(column, int32(4*width))
		})
	}
	f.set(r, number(0))
	f.while(less(get(r), get(count)), func() {
		f.set(i, plus(get(first), get(r)))
		f.when(get(rows), func() { f.set(i, load(at(rows, r, 4), 0)) })
		f.set(begin, narrow(loadLong(at(indptr, i, 8), 0)))
		f.set(end, narrow(loadLong(at(indptr, i, 8), 8)))
		f.set(plain, get(begin))
		f.when(isZero(or(or(get(weights), get(right)), get(position))), func() { f.set(plain, get(end)) })
		f.set(column, number(0))
		for _, width := range []int{32, 8, 4, 1} {
			panel(width)
		}
		f.set(dst, plus(get(dst), get(ldd)))
		f.advance(r, 1)
	})
}

// closest folds a tile of products into the running minima of m rows, which are 16 lanes apart.
func (m *module) closest() {
	f, p := m.function("closest", i32, i32, i32, i32, i32, i32)
	value, index, product, norms, rows, first := p[0], p[1], p[2], p[3], p[4], p[5]
	score, nearer := f.local(v128), f.local(v128)
	f.while(less(number(0), get(rows)), func() {
		for half := range wide / 4 {
			at := 16 * half
			f.set(score, vminus(loadFour(get(norms), at), vtimes(splat(single(2)), loadFour(get(product), at))))
			f.set(nearer, vless(get(score), loadFour(get(value), at)))
			f.store(get(value), at, choose(get(score), loadFour(get(value), at), get(nearer)))
			centres := addInts(splatInts(get(first)), vector(0x0c, byte(4*half), 0, 0, 0, byte(4*half+1), 0, 0, 0,
				byte(4*half+2), 0, 0, 0, byte(4*half+3), 0, 0, 0)())
			f.store(get(index), at, choose(centres, loadFour(get(index), at), get(nearer)))
		}
		f.advance(value, 64)
		f.advance(index, 64)
		f.advance(product, 4*wide)
		f.advance(rows, -1)
	})
}

// copyPanel copies rows of 8 values, lds apart, to dst without gaps.
func (m *module) copyPanel() {
	f, p := m.function("copyPanel", i32, i32, i32, i32)
	dst, src, lds, rows := p[0], p[1], p[2], p[3]
	f.set(lds, bytes(get(lds)))
	f.while(less(number(0), get(rows)), func() {
		for at := 0; at < 4*wide; at += 16 {
			f.store(get(dst), at, loadFour(get(src), at))
		}
		f.advance(dst, 4*wide)
		f.set(src, plus(get(src), get(lds)))
		f.advance(rows, -1)
	})
}

// dot writes the inner product of x and y: four sums, of which the first has the rest, too.
func (m *module) dot() {
	f, p := m.function("dot", i32, i32, i32, i32)
	out, x, y, n := p[0], p[1], p[2], p[3]
	sums, rest := f.local(v128), f.local(f32)
	f.while(less(number(3), get(n)), func() {
		f.set(sums, vplus(get(sums), vtimes(loadFour(get(x), 0), loadFour(get(y), 0))))
		f.advance(x, 16)
		f.advance(y, 16)
		f.advance(n, -4)
	})
	f.set(rest, lane(get(sums), 0))
	f.while(less(number(0), get(n)), func() {
		f.set(rest, fplus(get(rest), ftimes(loadFloat(get(x), 0), loadFloat(get(y), 0))))
		f.advance(x, 4)
		f.advance(y, 4)
		f.advance(n, -1)
	})
	f.storeFloat(get(out), 0, fplus(fplus(get(rest), lane(get(sums), 1)), fplus(lane(get(sums), 2), lane(get(sums), 3))))
}

// accumulate sets sum += w·x in float64, for an even number of elements.
func (m *module) accumulate() {
	f, p := m.function("accumulate", i32, f64, i32, i32)
	sum, w, x, n := p[0], p[1], p[2], p[3]
	f.while(less(number(1), get(n)), func() {
		f.store(get(sum), 0, wplus(loadFour(get(sum), 0), wtimes(splatWide(get(w)), widen(loadTwo(get(x), 0)))))
		f.advance(sum, 16)
		f.advance(x, 8)
		f.advance(n, -2)
	})
}

// elementwise adds the loops over vectors whose length is a multiple of four.
func (m *module) elementwise() {
	zero := splat(single(0))
	for _, loop := range []struct {
		name string
		do   func(alpha, x, y expr) expr
	}{
		{"axpy", func(alpha, x, y expr) expr { return vplus(y, vtimes(alpha, x)) }},
		{"add", func(_, x, y expr) expr { return vplus(x, y) }},
		{"mul", func(_, x, y expr) expr { return vtimes(x, y) }},
		{"scale", func(alpha, x, _ expr) expr { return vtimes(alpha, x) }},
		{"relu", func(_, x, _ expr) expr { return vand(x, vmore(x, zero)) }},
		{"reluGrad", func(_, x, g expr) expr { return vand(g, vmore(x, zero)) }},
	} {
		f, p := m.function(loop.name, i32, f32, i32, i32, i32)
		dst, alpha, x, y, n := p[0], p[1], p[2], p[3], p[4]
		factor := f.local(v128)
		f.set(factor, splat(get(alpha)))
		f.while(less(number(0), get(n)), func() {
			f.store(get(dst), 0, loop.do(get(factor), loadFour(get(x), 0), loadFour(get(y), 0)))
			for _, at := range []local{dst, x, y} {
				f.advance(at, 16)
			}
			f.advance(n, -4)
		})
	}
}

// adam is a step of Adam, for a multiple of four parameters.
func (m *module) adam() {
	f, p := m.function("adam", i32, i32, i32, i32, i32, f32, f32, f32, f32, f32, f32, f32, f32)
	w, g, first, second, n := p[0], p[1], p[2], p[3], p[4]
	var c [8]local // decay, b1, c1, b2, c2, rate, root, eps
	for i := range c {
		c[i] = f.local(v128)
		f.set(c[i], splat(get(p[5+i])))
	}
	x, h, mean, square := f.local(v128), f.local(v128), f.local(v128), f.local(v128)
	f.while(less(number(0), get(n)), func() {
		f.set(x, loadFour(get(w), 0))
		f.set(h, vplus(loadFour(get(g), 0), vtimes(get(c[0]), get(x))))
		f.set(mean, vplus(vtimes(get(c[1]), loadFour(get(first), 0)), vtimes(get(c[2]), get(h))))
		f.set(square, vplus(vtimes(get(c[3]), loadFour(get(second), 0)), vtimes(get(c[4]), vtimes(get(h), get(h)))))
		f.store(get(first), 0, get(mean))
		f.store(get(second), 0, get(square))
		f.store(get(w), 0, vminus(get(x), vover(vtimes(get(c[5]), get(mean)),
			vplus(vtimes(vroot(get(square)), get(c[6])), get(c[7])))))
		for _, at := range []local{w, g, first, second} {
			f.advance(at, 16)
		}
		f.advance(n, -4)
	})
}

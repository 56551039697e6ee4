package blocked

import (
	"sync"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// panel is a block of columns with its rows a stride apart. The rows are float32, or float16 in halves: then Data is
// nil. With half precision, a column is kept times its power of two (run.up). If the plan says halves, each row of S⁽⁰⁾
// has R behind it (kernel.PutFactored).
type panel struct {
	mat.Dense
	memory []float32
	halves []uint16
}

// reshapeSource is reshape for S⁽⁰⁾.
func (r *run) reshapeSource(p *panel, rows, stride int) {
	if !r.plan.halves {
		r.reshape(p, rows, stride)
		return
	}
	p.halves = room(p.halves, rows*kernel.FactoredStride(r.widest))
	p.Dense = mat.Dense{Rows: rows, Cols: kernel.FactoredStride(stride)}
}

// room returns s with all its capacity, or new memory if that is less than n.
func room[T uint16 | float32](s []T, n int) []T {
	if cap(s) < n {
		s = memory.Make[T](n)
	}
	return s[:cap(s)]
}

// reshape makes p rows×stride, in memory that holds any block: rows are at most r.widest numbers apart. Behind the last
// row there is room for a line of the cache: kernels that read whole lines of narrow rows read beyond the last one.
func (r *run) reshape(p *panel, rows, stride int) {
	n := rows*r.widest + unit
	if r.half {
		p.halves, p.Dense = room(p.halves, n), mat.Dense{Rows: rows, Cols: stride}
		return
	}
	p.memory = room(p.memory, n)
	p.Dense = mat.Dense{Rows: rows, Cols: stride, Data: p.memory[:rows*stride]}
}

// half returns row i of a panel of halves.
func (p *panel) half(i int) []uint16 { return p.halves[i*p.Cols:][:p.Cols] }

// prefetch asks the memory for row i.
func (p *panel) prefetch(i int) {
	if p.Data == nil {
		kernel.PrefetchHalves(p.half(i))
		return
	}
	kernel.Prefetch(p.Row(i))
}

// put sets row i of p, a block of S⁽⁰⁾, to scale·x: times the powers of two, or as the two factors.
func (r *run) put(p *panel, i int, scale float32, x []float32) {
	switch {
	case r.half:
		kernel.NarrowScaled(p.half(i)[:len(x)], scale, r.up, x)
	case r.plan.halves:
		kernel.PutFactored(p.half(i), scale, x)
	default:
		kernel.Scale(p.Row(i)[:len(x)], scale, x)
	}
}

// take sets dst to scale times row i of p, without the powers of two.
func (r *run) take(dst []float32, scale float32, p *panel, i int) {
	if r.half {
		kernel.WidenScaled(dst, scale, r.down, p.half(i)[:len(dst)])
		return
	}
	kernel.Scale(dst, scale, p.Row(i)[:len(dst)])
}

// tileFloats is about how many numbers a tile has: half of a second cache of 256 kB.
const tileFloats = 1 << 15

// tile is where some rows of a hop are made: the rows themselves, or float32 that are copied to them. Rows of float32
// in whole lines of the cache are made in place.
type tile struct {
	mat.Dense
	memory []float32
	line   []float32 // a row of S⁽⁰⁾, widened
	copied bool
}

// tiles is memory for tiles.
var tiles = sync.Pool{New: func() any { return new(tile) }}

// tileRows returns how many rows of a block are made at a time.
func (r *run) tileRows(stride int) int {
	if !r.half {
		return nodeChunk
	}
	return max(1, min(nodeChunk, tileFloats/wholeLines(stride)))
}

// wholeLines rounds columns up to whole lines of the cache of float32.
func wholeLines(columns int) int { return (columns + unit - 1) / unit * unit }

// tileBytes returns the bytes of a tile for blocks of some stride.
func (r *run) tileBytes(stride int) int64 {
	if !r.half {
		return 0
	}
	return 4 * int64(r.tileRows(stride)+1) * int64(wholeLines(stride))
}

// tile returns the tile for rows lo to hi−1 of to.
func (r *run) tile(to *panel, lo, hi int) *tile {
	t := tiles.Get().(*tile)
	stride := to.Cols
	if t.copied = r.half || stride%unit != 0; !t.copied {
		t.Dense = mat.Dense{Rows: hi - lo, Cols: stride, Data: to.Data[lo*stride : hi*stride]}
		return t
	}
	width := wholeLines(stride)
	if n := r.tileRows(stride) * width; cap(t.memory) < n {
		t.memory = memory.Make[float32](n)
	}
	t.Dense = mat.Dense{Rows: hi - lo, Cols: width, Data: t.memory[:(hi-lo)*width]}
	return t
}

// settle copies t to the rows of to from lo on, and gives it back.
func (t *tile) settle(to *panel, lo int) {
	switch {
	case !t.copied:
	case to.Data == nil && t.Cols == to.Cols:
		kernel.NarrowFloat16(to.halves[lo*to.Cols:][:len(t.Data)], t.Data)
	default:
		for i := range t.Rows {
			if to.Data == nil {
				kernel.NarrowFloat16(to.half(lo+i), t.Row(i)[:to.Cols])
			} else {
				copy(to.Row(lo+i), t.Row(i))
			}
		}
	}
	t.Dense = mat.Dense{}
	tiles.Put(t)
}

// scale multiplies d columns of t by factors, unless there are none.
func (t *tile) scale(factors []float32, d int) {
	if factors == nil {
		return
	}
	for i := range t.Rows {
		row := t.Row(i)[:d]
		kernel.Mul(row, row, factors)
	}
}

// addTo adds β times row i of p to row i−first of t.
func (r *run) addTo(t *tile, first int, p *panel, i, d int) {
	row := t.Row(i - first)[:d]
	if !r.half {
		kernel.Axpy(r.beta, p.Row(i)[:d], row)
		return
	}
	if cap(t.line) < d {
		t.line = make([]float32, d)
	}
	kernel.WidenFloat16(t.line[:d], p.half(i)[:d])
	kernel.Axpy(r.beta, t.line[:d], row)
}

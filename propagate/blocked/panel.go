package blocked

import (
	"sync"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// panel is a block of columns. Consecutive rows are Cols numbers apart. Values are float32, or float16 in halves with
// Data nil. In half precision, each column is multiplied by its power of two (run.up). If plan.halves is set, each row
// of S⁽⁰⁾ is followed by its R (kernel.PutFactored).
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
	p.halves = memory.Resized(p.halves, rows*kernel.FactoredStride(r.widest))
	p.Dense = mat.Dense{Rows: rows, Cols: kernel.FactoredStride(stride)}
}

// reshape makes p rows×stride, in memory that is large enough for any block: a stride is at most r.widest. After the
// last row there is room for a cache line, because kernels that read whole lines of narrow rows read beyond the last
// row.
func (r *run) reshape(p *panel, rows, stride int) {
	n := rows*r.widest + unit
	if r.half {
		p.halves, p.Dense = memory.Resized(p.halves, n), mat.Dense{Rows: rows, Cols: stride}
		return
	}
	p.memory = memory.Resized(p.memory, n)
	p.Dense = mat.Dense{Rows: rows, Cols: stride, Data: p.memory[:rows*stride]}
}

// half returns row i of a panel of halves.
func (p *panel) half(i int) []uint16 { return p.halves[i*p.Cols:][:p.Cols] }

// prefetch prefetches row i.
func (p *panel) prefetch(i int) {
	if p.Data == nil {
		kernel.PrefetchHalves(p.half(i))
		return
	}
	kernel.Prefetch(p.Row(i))
}

// put sets row i of p, a block of S⁽⁰⁾, to scale·x: multiplied by the powers of two, or as two separate factors.
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

// take sets dst to scale times row i of p, with the powers of two removed.
func (r *run) take(dst []float32, scale float32, p *panel, i int) {
	if r.half {
		kernel.WidenScaled(dst, scale, r.down, p.half(i)[:len(dst)])
		return
	}
	kernel.Scale(dst, scale, p.Row(i)[:len(dst)])
}

// tileFloats is the approximate number of values of a tile: half of a second-level cache of 256 kB.
const tileFloats = 1 << 15

// tile is memory in which some rows of a hop are computed: the rows themselves, or float32 values that are then copied
// to them. Float32 rows of whole cache lines are computed in place.
type tile struct {
	mat.Dense
	memory []float32
	line   []float32 // a row of S⁽⁰⁾, widened
	copied bool
}

var tiles = sync.Pool{New: func() any { return new(tile) }}

// tileRows returns the number of rows in a tile.
func (t *task) tileRows(stride int) int {
	if !t.half {
		return nodeChunk
	}
	return max(1, min(nodeChunk, tileFloats/wholeLines(stride)))
}

// wholeLines rounds a number of float32 columns up to whole cache lines.
func wholeLines(columns int) int { return (columns + unit - 1) / unit * unit }

// tileBytes returns the bytes of a tile for blocks of the given stride.
func (t *task) tileBytes(stride int) int64 {
	if !t.half {
		return 0
	}
	return 4 * int64(t.tileRows(stride)+1) * int64(wholeLines(stride))
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
	t.memory = memory.Resized(t.memory, r.tileRows(stride)*width)
	t.Dense = mat.Dense{Rows: hi - lo, Cols: width, Data: t.memory[:(hi-lo)*width]}
	return t
}

// settle copies t to the rows of to from lo on, if necessary, and returns t to the pool.
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

// scale multiplies d columns of t by factors, if these are not nil.
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
	t.line = memory.Resized(t.line, d)
	kernel.WidenFloat16(t.line, p.half(i)[:d])
	kernel.Axpy(r.beta, t.line, row)
}

package propagate

import (
	"iter"

	"github.com/graph-condensation/cgc/mat"
)

const (
	// unit is the number of float32 in a cache line; the rows of blocks are whole lines, so that no two share one.
	unit = 16
	// widest is the number of columns of a block of nodes with few edges, where copying to and from blocks takes most of the time; of nodes with many edges, from
	// that many on, a block has half as many columns, of which the cache holds more.
	widest = 64
	many   = 32
)

// plan returns the number of columns of a block, all of x's or a multiple of unit, and whether there is room for the entries of all rows.
func (r *run) plan(x mat.Matrix) (width int, store bool) {
	_, d := x.Dims()
	last := r.Hops - 1
	input, column := size(r.adj), 4*int64(r.within[last]) // column is what one of a block takes
	width = d
	switch x := x.(type) {
	case *mat.Dense:
		input += 4 * int64(len(x.Data))
		column += 4 * int64(r.within[r.Hops])
		if width = min(d, widest); r.read >= many*int64(r.within[last]) {
			width = min(d, widest/2)
		}
	case *mat.CSR:
		input += size(x)
		column += 8 * int64(len(x.Indices)/max(1, d))
	}
	if r.Memory == 0 {
		return width, true
	}
	_, sparse := x.(*mat.CSR)
	if r.Hops > 1 && (sparse || r.Method == PPR) { // else S⁽²⁾ takes the place of S⁽⁰⁾
		column += 4 * int64(r.within[r.Hops-2])
	}
	results := len(r.h)
	if sparse {
		results++ // rows of dense features are no copy
	}
	free := r.Memory - 4*int64(len(r.rows))*int64(d)*int64(results)
	if input <= r.Memory {
		free -= input
	}
	stored := 4*r.read + 12*int64(r.within[last]) // the nodes themselves are among the entries
	if r.adj.Data != nil {
		stored += 4*r.read + 4*int64(r.within[last])
	}
	if column*int64(width)+stored <= free {
		return width, true
	}
	if column*int64(width) <= free {
		return width, false
	}
	return max(unit, int(free/column)/unit*unit), false
}

// size returns the bytes that m takes.
func size(m *mat.CSR) int64 {
	return 8*int64(len(m.Indptr)) + 4*int64(len(m.Indices)+len(m.Data))
}

// blocks cuts d columns into blocks [lo, hi) of at most width columns, as few as can be and as even as whole units allow.
func blocks(d, width int) iter.Seq2[int, int] {
	return func(yield func(lo, hi int) bool) {
		units := (d + unit - 1) / unit
		count := (d + width - 1) / width
		for b := range count {
			if !yield(b*units/count*unit, min(d, (b+1)*units/count*unit)) {
				return
			}
		}
	}
}

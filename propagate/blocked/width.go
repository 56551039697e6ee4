package blocked

import (
	"iter"

	"github.com/graph-condensation/cgc/mat"
)

const (
	// unit is the number of float32 in a cache line. Rows of blocks are whole lines, so that no two rows share one.
	unit = 16
	// widest is the number of columns of a block where nodes have few edges: copying to and from blocks then takes most of
	// the time. From many edges a node on, a block has half as many columns, so that more of its rows fit in the cache.
	widest = 64
	many   = 32
)

// plan returns the number of columns of a block, all of x's or a multiple of unit, and whether the entries of all rows
// are stored. memory is Engine.Memory. Features of a type that is read take no memory that is known here.
func (r *run) plan(memory int64) (width int, store bool) {
	_, d := r.x.Dims()
	hops := len(r.h)
	last := hops - 1
	input := size(r.adj)
	width = d
	x, sparse := r.x.(*mat.CSR)
	if sparse {
		input += size(x)
	} else {
		if width = min(d, widest); r.read >= many*int64(r.within[last]) {
			width = min(d, widest/2)
		}
	}
	dense, inPlace := r.x.(*mat.Dense)
	if inPlace {
		input += 4 * int64(len(dense.Data))
	}
	if memory == 0 {
		return width, true
	}
	column := r.column()
	results := hops
	if !inPlace {
		results++ // only H⁽⁰⁾ of a *mat.Dense is no copy
	}
	free := memory - 4*int64(len(r.rows))*int64(d)*int64(results)
	if !r.mapped || input <= memory {
		free -= input
	}
	stored := r.stored()
	if column*int64(width)+stored <= free {
		return width, true
	}
	if column*int64(width) <= free {
		return width, false
	}
	return max(unit, int(free/column)/unit*unit), false
}

// column returns the bytes that one column of a block takes.
func (r *run) column() int64 {
	hops := len(r.h)
	bytes := 4 * int64(r.within[hops-1])
	x, sparse := r.x.(*mat.CSR)
	if sparse {
		_, d := x.Dims()
		bytes += 8 * int64(len(x.Indices)/max(1, d))
	} else {
		bytes += 4 * int64(r.within[hops])
	}
	if hops > 1 && (sparse || r.beta > 0) { // else S⁽²⁾ takes the place of S⁽⁰⁾
		bytes += 4 * int64(r.within[hops-2])
	}
	return bytes
}

// stored returns the bytes that the entries of all rows take. The nodes themselves are among the entries.
func (r *run) stored() int64 {
	last := int64(r.within[len(r.h)-1])
	if r.adj.Data != nil {
		return 8*r.read + 16*last
	}
	return 4*r.read + 12*last
}

// size returns the bytes that m takes.
func size(m *mat.CSR) int64 {
	return 8*int64(len(m.Indptr)) + 4*int64(len(m.Indices)+len(m.Data))
}

// blocks cuts d columns into blocks [lo, hi) of at most width columns, as few as can be and as even as whole units
// allow.
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

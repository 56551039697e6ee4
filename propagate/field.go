package propagate

import (
	"iter"

	"github.com/graph-condensation/cgc/mat"
)

// A field is the set of nodes at which one H⁽ˡ⁾ is computed: some ascending nodes, or all.
type field struct {
	nodes    []int32 // nil: all nodes
	position []int32 // the place in nodes of each of them, by node; nil for all nodes
}

// size returns the number of nodes of f in a graph of n.
func (f field) size(n int) int {
	if f.nodes == nil {
		return n
	}
	return len(f.nodes)
}

// row returns the row of node v in a matrix of the rows of f.
func (f field) row(v int32) int {
	if f.position == nil {
		return int(v)
	}
	return int(f.position[v])
}

// fields returns, for each l from 0 to hops−1, the nodes within hops−l hops of rows. Field 0 is all nodes: the features are at hand.
func fields(a *mat.CSR, rows []int32, hops int) []field {
	f := make([]field, hops)
	inside := make([]bool, a.Rows)
	last := rows
	for _, v := range rows {
		inside[v] = true
	}
	for l := hops - 1; l >= 1; l-- {
		for _, v := range last {
			for _, j := range a.Indices[a.Indptr[v]:a.Indptr[v+1]] {
				inside[j] = true
			}
		}
		if last = list(inside); len(last) == a.Rows {
			break // and so are those below
		}
		f[l].nodes, f[l].position = last, make([]int32, a.Rows)
		for r, v := range last {
			f[l].position[v] = int32(r)
		}
	}
	return f
}

// list returns the nodes that are inside, ascending.
func list(inside []bool) []int32 {
	count := 0
	for _, in := range inside {
		if in {
			count++
		}
	}
	nodes := make([]int32, 0, count)
	for v, in := range inside {
		if in {
			nodes = append(nodes, int32(v))
		}
	}
	return nodes
}

const (
	// unit is the number of float32 in a cache line; blocks are whole lines wide, so that no two rows share one.
	unit = 16
	// widest is the number of columns of a block that is cut for the cache. On 233,000 nodes with 602 features and 32 MB of cache, blocks of
	// 48 and 64 columns take half the time of whole rows, and two thirds of that of blocks of 16.
	widest = 64
	// cached is the size in bytes of a block of widest columns up to which it is worth cutting. Far beyond the cache, whole rows are as fast and need no
	// copy: 2.4 million nodes, 100 features.
	cached = 128 << 20
)

// width returns the number of columns of a block: all d, or a multiple of unit.
func (r *run) width(a *mat.CSR, x mat.Matrix) int {
	n := int64(a.Rows)
	_, d := x.Dims()
	input := 8*int64(len(a.Indptr)) + 4*int64(len(a.Indices)+len(a.Data))
	cut := 4 * n // bytes that one column of the features takes in a block cut from them
	w := d
	switch x := x.(type) {
	case *mat.Dense:
		input += 4 * int64(len(x.Data))
		first := r.rows // the rows of the first hop
		if r.Hops > 1 {
			first = r.fields[1].nodes
		}
		if 4*widest*n <= cached && (first == nil || edges(a, first) > n) { // else cutting costs more than the hop
			w = min(w, widest)
		}
	case *mat.CSR:
		input += 8*int64(len(x.Indptr)) + 4*int64(len(x.Indices)+len(x.Data))
		cut = 8 * int64(len(x.Indices)/max(1, d))
	}
	if r.Memory == 0 {
		return w
	}
	column := int64(0) // bytes that one column takes in H⁽¹⁾ … H⁽ᴷ⁻¹⁾, two of which are held at a time
	for l := 1; l < min(3, r.Hops); l++ {
		column += 4 * int64(r.fields[l].size(a.Rows))
	}
	free := r.Memory - 4*int64(len(r.rows))*int64(d)*int64(len(r.h))
	if input <= r.Memory {
		free -= input
	}
	if w == d && column*int64(d) <= free {
		return d
	}
	return max(unit, min(w, int(free/max(1, column+cut))/unit*unit))
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

// edges returns the number of entries in the given rows of a.
func edges(a *mat.CSR, rows []int32) (sum int64) {
	for _, v := range rows {
		sum += a.Indptr[v+1] - a.Indptr[v]
	}
	return sum
}

package blocked

import (
	"context"
	"math"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/reach"
	"github.com/graph-condensation/cgc/mat"
)

// A layout is the order of the nodes' features in memory. Nodes are sorted by the number of hops to the requested rows,
// so that the nodes at which an H⁽ˡ⁾ is computed come first. Nodes of the same distance are sorted by class: neighbours
// mostly have the same class, so the features that a row reads are often still in the cache from earlier rows. Sums
// follow the order of the adjacency in any layout, so the bits do not depend on the layout.
//
// All neighbours of a node within t hops are within t+1 hops if the adjacency is symmetric. The entries of a row below
// within[t] therefore lead to places below within[t+1], and never to a node without a place. The kernels rely on this,
// and fill checks it.
type layout struct {
	nodes  []int32 // the node at each of the first places, at least where an H⁽ˡ⁾ is computed
	place  []int32 // the place of each node; −1 if it has none
	read   int64   // number of adjacency entries that the first hop reads; no hop reads more
	second int64   // number of entries that the second hop reads
	within []int   // nodes at most t hops from the rows have the places below within[t]; t goes up to the number of hops

	distance []int32 // hops from each node to the rows, until order gives it a place
}

// find returns a layout without places: only the distances, and how many nodes are within each distance. The result is
// meaningless once ctx is done.
func find(ctx context.Context, a *mat.CSR, rows []int32, hops int) *layout {
	l := &layout{within: make([]int, hops+1)}
	l.distance, l.read, l.second = distances(ctx, a, rows, hops)
	for _, t := range l.distance {
		if t != reach.Unreached {
			l.within[t]++
		}
	}
	for t := range hops {
		l.within[t+1] += l.within[t]
	}
	return l
}

// order assigns places to the nodes, by distance, then by class, then by number, and drops the distances. The nodes at
// the first listed places are also stored in l.nodes. Without classes, nodes of the same distance are in the order of
// their numbers. The only error is ctx.Err().
func (l *layout) order(ctx context.Context, a *mat.CSR, rows, classes []int32, listed int) error {
	hops := len(l.within) - 1
	kinds, kind := 1, func(int) int { return 0 }
	if classes != nil && l.read > int64(a.Rows) {
		kinds, kind = likelyClasses(ctx, a, rows, classes)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	// A counting sort: start[k] is the first place of the nodes of distance k/kinds and kind k%kinds.
	start := make([]int, (hops+1)*kinds+1)
	for v, t := range l.distance {
		if t != reach.Unreached {
			start[int(t)*kinds+kind(v)+1]++
		}
	}
	for k := range start[1:] {
		start[k+1] += start[k]
	}
	l.place = l.distance // overwrites the distances, which are no longer needed
	l.distance = nil
	l.nodes = memory.Make[int32](listed)
	for v, t := range l.place {
		l.place[v] = -1
		if t != reach.Unreached {
			k := int(t)*kinds + kind(v)
			if start[k] < listed {
				l.nodes[start[k]] = int32(v)
			}
			l.place[v] = int32(start[k])
			start[k]++
		}
	}
	return ctx.Err()
}

// distances returns the number of hops from each node to the nearest of the rows, reach.Unreached if it is more than
// hops, and the numbers of entries of a that the first two hops read. If the first hop reads more entries than there
// are nodes, the search stops one hop early and treats all nodes as near: finding the far ones would cost more than
// computing them.
func distances(ctx context.Context, a *mat.CSR, rows []int32, hops int) (distance []int32, read, second int64) {
	set := reach.New(a, rows)
	for range hops - 1 {
		if ctx.Err() != nil {
			return set.Distance, 0, 0 // the caller checks ctx
		}
		second = set.Entries()
		set.Grow()
	}
	if read = set.Entries(); read <= int64(a.Rows) {
		set.Grow()
		return set.Distance, read, second
	}
	for v, t := range set.Distance {
		if t == reach.Unreached {
			set.Distance[v] = int32(hops)
		}
	}
	return set.Distance, read, second
}

// nodeChunk is the number of nodes that one task works on.
const nodeChunk = 256

// likelyClasses returns the kind of each node, which is used for sorting, and the number of kinds. The kind is 1 + a
// likely class, or 0 if there is none. A row has its own class. Any other node has the class that Boyer and Moore's
// vote finds among its neighbours that are rows: the majority class, if there is one. The kinds are meaningless once
// ctx is done.
func likelyClasses(ctx context.Context, a *mat.CSR, rows, classes []int32) (kinds int, kind func(v int) int) {
	for _, c := range classes {
		kinds = max(kinds, int(c)+2)
	}
	if kinds <= math.MaxUint8+1 { // the table is read at random, and more of a small one stays in the cache
		likely := vote(ctx, memory.Make[uint8](a.Rows), memory.Make[uint8](a.Rows), a, rows, classes)
		return kinds, func(v int) int { return int(likely[v]) }
	}
	likely := vote(ctx, memory.Make[int32](a.Rows), memory.Make[int32](a.Rows), a, rows, classes)
	return kinds, func(v int) int { return int(likely[v]) }
}

// vote sets likely to the kind of each node (see likelyClasses), and returns it. known and likely must be zero.
func vote[T uint8 | int32](ctx context.Context, known, likely []T, a *mat.CSR, rows, classes []int32) []T {
	for i, v := range rows {
		known[v] = T(classes[i] + 1)
	}
	_ = parallel.ForContext(ctx, a.Rows, nodeChunk, func(lo, hi int) { // the caller checks ctx
		for v := lo; v < hi; v++ {
			candidate := known[v]
			if candidate == 0 {
				votes := 0
				for _, j := range a.Indices[a.Indptr[v]:a.Indptr[v+1]] {
					switch c := known[j]; {
					case c == 0:
					case votes == 0:
						candidate, votes = c, 1
					case c == candidate:
						votes++
					default:
						votes--
					}
				}
			}
			likely[v] = candidate
		}
	})
	return likely
}

// entries contains the rows of A + I for consecutive places, with places as indices. The entries of a row have the same
// order as in A. The node itself comes last.
type entries struct {
	first   int     // the place of row 0
	indptr  []int64 // row r has the entries indptr[r] to indptr[r+1]−1
	indices []int32
	data    []float32 // edge weights; undefined for graphs without weights
}

// end returns the place after the last row.
func (e *entries) end() int { return e.first + len(e.indptr) - 1 }

// pointers sets e's pointers for the rows of places lo to hi−1, and makes room for the entries.
func (l *layout) pointers(e *entries, a *mat.CSR, lo, hi int) {
	e.first, e.indptr = lo, memory.Resized(e.indptr, hi-lo+1)
	parallel.For(hi-lo, nodeChunk, func(first, end int) {
		for r := first; r < end; r++ {
			v := l.nodes[lo+r]
			e.indptr[r+1] = a.Indptr[v+1] - a.Indptr[v] + 1
		}
	})
	for r := range hi - lo {
		e.indptr[r+1] += e.indptr[r]
	}
	e.indices = memory.Resized(e.indices, int(e.indptr[hi-lo]))
	if a.Data != nil {
		e.data = memory.Resized(e.data, len(e.indices))
	}
}

// scratch allocates n entries in temporary files.
func (e *entries) scratch(n int, weighted bool) (err error) {
	if e.indices, err = memory.Scratch[int32](n); err != nil {
		return err
	}
	memory.InOrder(e.indices)
	if weighted {
		e.data, err = memory.Scratch[float32](n)
		memory.InOrder(e.data)
	}
	return err
}

// fill writes the row of e at place p for node v. It reports whether all neighbours are at most one hop farther than v.
// If not, the row must not be used.
func (l *layout) fill(e *entries, p int, a *mat.CSR, v int32) (ok bool) {
	r, from, to := p-e.first, a.Indptr[v], a.Indptr[v+1]
	indices, place := e.indices[e.indptr[r]:e.indptr[r+1]], l.place
	farthest := uint32(0) // −1, no place, is the largest uint32
	for k, j := range a.Indices[from:to] {
		p := place[j]
		indices[k] = p
		farthest = max(farthest, uint32(p))
	}
	own := place[v]
	indices[to-from] = own
	if a.Data != nil {
		data := e.data[e.indptr[r]:e.indptr[r+1]]
		data[copy(data, a.Data[from:to])] = 1
	}
	t := 0
	for int(own) >= l.within[t] {
		t++
	}
	return int64(farthest) < int64(l.within[min(t+1, len(l.within)-1)])
}

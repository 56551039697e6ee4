package blocked

import (
	"sync/atomic"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// A layout is the order in which the features of nodes stand in memory: by the number of hops to the rows that are asked for, so that the nodes
// at which an H⁽ˡ⁾ is computed come first, and among as many hops by class, since neighbours mostly share it: what a row reads
// has then been read for the rows before it, and is still in the cache. Sums run in the order of the adjacency in any layout, so no bit depends on it.
type layout struct {
	nodes  []int32 // the node at each place; a node that is not read has no place
	place  []int32 // the place of each node; −1 if it has none
	read   int64   // entries of the adjacency that the first hop reads, the largest number for any hop
	within []int   // nodes at most t hops from the rows have the places below within[t], for t from 0 to the number of hops
}

// arrange returns the layout for a number of hops, at least 1, to the given rows, of whom classes, unless they are nil, are the classes.
func arrange(a *mat.CSR, rows, classes []int32, hops int) *layout {
	distance, read := distances(a, rows, hops)
	kinds, kind := int32(1), func(int) int32 { return 0 }
	if classes != nil && read > int64(a.Rows) {
		likely := likelyClasses(a, rows, classes)
		for _, c := range likely {
			kinds = max(kinds, c+2)
		}
		kind = func(v int) int32 { return likely[v] + 1 }
	}
	// A counting sort: start[k] is the first place of the nodes of distance k/kinds and kind k%kinds.
	start := make([]int, (hops+1)*int(kinds)+1)
	for v, t := range distance {
		if t <= int32(hops) {
			start[t*kinds+kind(v)+1]++
		}
	}
	for k := range start[1:] {
		start[k+1] += start[k]
	}
	l := &layout{place: memory.Make[int32](a.Rows), read: read}
	for t := range hops + 1 {
		l.within = append(l.within, start[(t+1)*int(kinds)])
	}
	l.nodes = make([]int32, l.within[hops])
	for v, t := range distance {
		l.place[v] = -1
		if t <= int32(hops) {
			k := t*kinds + kind(v)
			l.nodes[start[k]], l.place[v] = int32(v), int32(start[k])
			start[k]++
		}
	}
	return l
}

// distances returns the number of hops from each node to the nearest of the rows, hops+1 where it is more than hops; and the number of entries
// of a that the first hop reads. Where these are more than there are nodes, looking for nodes beyond hops costs more than they do, and they count as near.
func distances(a *mat.CSR, rows []int32, hops int) (distance []int32, read int64) {
	far := int32(hops) + 1
	distance = make([]int32, a.Rows)
	for v := range distance {
		distance[v] = far
	}
	for _, v := range rows {
		distance[v] = 0
	}
	front := at(distance, 0)
	for t := int32(1); t <= int32(hops); t++ {
		for _, v := range front {
			read += a.Indptr[v+1] - a.Indptr[v]
		}
		many := read > int64(a.Rows)
		switch {
		case many && t == int32(hops):
			for v, s := range distance {
				distance[v] = min(s, t)
			}
		case many:
			pull(a, distance, t, far)
			front = at(distance, t)
		default:
			front = push(a, distance, t, far, front)
		}
	}
	return distance, read
}

// push sets the distance of the nodes that are far, but next to front, to t, and returns them.
func push(a *mat.CSR, distance []int32, t, far int32, front []int32) (next []int32) {
	for _, v := range front {
		for _, j := range a.Indices[a.Indptr[v]:a.Indptr[v+1]] {
			if distance[j] == far {
				distance[j] = t
				next = append(next, j)
			}
		}
	}
	return next
}

// pull is push from all nodes at distance t−1: a is symmetric, so each node can look for itself, and those that have many near neighbours soon find one.
func pull(a *mat.CSR, distance []int32, t, far int32) {
	parallel.For(a.Rows, nodeChunk, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			if distance[v] != far { // only this task writes it
				continue
			}
			for _, j := range a.Indices[a.Indptr[v]:a.Indptr[v+1]] {
				if atomic.LoadInt32(&distance[j]) == t-1 {
					atomic.StoreInt32(&distance[v], t)
					break
				}
			}
		}
	})
}

// at returns the nodes at distance t.
func at(distance []int32, t int32) (nodes []int32) {
	for v, s := range distance {
		if s == t {
			nodes = append(nodes, int32(v))
		}
	}
	return nodes
}

// nodeChunk is the number of nodes that one task works on.
const nodeChunk = 256

// likelyClasses returns a class for each node to sort by: for the rows their own, for another node the candidate of Boyer and Moore's vote among
// the rows that are its neighbours, which is the majority where there is one; −1 where there are none.
func likelyClasses(a *mat.CSR, rows, classes []int32) []int32 {
	known, likely := memory.Make[int32](a.Rows), memory.Make[int32](a.Rows)
	for v := range known {
		known[v] = -1
	}
	for i, v := range rows {
		known[v] = classes[i]
	}
	parallel.For(a.Rows, nodeChunk, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			candidate := known[v]
			if candidate < 0 {
				votes := 0
				for _, j := range a.Indices[a.Indptr[v]:a.Indptr[v+1]] {
					switch c := known[j]; {
					case c < 0:
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

// entries are the rows of A + I from one place on, with places as indices. Those of a row keep the order that they have in A; the node itself comes last.
type entries struct {
	indptr  []int64 // row r, counted from the first place on, has the entries indptr[r] to indptr[r+1]
	indices []int32
	data    []float32 // of a graph with weights; for another what it holds has no meaning
}

// pointers sets e's pointers for the rows of the places from lo on below hi, and makes room for the entries.
func (l *layout) pointers(e *entries, a *mat.CSR, lo, hi int) {
	if n := hi - lo + 1; cap(e.indptr) < n {
		e.indptr = make([]int64, n)
	} else {
		e.indptr = e.indptr[:n]
	}
	parallel.For(hi-lo, nodeChunk, func(first, end int) {
		for r := first; r < end; r++ {
			v := l.nodes[lo+r]
			e.indptr[r+1] = a.Indptr[v+1] - a.Indptr[v] + 1
		}
	})
	for r := range hi - lo {
		e.indptr[r+1] += e.indptr[r]
	}
	n := int(e.indptr[hi-lo])
	if cap(e.indices) < n {
		e.indices = memory.Make[int32](n)
	}
	e.indices = e.indices[:n]
	if a.Data == nil {
		return
	}
	if cap(e.data) < n {
		e.data = memory.Make[float32](n)
	}
	e.data = e.data[:n]
}

// fill writes row r of e, that of node v.
func (l *layout) fill(e *entries, r int, a *mat.CSR, v int32) {
	from, to := a.Indptr[v], a.Indptr[v+1]
	indices, place := e.indices[e.indptr[r]:e.indptr[r+1]], l.place
	for k, j := range a.Indices[from:to] {
		indices[k] = place[j]
	}
	indices[to-from] = l.place[v]
	if a.Data != nil {
		data := e.data[e.indptr[r]:e.indptr[r+1]]
		data[copy(data, a.Data[from:to])] = 1
	}
}

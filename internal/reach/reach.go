// Package reach finds what a graph connects: the nodes within some hops of given ones, and the connected components.
package reach

import (
	"slices"
	"sync/atomic"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Unreached is the distance of a node that a Set has not reached.
const Unreached = -1

// Set is the set of nodes within some hops of given nodes. It grows hop by hop.
type Set struct {
	// Distance is the number of hops from each node to the nearest given node, or Unreached.
	Distance []int32
	// Hops is the number of hops so far.
	Hops int32

	adj     *mat.CSR
	front   []int32 // the nodes at distance Hops, ascending: the adjacency may be mapped, and is then read in order
	entries int64   // adjacency entries of the nodes within Hops hops
	counted bool    // front and entries are up to date
	mutual  bool    // adj is symmetric
}

// New returns the nodes at distance 0: the given ones, repeats allowed. a is valid, as in graph.Graph.Adj.
func New(a *mat.CSR, from []int32) *Set {
	r := &Set{Distance: memory.Filled[int32](a.Rows, Unreached), adj: a, mutual: !a.LowerTriangular()}
	for _, v := range from {
		r.Distance[v] = 0
	}
	return r
}

// Entries returns the number of adjacency entries of the nodes within Hops hops. A propagation of Hops+1 hops reads
// that many entries in its first hop.
func (r *Set) Entries() int64 {
	if r.counted {
		return r.entries
	}
	r.front, r.counted = nil, true
	for v, t := range r.Distance {
		if t == r.Hops {
			r.front = append(r.front, int32(v))
			r.entries += r.adj.Indptr[v+1] - r.adj.Indptr[v]
		}
	}
	return r.entries
}

// Grow reaches one hop further. It reads the adjacency entries of the outermost nodes. If Entries exceeds the number of
// nodes and the graph is undirected, each unreached node looks for a reached neighbour instead, in parallel: it usually
// finds one soon.
func (r *Set) Grow() {
	many := r.Entries() > int64(r.adj.Rows) && r.mutual
	r.Hops++
	r.counted = false
	if many {
		r.pull()
	} else {
		r.push()
	}
}

// Count returns the number of nodes within Hops hops.
func (r *Set) Count() int {
	return int(parallel.Sum(len(r.Distance), 1<<16, func(lo, hi int) (count float64) {
		for _, t := range r.Distance[lo:hi] {
			if t != Unreached {
				count++
			}
		}
		return count
	}))
}

// push reaches the neighbours of the outermost nodes.
func (r *Set) push() {
	for _, v := range r.front {
		for _, j := range r.adj.Indices[r.adj.Indptr[v]:r.adj.Indptr[v+1]] {
			if r.Distance[j] == Unreached {
				r.Distance[j] = r.Hops
			}
		}
	}
}

// pull has the same result as push if the adjacency is symmetric: each node can then look for a reached neighbour.
func (r *Set) pull() {
	distance, last := r.Distance, r.Hops-1
	parallel.For(r.adj.Rows, 256, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			if distance[v] != Unreached { // only this task writes it
				continue
			}
			for _, j := range r.adj.Indices[r.adj.Indptr[v]:r.adj.Indptr[v+1]] {
				if atomic.LoadInt32(&distance[j]) == last {
					atomic.StoreInt32(&distance[v], r.Hops)
					break
				}
			}
		}
	})
}

// Components returns the connected components of a symmetric adjacency: the nodes of each, ascending. Components are
// ordered by their smallest node. It reads each entry once.
func Components(a *mat.CSR) (parts [][]int32) {
	seen := memory.Make[bool](a.Rows)
	for v := range a.Rows {
		if seen[v] {
			continue
		}
		seen[v] = true
		nodes := []int32{int32(v)}
		for at := 0; at < len(nodes); at++ {
			for _, j := range a.Indices[a.Indptr[nodes[at]]:a.Indptr[nodes[at]+1]] {
				if !seen[j] {
					seen[j] = true
					nodes = append(nodes, j)
				}
			}
		}
		slices.Sort(nodes)
		parts = append(parts, nodes)
	}
	return parts
}

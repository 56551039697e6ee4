package graph

import (
	"sync/atomic"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Unreached is the distance of a node that a Reach has not reached.
const Unreached = -1

// Reach is the nodes within some hops of given nodes. It grows by one hop at a time.
type Reach struct {
	// Distance is the number of hops from each node to the nearest given node, or Unreached.
	Distance []int32
	// Hops is how often the Reach has grown.
	Hops int32

	adj      *mat.CSR
	front    []int32 // the nodes at distance Hops, ascending: the adjacency may be mapped, and is then read in order
	unlisted bool    // front is not made yet
	entries  int64   // of the nodes nearer than front
	counted  bool    // entries has those of front too
}

// NewReach returns the nodes at distance 0: the given ones, repeats allowed. a is valid, as in Graph.Adj.
func NewReach(a *mat.CSR, from []int32) *Reach {
	r := &Reach{Distance: memory.Filled[int32](a.Rows, Unreached), adj: a}
	for _, v := range from {
		r.Distance[v] = 0
	}
	r.front = r.at(0)
	return r
}

// Entries returns how many entries of the adjacency the nodes within Hops have. To propagate to the given nodes by one
// hop more than Hops, the first hop reads so many entries.
func (r *Reach) Entries() int64 {
	if !r.counted {
		for _, v := range r.outermost() {
			r.entries += r.adj.Indptr[v+1] - r.adj.Indptr[v]
		}
		r.counted = true
	}
	return r.entries
}

// Grow reaches one hop further. The cost is that of the entries of the outermost nodes. If the nodes have more entries
// than there are nodes, the nodes that are not reached look for a neighbour instead, in parallel: they soon find one.
func (r *Reach) Grow() {
	many := r.Entries() > int64(r.adj.Rows)
	r.Hops++
	r.counted = false
	if many {
		r.pull()
	} else {
		r.push()
	}
}

// push reaches the neighbours of the outermost nodes.
func (r *Reach) push() {
	for _, v := range r.front {
		for _, j := range r.adj.Indices[r.adj.Indptr[v]:r.adj.Indptr[v+1]] {
			if r.Distance[j] == Unreached {
				r.Distance[j] = r.Hops
			}
		}
	}
	r.front, r.unlisted = nil, true
}

// pull does what push does. The adjacency is symmetric, so each node can look for itself.
func (r *Reach) pull() {
	distance, last := r.Distance, r.Hops-1
	parallel.For(r.adj.Rows, nodeChunk, func(lo, hi int) {
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
	r.front, r.unlisted = nil, true
}

// outermost returns the nodes at distance Hops.
func (r *Reach) outermost() []int32 {
	if r.unlisted {
		r.front, r.unlisted = r.at(r.Hops), false
	}
	return r.front
}

// at returns the nodes at distance t, ascending.
func (r *Reach) at(t int32) (nodes []int32) {
	for v, s := range r.Distance {
		if s == t {
			nodes = append(nodes, int32(v))
		}
	}
	return nodes
}

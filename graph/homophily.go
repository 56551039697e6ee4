package graph

import (
	"slices"
	"sync/atomic"

	"github.com/graph-condensation/cgc/internal/parallel"
)

// Mixing is the homophily beyond chance, as a share of the largest possible value, below which propagation mixes the
// classes.
const Mixing = 0.2

// Homophily returns the share of edges that join nodes of the same class, among the edges from a labelled node in nodes
// to a labelled node in known. edges is the number of these edges; an edge counts twice if nodes and known contain both
// of its ends. chance is the expected share if such edges joined nodes at random, Σ_c (D_c/ΣD)², where D_c counts the
// edges from nodes of class c. Both shares are 0 without such edges. known is in ascending order, and nil means all
// nodes. Labels of nodes outside nodes and known are not read.
func (g *Graph) Homophily(nodes, known []int32) (edges int64, share, chance float64) {
	const chunk = 1 << 12
	var same atomic.Int64
	ends := make([]atomic.Int64, g.Classes)
	parallel.For(len(nodes), chunk, func(lo, hi int) {
		equal := 0
		for _, i := range nodes[lo:hi] {
			y := g.Y[i]
			if y == Unlabelled {
				continue
			}
			labelled := 0
			for _, j := range g.Adj.Indices[g.Adj.Indptr[i]:g.Adj.Indptr[i+1]] {
				if known != nil {
					if _, is := slices.BinarySearch(known, j); !is {
						continue
					}
				}
				if z := g.Y[j]; z == y {
					equal++
					labelled++
				} else if z != Unlabelled {
					labelled++
				}
			}
			ends[y].Add(int64(labelled))
		}
		same.Add(int64(equal))
	})
	for c := range ends {
		edges += ends[c].Load()
	}
	all := float64(max(1, edges))
	for c := range ends {
		part := float64(ends[c].Load()) / all
		chance += part * part
	}
	return edges, float64(same.Load()) / all, chance
}

package reach

import (
	"slices"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

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

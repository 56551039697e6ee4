package paper

import "github.com/graph-condensation/cgc/graph"

// SizesOn returns the numbers of condensed nodes of a graph at all ratios.
func SizesOn(name string, g *graph.Graph) (nodes []int) {
	for _, s := range sizes(name, g, true) {
		nodes = append(nodes, s.nodes)
	}
	return nodes
}

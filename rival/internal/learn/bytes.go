package learn

import (
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/rival"
)

// EmbeddingBytes returns the memory that Embeddings needs for the given number of nodes: K+1 matrices, and copies of
// them divided by Unit.
func EmbeddingBytes(nodes, features, hops int) float64 {
	return 8 * float64(hops+1) * float64(nodes) * float64(features)
}

// Reached returns the number of nodes that Near returns for the training nodes of each class, and for all training
// nodes.
func Reached(g *graph.Graph) (each []int, all int) {
	for _, own := range rival.ByClass(g) {
		near, _ := Near(g.Adj, own)
		each = append(each, len(near))
	}
	near, _ := Near(g.Adj, g.Split.Train)
	return each, len(near)
}

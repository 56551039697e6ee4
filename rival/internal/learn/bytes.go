package learn

import (
	"fmt"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/digits"
	"github.com/graph-condensation/cgc/internal/reach"
)

// EmbeddingBytes returns the memory that Embeddings needs for the given number of nodes: K+1 matrices, and copies of
// them divided by Unit.
func EmbeddingBytes(nodes, features, hops int) float64 {
	return 8 * float64(hops+1) * float64(nodes) * float64(features)
}

// Reached returns the number of nodes that Near returns for the training nodes of each class, and for all training
// nodes.
func Reached(g *graph.Graph) (each []int, all int) {
	train := make([][]int32, g.Classes)
	for _, v := range g.Split.Train {
		train[g.Y[v]] = append(train[g.Y[v]], v)
	}
	near := make([]bool, g.Nodes())
	for _, own := range train {
		count := 0
		if len(own) > 0 {
			set := reach.New(g.Adj, own)
			set.Grow()
			for v, distance := range set.Distance {
				if distance != reach.Unreached {
					near[v] = true
					count++
				}
			}
		}
		each = append(each, count)
	}
	for _, is := range near {
		if is {
			all++
		}
	}
	return each, all
}

// Training describes the work of a method for memory errors: "gcond on 90,941 training nodes with 200 features".
func Training(method string, g *graph.Graph) string {
	return fmt.Sprintf("%s on %s training nodes with %s features", method, digits.Group(len(g.Split.Train)),
		digits.Group(g.Features()))
}

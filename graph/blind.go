package graph

import (
	"context"
	"slices"
)

// WithoutTest returns g without its test split and without the labels of the test nodes: what a hyperparameter search
// may see. It shares features and edges with g. g must be valid.
func (g *Graph) WithoutTest() *Graph {
	blind := *g
	blind.Y = slices.Clone(g.Y)
	for _, i := range g.Split.Test {
		blind.Y[i] = Unlabelled
	}
	blind.Split.Test = nil
	_ = blind.Seal(context.Background()) // validates once for all users; there is no error, since g is valid
	return &blind
}

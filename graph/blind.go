package graph

import "slices"

// WithoutTest returns g without its test nodes as a split, and without their labels: what a search may see. Features
// and edges are those of g, in the same memory. g must be valid.
func (g *Graph) WithoutTest() *Graph {
	blind := *g
	blind.Y = slices.Clone(g.Y)
	for _, i := range g.Split.Test {
		blind.Y[i] = Unlabelled
	}
	blind.Split.Test = nil
	_ = blind.Seal() // checked once and not for each user; there is no error, since g is valid
	return &blind
}

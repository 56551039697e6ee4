package cgc

import (
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/graph"
)

// Reason explains the value of a parameter.
type Reason struct {
	// Name is the parameter, as in the JSON of Config.
	Name string
	// Text is a sentence with the value and the reason.
	Text string
}

// perClass is the number of condensed nodes for each class at the paper's middle ratios on Cora, Citeseer and
// ogbn-arxiv.
const perClass = 10

// DefaultsFor returns Defaults with a size that suits g, and the reason for it. The other parameters do not depend
// on g: docs/notes/2026-11-defaults.md has the measurements. Labels of validation and test nodes are not read.
//
// With c classes and n training nodes, Nodes is max(c, min(10·c, n/2)). More than n/2 nodes would hardly condense the
// graph. Only classes with training nodes count.
func DefaultsFor(g *graph.Graph) (Config, []Reason) {
	config := Defaults()
	train := len(g.Split.Train)
	classes, half := len(slices.DeleteFunc(g.Counts(g.Split.Train), func(n int) bool { return n == 0 })), train/2
	var text string
	switch config.Nodes = perClass * classes; {
	case half >= config.Nodes:
		text = fmt.Sprintf("%d condensed nodes, %d for each of %d classes", config.Nodes, perClass, classes)
	case half > classes:
		config.Nodes = half
		text = fmt.Sprintf("%d condensed nodes, half of the %d training nodes", half, train)
	default:
		config.Nodes = classes
		text = fmt.Sprintf("%d condensed nodes, one for each class", classes)
	}
	return config, []Reason{{"nodes", text}}
}

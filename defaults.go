package cgc

import (
	"fmt"

	"github.com/graph-condensation/cgc/graph"
)

// Reason says why a parameter is chosen as it is.
type Reason struct {
	// Name is the parameter, as in the JSON of Config.
	Name string
	// Text is a sentence with the value and the reason.
	Text string
}

// perClass is what the paper's middle ratios come to on Cora, Citeseer and ogbn-arxiv.
const perClass = 10

// DefaultsFor returns Defaults with what depends on g filled in, and the reason of each such choice. Labels of validation and test nodes are not read. What was measured in favour of
// and against other rules is in docs/design/defaults.md: of the parameters, only the size follows the graph.
//
// Nodes is ten for each class with training nodes; half of the training nodes if that is less, since there is little left to condense above; but at least one for each class.
func DefaultsFor(g *graph.Graph) (Config, []Reason) {
	config := Defaults()
	train, classes := len(g.Split.Train), 0
	for _, n := range g.Counts(g.Split.Train) {
		if n > 0 {
			classes++
		}
	}
	half := train / 2
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

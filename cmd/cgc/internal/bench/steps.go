package bench

import (
	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Steps returns the steps of the condensation of small from g, with their work and their shares of c. g is the graph as
// the condensation saw it (condense.Setting.View). It returns an error if small was not condensed by package cgc.
func Steps(g *graph.Graph, small *cgc.Condensed, c Ceilings) ([]Step, error) {
	config, err := cgc.ConfigOf(small)
	if err != nil {
		return nil, err
	}
	if small.Adj == nil { // condense.Load returns nil for a graph without edges
		bare := *small
		bare.Adj = &mat.CSR{Rows: small.Nodes(), Cols: small.Nodes(), Indptr: make([]int64, small.Nodes()+1)}
		small = &bare
	}
	steps, err := timed(g, small, config, small.Seconds)
	for i := range steps {
		steps[i].Share = c.share(steps[i])
	}
	return steps, err
}

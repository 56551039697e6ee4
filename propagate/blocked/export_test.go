package blocked

import (
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// Plan returns the number of columns of the blocks that Embeddings works in, and whether it stores the rows of the
// adjacency in the order of places.
func (e Engine) Plan(p propagate.Propagation, in propagate.Input) (width int, store bool) {
	operator, beta := p.Step(in.Adj)
	in.Classes = nil
	return newRun(operator, beta, in, make([]*mat.Dense, p.Hops)).plan(e.Memory)
}

// Layout returns the nodes in the order of their places, and how many are within each number of hops.
func Layout(a *mat.CSR, rows, classes []int32, hops int) (nodes []int32, within []int) {
	l := arrange(a, rows, classes, hops)
	return l.nodes, l.within
}

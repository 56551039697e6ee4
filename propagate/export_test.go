package propagate

import "github.com/graph-condensation/cgc/mat"

// Plan returns the number of columns of the blocks that Embeddings works in, and whether it stores the rows of the adjacency in the order of places.
func (p Propagation) Plan(a *mat.CSR, x mat.Matrix, rows []int32) (width int, store bool) {
	operator, err := p.operator(a)
	if err != nil {
		panic(err)
	}
	return newRun(p, operator, rows, nil, make([]*mat.Dense, p.Hops)).plan(x)
}

// Layout returns the nodes in the order of their places, and how many are within each number of hops.
func Layout(a *mat.CSR, rows, classes []int32, hops int) (nodes []int32, within []int) {
	l := arrange(a, rows, classes, hops)
	return l.nodes, l.within
}

package blocked

import (
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// Footprint is the memory that Engine.Embeddings takes, in bytes, beside its input.
type Footprint struct {
	// Results is what it returns, Blocks the columns that are propagated at a time, Entries the entries of the adjacency
	// in their new order, and Layout that order.
	Results, Blocks, Entries, Layout int64
	// Input is what it reads: the adjacency, and the features of the nodes within K hops of the rows.
	Input int64
	// Columns is the number of columns of a block, Passes the number of blocks.
	Columns, Passes int
}

// Sum is the memory without the input.
func (f Footprint) Sum() int64 { return f.Results + f.Blocks + f.Entries + f.Layout }

// Footprint returns what Embeddings would take for p and in. It costs about as much as finding the nodes within K hops
// of the rows, and reads no features. Errors are those of p and in.
func (e Engine) Footprint(p propagate.Propagation, in propagate.Input) (f Footprint, err error) {
	if err := p.Validate(); err != nil {
		return f, err
	}
	if err := in.Validate(); err != nil {
		return f, err
	}
	_, d := in.X.Dims()
	n, hops := int64(len(in.Rows)), p.Hops
	_, inPlace := in.X.(*mat.Dense)
	f.Results = 4 * n * int64(d) * int64(hops)
	if !inPlace {
		f.Results += 4 * n * int64(d)
	}
	if hops == 0 || n == 0 || d == 0 {
		f.Input = 4 * n * int64(d)
		return f, nil
	}
	operator, beta := p.Step(in.Adj)
	r := newRun(operator, beta, in, make([]*mat.Dense, hops))
	width, stored := r.plan(e.Memory)
	f.Columns = width
	for range blocks(d, width) {
		f.Passes++
	}
	f.Blocks = r.column() * int64(width)
	if stored {
		f.Entries = r.stored()
	}
	// place, the distances, both sides of the operator and gain are of all nodes, nodes and placed of those near.
	f.Layout = 20*int64(in.Adj.Rows) + 4*int64(len(r.nodes)+len(r.placed))
	f.Input = size(in.Adj)
	if x, sparse := in.X.(*mat.CSR); sparse {
		f.Input += size(x)
	} else {
		f.Input += 4 * int64(d) * int64(r.within[hops])
	}
	return f, nil
}

package blocked

import (
	"context"

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
	// Read is how many bytes of a mapped file are read, if the system keeps none of them from one pass to the next: 0 for
	// an input that is not mapped. Scratch is how many bytes are written to temporary files and read again.
	Read, Scratch int64
	// Work is about how many seconds the arithmetic takes on two threads of an ordinary machine.
	Work float64
	// Held is the memory of a process whose mapped input is larger than Engine.Memory, with the program and the pages that
	// are being read; 0 if the input fits. It exceeds Engine.Memory if one column does not fit.
	Held int64
}

// Sum is the memory without the input.
func (f Footprint) Sum() int64 { return f.Results + f.Blocks + f.Entries + f.Layout }

// Footprint returns what Embeddings would take for p and in. It costs about as much as finding the nodes within K hops
// of the rows, and reads no features. Errors are those of p and in.
func (e Engine) Footprint(p propagate.Propagation, in propagate.Input) (f Footprint, err error) {
	if err := e.Precision.validate(); err != nil {
		return f, err
	}
	if err := p.Validate(); err != nil {
		return f, err
	}
	if err := in.Validate(); err != nil {
		return f, err
	}
	_, d := in.X.Dims()
	if n := int64(len(in.Rows)); p.Hops == 0 || n == 0 || d == 0 {
		f.Input = 4 * n * int64(d)
		if _, inPlace := in.X.(*mat.Dense); !inPlace {
			f.Results = f.Input
		}
		f.Results += 4 * n * int64(d) * int64(p.Hops)
		return f, nil
	}
	_, beta := in.Step(p)
	return newRun(context.Background(), in, p.Hops, beta, e).footprint(e.Memory), nil
}

// footprint returns what the plan takes within a bound.
func (r *run) footprint(memory int64) (f Footprint) {
	_, d := r.x.Dims()
	passes, _ := r.cut(r.plan)
	f.Columns, f.Passes = r.plan.width, int(passes)
	f.Blocks = r.blockBytes(r.plan)
	f.Entries = r.storedBytes(r.plan)
	f.Results = r.resultBytes(r.plan)
	f.Layout = r.arrays()
	f.Input = size(r.adj)
	if x, sparse := r.x.(*mat.CSR); sparse {
		f.Input += size(x)
	} else {
		f.Input += 4 * int64(d) * int64(r.within[r.hops])
	}
	f.Read, f.Scratch, f.Work = r.bytesRead(r.plan), r.scratch(r.plan), r.work(r.plan)
	if r.plan.beyond {
		f.Held = r.need(r.plan) + r.overhead(memory)
	}
	return f
}

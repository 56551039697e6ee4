package blocked

import (
	"context"

	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// Footprint is the memory that Embeddings needs in addition to its input, in bytes.
type Footprint struct {
	// Results is for the returned embeddings, Blocks is for a block of columns, Entries is for the adjacency entries in
	// their new order, and Layout is for the arrays of that order.
	Results, Blocks, Entries, Layout int64
	// Input is the size of the input: the adjacency, and the features of the nodes within K hops of the rows.
	Input int64
	// Columns is the number of columns of a block, and Passes is the number of blocks.
	Columns, Passes int
	// Read is the number of bytes that are read from a mapped file if the system caches none of them between passes. It is
	// 0 for an input that is not mapped. Scratch is the number of bytes that are written to temporary files and read back.
	Read, Scratch int64
	// Work estimates the seconds of arithmetic on two threads of an ordinary machine.
	Work float64
	// Held is the memory of a process whose mapped input is larger than Engine.Memory, including the program and the pages
	// that are being read. It is 0 if the input fits. It exceeds Engine.Memory if not even one column fits.
	Held int64
}

// Sum is the memory without the input.
func (f Footprint) Sum() int64 { return f.Results + f.Blocks + f.Entries + f.Layout }

// Footprint returns the memory that Embeddings would need for p and in. It costs about as much as finding the nodes
// within K hops of the rows, and reads no features. It returns an error if p or in is invalid.
func (e Engine) Footprint(p propagate.Propagation, in propagate.Input) (Footprint, error) {
	return e.footprint(p, in, false)
}

// HopsFootprint is Footprint for Hops, which needs less memory: it need not copy rows of X, and reads results that do
// not fit in memory from their temporary file.
func (e Engine) HopsFootprint(p propagate.Propagation, in propagate.Input) (Footprint, error) {
	return e.footprint(p, in, true)
}

// footprint implements Footprint, and HopsFootprint if apart is set.
func (e Engine) footprint(p propagate.Propagation, in propagate.Input, apart bool) (f Footprint, err error) {
	if err := e.check(p, in); err != nil {
		return f, err
	}
	_, d := in.X.Dims()
	if n := int64(len(in.Rows)); p.Hops == 0 || n == 0 || d == 0 {
		f.Input = 4 * n * int64(d)
		if !apart {
			if _, inPlace := in.X.(*mat.Dense); !inPlace {
				f.Results = f.Input
			}
			f.Results += 4 * n * int64(d) * int64(p.Hops)
		}
		if in.Mapped {
			f.Read = f.Input
		}
		return f, nil
	}
	_, beta := in.Step(p)
	return newRun(context.Background(), in, p.Hops, beta, e, apart, false).footprint(e.Memory), nil
}

// footprint returns the footprint of the plan under a memory limit.
func (r *run) footprint(memory int64) (f Footprint) {
	passes, _ := r.cut(r.plan)
	f.Columns, f.Passes = r.plan.width, int(passes)
	f.Blocks = r.blockBytes(r.plan)
	f.Entries = r.storedBytes(r.plan)
	if !r.apart || !r.plan.spill {
		f.Results = r.resultBytes(r.plan)
	}
	f.Layout = r.arrays()
	f.Input = budget.Sparse(r.adj)
	if x, sparse := r.x.(*mat.CSR); sparse {
		f.Input += budget.Sparse(x)
	} else {
		f.Input += 4 * int64(r.d) * int64(r.within[r.hops])
	}
	f.Read, f.Scratch, f.Work = r.bytesRead(r.plan), r.scratch(r.plan), r.work(r.plan)
	if r.plan.beyond {
		f.Held = r.need(r.plan) + r.overhead(memory)
	}
	return f
}

type watchKey struct{}

// Watch returns a context in which Engine.Embeddings calls f with its plan before it reads features. f must be safe for
// concurrent use if Embeddings runs concurrently.
func Watch(ctx context.Context, f func(Footprint)) context.Context {
	return context.WithValue(ctx, watchKey{}, f)
}

// tell calls the watcher of ctx, if any, with the footprint of the plan.
func (r *run) tell(ctx context.Context, memory int64) {
	if f, ok := ctx.Value(watchKey{}).(func(Footprint)); ok {
		f(r.footprint(memory))
	}
}

package blocked

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// run is one propagation, and the memory that its blocks share.
//
// A hop is P = diag(L)·(A+I)·diag(R). Between hops, S⁽ˡ⁾ = R·H⁽ˡ⁾ is kept, so that the sum over the neighbours needs no
// factors:
//
//	S⁽ˡ⁾ = (1−β)·diag(R·L)·(A+I)·S⁽ˡ⁻¹⁾ + β·S⁽⁰⁾.
type run struct {
	*layout
	adj         *mat.CSR
	x           mat.Matrix
	rows        []int32
	mapped      bool         // adj and x lie in a file
	h           []*mat.Dense // the result, from H⁽¹⁾ on
	beta        float32      // β; 0 for rules without teleport
	right, gain []float32    // R and (1−β)·R·L of each node
	placed      []float32    // gain by places
	entries     *entries     // of all places within hops−1; nil if each block makes them anew
	panels      [3]mat.Dense // a block of S⁽⁰⁾, unless the features are sparse, and of two S⁽ˡ⁾
}

// newRun prepares the propagation of in to the matrices h. There is one matrix for each hop.
func newRun(operator graph.Operator, beta float32, in propagate.Input, h []*mat.Dense) *run {
	a := in.Adj
	r := &run{
		layout: arrange(a, in.Rows, in.Classes, len(h)),
		adj:    a, x: in.X, rows: in.Rows, mapped: in.Mapped, h: h, beta: beta, right: operator.Right,
	}
	r.gain = make([]float32, a.Rows)
	keep := 1 - beta
	parallel.For(a.Rows, nodeChunk, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			r.gain[v] = keep * operator.Left[v] * r.scale(int32(v))
		}
	})
	r.placed = make([]float32, r.within[len(h)-1])
	parallel.For(len(r.placed), nodeChunk, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			r.placed[p] = r.gain[r.nodes[p]]
		}
	})
	return r
}

// scale returns R of node v.
func (r *run) scale(v int32) float32 {
	if r.right == nil {
		return 1
	}
	return r.right[v]
}

// errDirected is the error for an adjacency that graph.Graph.Validate would refuse. A row then reads a node that is
// farther away than the row allows.
var errDirected = errors.New("propagate: the adjacency is not symmetric")

// store makes the entries once for all blocks.
func (r *run) store(ctx context.Context) error {
	count := r.within[len(r.h)-1]
	r.entries = new(entries)
	r.pointers(r.entries, r.adj, 0, count)
	// By nodes and not by places: A may be mapped from a file, and is then read in order.
	var directed atomic.Bool
	err := parallel.ForContext(ctx, r.adj.Rows, nodeChunk, func(lo, hi int) {
		for v := int32(lo); v < int32(hi); v++ {
			if p := int(r.place[v]); p >= 0 && p < count && !r.fill(r.entries, p, r.adj, v) {
				directed.Store(true)
			}
		}
	})
	if directed.Load() {
		return errDirected
	}
	return err
}

// block computes columns lo to hi−1 of H⁽¹⁾ … H⁽ᴷ⁾.
func (r *run) block(ctx context.Context, lo, hi int) error {
	x, hops := r.x, len(r.h)
	if sparse, ok := x.(*mat.CSR); ok && hi-lo < sparse.Cols {
		x = sparse.Columns(lo, hi)
	}
	d, width := hi-lo, (hi-lo+unit-1)/unit*unit
	var from *mat.Dense
	if _, sparse := x.(*mat.CSR); !sparse {
		from = &r.panels[0]
		from.Reshape(r.within[hops], width)
		if err := r.source(ctx, from, lo, d); err != nil {
			return err
		}
	}
	for l := 1; l <= hops; l++ {
		to := &r.panels[r.panel(l)]
		to.Reshape(r.within[hops-l], width)
		var err error
		if from == nil {
			first := graph.Operator{Adj: r.adj, Left: r.gain, Right: r.right, Self: 1}
			err = first.ApplyInto(ctx, to, x, r.nodes[:to.Rows], nil)
		} else {
			err = r.hop(ctx, to, from)
		}
		if err != nil {
			return err
		}
		if r.beta > 0 {
			r.teleport(to, x, d)
		}
		r.keep(r.h[l-1], to, lo, hi)
		from = to
	}
	return ctx.Err()
}

// panel returns which panel takes S⁽ˡ⁾. Two hops take turns. With teleport, S⁽⁰⁾ is needed until the end.
func (r *run) panel(l int) int {
	if r.beta > 0 && l > 0 {
		return 1 + l%2
	}
	return l % 2
}

// ahead is how many rows before its copy a row is prefetched, at its source and at its destination.
const ahead = 8

// source sets panel to R·X for d columns of X, from column first on. X is not sparse.
func (r *run) source(ctx context.Context, panel *mat.Dense, first, d int) error {
	x, dense := r.x.(*mat.Dense)
	if !dense {
		return r.load(ctx, panel, first, d)
	}
	parallel.For(x.Rows, nodeChunk, func(lo, hi int) { // by nodes, as in store
		for v := lo; v < hi; v++ {
			if v+ahead < hi {
				kernel.Prefetch(x.Row(v + ahead)[first : first+d])
				kernel.Prefetch(panel.Row(max(0, int(r.place[v+ahead]))))
			}
			if p := int(r.place[v]); p >= 0 {
				kernel.Scale(panel.Row(p)[:d], r.scale(int32(v)), x.Row(v)[first:first+d])
			}
		}
	})
	return nil
}

// rowsRead is how many rows of features are read at a time: 256 kB in a block of 64 columns.
const rowsRead = 1024

// load is source for features of a type that is read. Nodes without a place are not read.
func (r *run) load(ctx context.Context, panel *mat.Dense, first, d int) error {
	errs := make([]error, (len(r.place)+rowsRead-1)/rowsRead)
	err := parallel.ForContext(ctx, len(r.place), rowsRead, func(lo, hi int) {
		var nodes []int32
		for v := lo; v < hi; v++ {
			if r.place[v] >= 0 {
				nodes = append(nodes, int32(v))
			}
		}
		var block mat.Dense
		if errs[lo/rowsRead] = mat.Read(&block, r.x, nodes, first, first+d); errs[lo/rowsRead] != nil {
			return
		}
		for i, v := range nodes {
			kernel.Scale(panel.Row(int(r.place[v]))[:d], r.scale(v), block.Row(i))
		}
	})
	for _, failed := range errs {
		if failed != nil {
			return fmt.Errorf("propagate: reading features: %w", failed)
		}
	}
	return err
}

// made is memory for entries that are made for some rows and used at once.
var made = sync.Pool{New: func() any { return new(entries) }}

// hop sets to to the first rows of (1−β)·diag(R·L)·(A+I)·from. Columns behind the features are carried along.
func (r *run) hop(ctx context.Context, to, from *mat.Dense) error {
	var directed atomic.Bool
	err := parallel.ForContext(ctx, to.Rows, nodeChunk, func(lo, hi int) {
		e, first := r.entries, 0
		if e == nil {
			e, first = made.Get().(*entries), lo
			defer made.Put(e)
			r.pointers(e, r.adj, lo, hi)
			for p := lo; p < hi; p++ {
				if !r.fill(e, p-lo, r.adj, r.nodes[p]) {
					directed.Store(true)
					return
				}
			}
		}
		dst, indptr, gain := to.Data[lo*to.Cols:hi*to.Cols], e.indptr[lo-first:hi-first+1], r.placed[lo:hi]
		if r.adj.Data == nil {
			sums := kernel.Rows(dst, to.Cols)
			kernel.GatherSum(sums, indptr, e.indices, gain, kernel.Rows(from.Data, from.Cols), to.Cols)
		} else {
			edges := kernel.Sparse{Indptr: indptr, Indices: e.indices, Weights: e.data, Left: gain}
			kernel.Gather(kernel.Rows(dst, to.Cols), edges, 0, hi-lo, kernel.Rows(from.Data, from.Cols), to.Cols)
		}
	})
	if directed.Load() {
		return errDirected
	}
	return err
}

// keep copies the rows of H⁽ˡ⁾ that are asked for, in columns lo to hi−1, from their block of S⁽ˡ⁾.
func (r *run) keep(h, block *mat.Dense, lo, hi int) {
	parallel.For(len(r.rows), nodeChunk, func(first, end int) {
		for i := first; i < end; i++ {
			if i+ahead < end {
				kernel.Prefetch(block.Row(int(r.place[r.rows[i+ahead]]))[:hi-lo])
				kernel.Prefetch(h.Row(i + ahead)[lo:hi])
			}
			v := r.rows[i]
			kernel.Scale(h.Row(i)[lo:hi], 1/r.scale(v), block.Row(int(r.place[v]))[:hi-lo])
		}
	})
}

// teleport adds β·S⁽⁰⁾ to d columns of block. x holds the features of these columns if they are sparse.
func (r *run) teleport(block *mat.Dense, x mat.Matrix, d int) {
	parallel.For(block.Rows, nodeChunk, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			row := block.Row(p)[:d]
			sparse, ok := x.(*mat.CSR)
			if !ok {
				kernel.Axpy(r.beta, r.panels[0].Row(p)[:d], row)
				continue
			}
			v := r.nodes[p]
			w := r.beta * r.scale(v)
			for e := sparse.Indptr[v]; e < sparse.Indptr[v+1]; e++ {
				feature := float32(1)
				if sparse.Data != nil {
					feature = sparse.Data[e]
				}
				row[sparse.Indices[e]] += float32(w * feature)
			}
		}
	})
}

package propagate

import (
	"context"
	"fmt"
	"sync"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// run is one propagation, and the memory that its blocks share.
//
// A hop is P = diag(L)·(A+I)·diag(R). What is kept between hops is S⁽ˡ⁾ = R·H⁽ˡ⁾, so that the sum over the neighbours needs no factors:
// S⁽ˡ⁾ = diag(R·L)·(A+I)·S⁽ˡ⁻¹⁾.
type run struct {
	Propagation
	*layout
	adj         *mat.CSR
	rows        []int32
	h           []*mat.Dense // the result, from H⁽¹⁾ on
	right, gain []float32    // R and (1−β)·R·L of each node, β being 0 but for PPR
	placed      []float32    // gain by places
	entries     *entries     // of all places within hops−1; nil where they are made when they are needed
	panels      [3]mat.Dense // the block of S⁽⁰⁾, if the features are dense, and of two S⁽ˡ⁾
}

// newRun prepares the propagation of a's nodes to rows.
func newRun(p Propagation, operator graph.Operator, rows, classes []int32, h []*mat.Dense) *run {
	a := operator.Adj
	r := &run{Propagation: p, layout: arrange(a, rows, classes, p.Hops), adj: a, rows: rows, h: h, right: operator.Right}
	r.gain = make([]float32, a.Rows)
	keep := float32(1)
	if p.Method == PPR {
		keep -= float32(p.Teleport)
	}
	parallel.For(a.Rows, nodeChunk, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			r.gain[v] = keep * operator.Left[v] * r.scale(int32(v))
		}
	})
	r.placed = make([]float32, r.within[p.Hops-1])
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

// store makes the entries once for all blocks.
func (r *run) store(ctx context.Context) error {
	count := r.within[r.Hops-1]
	r.entries = new(entries)
	r.pointers(r.entries, r.adj, 0, count)
	return parallel.ForContext(ctx, r.adj.Rows, nodeChunk, func(lo, hi int) { // by nodes: A may be mapped from a file, and is read in order
		for v := int32(lo); v < int32(hi); v++ {
			if p := int(r.place[v]); p >= 0 && p < count {
				r.fill(r.entries, p, r.adj, v)
			}
		}
	})
}

// block computes columns lo to hi of H⁽¹⁾ … H⁽ᴷ⁾.
func (r *run) block(ctx context.Context, x mat.Matrix, lo, hi int) error {
	if sparse, ok := x.(*mat.CSR); ok && hi-lo < sparse.Cols {
		x = sparse.Columns(lo, hi)
	}
	d, width := hi-lo, (hi-lo+unit-1)/unit*unit
	var from *mat.Dense
	if dense, ok := x.(*mat.Dense); ok {
		from = &r.panels[0]
		from.Reshape(r.within[r.Hops], width)
		r.source(from, dense, lo, d)
	}
	for l := 1; l <= r.Hops; l++ {
		to := &r.panels[r.panel(l)]
		to.Reshape(r.within[r.Hops-l], width)
		var err error
		if from == nil {
			err = graph.Operator{Adj: r.adj, Left: r.gain, Right: r.right, Self: 1}.ApplyInto(ctx, to, x, r.nodes[:to.Rows], nil)
		} else {
			err = r.hop(ctx, to, from)
		}
		if err != nil {
			return err
		}
		if r.Method == PPR {
			r.teleport(to, x, d)
		}
		r.keep(r.h[l-1], to, lo, hi)
		from = to
	}
	return ctx.Err()
}

// panel returns which panel takes S⁽ˡ⁾. Those of two hops take turns; PPR needs S⁽⁰⁾ until the end.
func (r *run) panel(l int) int {
	if r.Method == PPR && l > 0 {
		return 1 + l%2
	}
	return l % 2
}

// ahead is how many rows before it is copied a row is asked for, where it comes from and where it goes.
const ahead = 8

// source sets panel to d columns of R·X from column first on.
func (r *run) source(panel, x *mat.Dense, first, d int) {
	parallel.For(x.Rows, nodeChunk, func(lo, hi int) { // by nodes, as above
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
}

// made is memory for entries that are made for some rows and used at once.
var made = sync.Pool{New: func() any { return new(entries) }}

// hop sets to, which has as many rows as it needs, to diag((1−β)·R·L)·(A+I)·from. Columns behind the features are carried along.
func (r *run) hop(ctx context.Context, to, from *mat.Dense) error {
	return parallel.ForContext(ctx, to.Rows, nodeChunk, func(lo, hi int) {
		e, first := r.entries, 0
		if e == nil {
			e, first = made.Get().(*entries), lo
			defer made.Put(e)
			r.pointers(e, r.adj, lo, hi)
			for p := lo; p < hi; p++ {
				r.fill(e, p-lo, r.adj, r.nodes[p])
			}
		}
		dst, indptr, gain := to.Data[lo*to.Cols:hi*to.Cols], e.indptr[lo-first:hi-first+1], r.placed[lo:hi]
		if r.adj.Data == nil {
			kernel.GatherSum(dst, to.Cols, indptr, e.indices, gain, from.Data, from.Cols, to.Cols)
		} else {
			kernel.Gather(dst, to.Cols, 0, hi-lo, indptr, e.indices, e.data, gain, nil, 0, from.Data, from.Cols, to.Cols)
		}
	})
}

// keep copies the rows of H⁽ˡ⁾ that are asked for, in columns lo to hi, from their block of S⁽ˡ⁾.
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
	beta := float32(r.Teleport)
	parallel.For(block.Rows, nodeChunk, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			row := block.Row(p)[:d]
			switch x := x.(type) {
			case *mat.Dense:
				kernel.Axpy(beta, r.panels[0].Row(p)[:d], row)
			case *mat.CSR:
				v := r.nodes[p]
				w := beta * r.scale(v)
				for e := x.Indptr[v]; e < x.Indptr[v+1]; e++ {
					feature := float32(1)
					if x.Data != nil {
						feature = x.Data[e]
					}
					row[x.Indices[e]] += float32(w * feature)
				}
			default:
				panic(fmt.Sprintf("propagate: features are a %T", x))
			}
		}
	})
}

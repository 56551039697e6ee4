package autodiff

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Edges is a list of directed edges e = (i, j), sorted by i. Node i gathers from its neighbours j, as in attention.
// Values on edges are matrices with one row for each edge and one column for each head.
type Edges struct {
	nodes   int     // number of nodes
	indptr  []int64 // edges indptr[i] to indptr[i+1]−1 start at node i
	source  []int32 // i of each edge
	target  []int32 // j of each edge
	into    []int64 // the edges to node j are reverse[into[j]] to reverse[into[j+1]−1]
	reverse []int64
}

// NewEdges returns the stored entries (i, j) of a square sparse matrix as edges. The values are not used. pattern must
// not change while the edges are in use. If ctx is done, NewEdges soon returns its error.
func NewEdges(ctx context.Context, pattern *mat.CSR) (*Edges, error) {
	if pattern.Rows != pattern.Cols {
		panic(fmt.Sprintf("autodiff: edges of a %d×%d matrix", pattern.Rows, pattern.Cols))
	}
	e := &Edges{
		nodes: pattern.Rows, indptr: pattern.Indptr, target: pattern.Indices, source: memory.Make[int32](pattern.NNZ()),
	}
	for i := range e.nodes {
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for at := e.indptr[i]; at < e.indptr[i+1]; at++ {
			e.source[at] = int32(i)
		}
	}
	transpose, from, err := (&mat.CSR{
		Rows: e.nodes, Cols: e.nodes, Indptr: pattern.Indptr, Indices: pattern.Indices,
	}).Transpose(ctx)
	if err != nil {
		return nil, err
	}
	e.into, e.reverse = transpose.Indptr, from
	return e, nil
}

// edge records an operation along edges. flip swaps the two ends of each edge.
func (t *Tape) edge(a, b *Var, e *Edges, flip bool, da, db gradient) *Var {
	v := t.record(a, b, da, db)
	v.edges, v.flip = e, flip
	return v
}

// perNode calls f with each node of [lo,hi) and each edge that starts there, or that ends there if flip is set.
func (v *Var) perNode(lo, hi int, f func(i int, e int64, other int32)) {
	for i := lo; i < hi; i++ {
		if v.flip {
			for at := v.edges.into[i]; at < v.edges.into[i+1]; at++ {
				e := v.edges.reverse[at]
				f(i, e, v.edges.source[e])
			}
			continue
		}
		for at := v.edges.indptr[i]; at < v.edges.indptr[i+1]; at++ {
			f(i, at, v.edges.target[at])
		}
	}
}

// nodeChunk is the number of nodes whose edges one task processes.
const nodeChunk = 256

// EdgeRows returns row i of x for each edge (i, j), or row j if flip is set. x is n×h; the result is |E|×h.
func (t *Tape) EdgeRows(e *Edges, x *Var, flip bool) *Var {
	checkShape("the values of nodes", x.Value, e.nodes, x.Value.Cols)
	index := e.source
	if flip {
		index = e.target
	}
	v := t.rows(x, index, func(v, g *Var) *Var { return v.tape.edgeSums(v.edges, g, v.flip) })
	v.edges, v.flip = e, flip
	return v
}

// edgeSums returns, for each node, the sum of x over the edges that start there, or that end there if flip is set. x is
// |E|×h; the result is n×h. edgeSums is the transpose of EdgeRows.
func (t *Tape) edgeSums(e *Edges, x *Var, flip bool) *Var {
	checkShape("the values of edges", x.Value, len(e.target), x.Value.Cols)
	v := t.edge(x, nil, e, flip, func(v, g *Var) *Var { return v.tape.EdgeRows(v.edges, g, v.flip) }, nil)
	v.own.Reshape(e.nodes, x.Value.Cols)
	clear(v.own.Data)
	return t.run(v, e.nodes, nodeChunk, func(v *Var, lo, hi int) {
		v.perNode(lo, hi, func(i int, e int64, _ int32) {
			sum := v.own.Row(i)
			for h, x := range v.a.Value.Row(int(e)) {
				sum[h] += x
			}
		})
	})
}

// EdgeSoftmax returns exp(x_e) / Σ exp(x_e′) for each head. The sum is over all edges e′ that start at the same node as
// e. x is |E|×h.
func (t *Tape) EdgeSoftmax(e *Edges, x *Var) *Var {
	checkShape("the scores of edges", x.Value, len(e.target), x.Value.Cols)
	v := t.edge(x, nil, e, false, func(v, g *Var) *Var {
		t := v.tape
		weighted := t.Mul(v, g)
		inner := t.EdgeRows(v.edges, t.edgeSums(v.edges, weighted, false), false)
		return t.Sub(weighted, t.Mul(v, inner))
	}, nil)
	v.own.Reshape(x.Value.Rows, x.Value.Cols)
	t.scratch.Reshape(1, len(e.target))
	return t.run(v, e.nodes, nodeChunk, func(v *Var, lo, hi int) {
		heads := v.own.Cols
		for i := lo; i < hi; i++ {
			first, last := int(v.edges.indptr[i]), int(v.edges.indptr[i+1])
			segment := v.tape.scratch.Data[first:last] // the scores of one head, contiguous
			for h := range heads {
				for k := range segment {
					segment[k] = v.a.Value.Data[(first+k)*heads+h]
				}
				kernel.Softmax(segment)
				for k, p := range segment {
					v.own.Data[(first+k)*heads+h] = p
				}
			}
		}
	})
}

// Attend returns Σ_e a_e·x_j for each node i, head by head. The sum is over the edges e = (i, j) that start at i. a is
// |E|×h. The columns of x, n×(h·f), are h groups of f, and column k of a holds the weights of group k. The |E|×h×f
// messages are never stored. If flip is set, node j gathers from i instead.
func (t *Tape) Attend(e *Edges, a, x *Var, flip bool) *Var {
	checkHeads(e, a.Value, x.Value)
	v := t.edge(a, x, e, flip, func(v, g *Var) *Var {
		if v.flip {
			return v.tape.edgeDots(v.edges, v.b, g, v.a.Value.Cols)
		}
		return v.tape.edgeDots(v.edges, g, v.b, v.a.Value.Cols)
	}, func(v, g *Var) *Var { return v.tape.Attend(v.edges, v.a, g, !v.flip) })
	v.own.Reshape(e.nodes, x.Value.Cols)
	clear(v.own.Data)
	return t.run(v, e.nodes, nodeChunk, func(v *Var, lo, hi int) {
		heads := v.a.Value.Cols
		width := v.own.Cols / heads
		v.perNode(lo, hi, func(i int, e int64, other int32) {
			dst, x := v.own.Row(i), v.b.Value.Row(int(other))
			for h, a := range v.a.Value.Row(int(e)) {
				kernel.Axpy(a, x[h*width:(h+1)*width], dst[h*width:(h+1)*width])
			}
		})
	})
}

func checkHeads(e *Edges, a, x *mat.Dense) {
	checkShape("the weights of edges", a, len(e.target), a.Cols)
	checkShape("the values of nodes", x, e.nodes, x.Cols)
	if a.Cols == 0 || x.Cols%a.Cols != 0 {
		panic(fmt.Sprintf("autodiff: %d columns for %d heads", x.Cols, a.Cols))
	}
}

// edgeDots returns, for each edge (i, j) and each head, the inner product of x_i and y_j over the columns of the head.
// x and y are n×(h·f); the result is |E|×h.
func (t *Tape) edgeDots(e *Edges, x, y *Var, heads int) *Var {
	v := t.edge(x, y, e, false,
		func(v, g *Var) *Var { return v.tape.Attend(v.edges, g, v.b, false) },
		func(v, g *Var) *Var { return v.tape.Attend(v.edges, g, v.a, true) })
	v.own.Reshape(len(e.target), heads)
	checkHeads(e, &v.own, x.Value)
	checkShape("the values of targets", y.Value, x.Value.Rows, x.Value.Cols)
	return t.run(v, e.nodes, nodeChunk, func(v *Var, lo, hi int) {
		heads := v.own.Cols
		width := v.a.Value.Cols / heads
		v.perNode(lo, hi, func(i int, e int64, other int32) {
			x, y := v.a.Value.Row(i), v.b.Value.Row(int(other))
			dst := v.own.Row(int(e))
			for h := range dst {
				dst[h] = kernel.Dot(x[h*width:(h+1)*width], y[h*width:(h+1)*width])
			}
		})
	})
}

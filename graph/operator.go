package graph

import (
	"context"
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Operator is the linear map of one propagation,
//
//	P = diag(Left) · (A + Self·I) · diag(Right),
//
// kept as its factors: neither P nor a scaled copy of A or X is ever formed. A nil Left or Right is all ones.
// A is symmetric, so the transpose of P swaps Left and Right.
type Operator struct {
	Adj         *mat.CSR
	Left, Right []float32
	Self        float32
}

// Symmetric returns Â = D̃^-½ (A + I) D̃^-½ with D̃_ii = 1 + Σ_j A_ij (Kipf and Welling 2017, §2; §2.3 of the paper, whose
// exponent ½ is a slip).
func Symmetric(a *mat.CSR) Operator {
	scale := make([]float32, a.Rows)
	for i, d := range degrees(a) {
		scale[i] = float32(1 / math.Sqrt(d+1))
	}
	return Operator{Adj: a, Left: scale, Right: scale, Self: 1}
}

// Mean returns D̃⁻¹ (A + I): the mean over the neighbours and the node itself, weighted where the edges are.
func Mean(a *mat.CSR) Operator {
	scale := make([]float32, a.Rows)
	for i, d := range degrees(a) {
		scale[i] = float32(1 / (d + 1))
	}
	return Operator{Adj: a, Left: scale, Self: 1}
}

// degrees returns Σ_j A_ij for each i.
func degrees(a *mat.CSR) []float64 {
	degree := make([]float64, a.Rows)
	for i := range degree {
		if a.Data == nil {
			degree[i] = float64(a.Indptr[i+1] - a.Indptr[i])
			continue
		}
		for _, w := range a.Data[a.Indptr[i]:a.Indptr[i+1]] {
			degree[i] += float64(w)
		}
	}
	return degree
}

// T returns the transpose of P.
func (o Operator) T() Operator {
	o.Left, o.Right = o.Right, o.Left
	return o
}

// nodeChunk is the number of rows of a product that one task computes: some hundred thousand multiplications at usual degrees.
const nodeChunk = 256

// Apply sets dst to P·x, n×d. x is dense or sparse; a sparse one is never written out. dst must not alias x.
// It stops between blocks of rows when ctx is done, and returns ctx's error.
func (o Operator) Apply(ctx context.Context, dst *mat.Dense, x mat.Matrix) error {
	o.check(x, o.Adj.Rows)
	_, d := x.Dims()
	dst.Reshape(o.Adj.Rows, d)
	return parallel.ForContext(ctx, o.Adj.Rows, nodeChunk, func(lo, hi int) {
		switch x := x.(type) {
		case *mat.Dense:
			kernel.Gather(dst.Data[lo*d:hi*d], d, lo, hi, o.Adj.Indptr, o.Adj.Indices, o.Adj.Data, o.Left, o.Right, o.Self, x.Data, d, d)
		case *mat.CSR:
			for i := lo; i < hi; i++ {
				o.scatter(dst.Row(i), x, int32(i), nil)
			}
		}
	})
}

// ApplyRows sets row r of dst to row rows[r] of P·x. Where position is not nil, the features of node j stand in row
// position[j] of x, which must hold all neighbours of the rows and the rows themselves; the result is, bit for bit, that of Apply.
func (o Operator) ApplyRows(ctx context.Context, dst *mat.Dense, x mat.Matrix, rows, position []int32) error {
	if position == nil {
		o.check(x, o.Adj.Rows)
	}
	_, d := x.Dims()
	dst.Reshape(len(rows), d)
	return parallel.ForContext(ctx, len(rows), nodeChunk, func(lo, hi int) {
		switch x := x.(type) {
		case *mat.Dense:
			kernel.GatherRows(dst.Data[lo*d:hi*d], d, rows[lo:hi], position, o.Adj.Indptr, o.Adj.Indices, o.Adj.Data, o.Left, o.Right, o.Self, x.Data, d, d)
		case *mat.CSR:
			for r := lo; r < hi; r++ {
				o.scatter(dst.Row(r), x, rows[r], position)
			}
		}
	})
}

// scatter sets dst to row i of P·x for a sparse x.
func (o Operator) scatter(dst []float32, x *mat.CSR, i int32, position []int32) {
	clear(dst)
	left := scaleOf(o.Left, i)
	add := func(j int32, w float32) {
		w *= left * scaleOf(o.Right, j)
		if position != nil {
			j = position[j]
		}
		for e := x.Indptr[j]; e < x.Indptr[j+1]; e++ {
			v := w
			if x.Data != nil {
				v = w * x.Data[e]
			}
			dst[x.Indices[e]] += v
		}
	}
	if o.Self != 0 {
		add(i, o.Self)
	}
	for e := o.Adj.Indptr[i]; e < o.Adj.Indptr[i+1]; e++ {
		w := float32(1)
		if o.Adj.Data != nil {
			w = o.Adj.Data[e]
		}
		add(o.Adj.Indices[e], w)
	}
}

func scaleOf(scale []float32, i int32) float32 {
	if scale == nil {
		return 1
	}
	return scale[i]
}

func (o Operator) check(x mat.Matrix, want int) {
	if rows, _ := x.Dims(); rows != want {
		panic(fmt.Sprintf("graph: operator of %d nodes on %d rows", want, rows))
	}
}

// Sparse returns P·x as a sparse matrix for a sparse x: the first layer of a GNN on bag-of-words features works on it for
// as long as it is sparse. Entries are summed in the order of the neighbours.
func (o Operator) Sparse(ctx context.Context, x *mat.CSR) (*mat.CSR, error) {
	o.check(x, o.Adj.Rows)
	type block struct {
		indices []int32
		data    []float32
		length  []int64
	}
	blocks := make([]block, (o.Adj.Rows+nodeChunk-1)/nodeChunk)
	err := parallel.ForContext(ctx, o.Adj.Rows, nodeChunk, func(lo, hi int) {
		row := make([]float32, x.Cols)
		b := &blocks[lo/nodeChunk]
		for i := lo; i < hi; i++ {
			o.scatter(row, x, int32(i), nil)
			before := len(b.indices)
			for j, v := range row {
				if v != 0 {
					b.indices = append(b.indices, int32(j))
					b.data = append(b.data, v)
				}
			}
			b.length = append(b.length, int64(len(b.indices)-before))
		}
	})
	if err != nil {
		return nil, err
	}
	out := &mat.CSR{Rows: o.Adj.Rows, Cols: x.Cols, Indptr: make([]int64, 1, o.Adj.Rows+1), Data: []float32{}}
	for _, b := range blocks {
		out.Indices = append(out.Indices, b.indices...)
		out.Data = append(out.Data, b.data...)
		for _, l := range b.length {
			out.Indptr = append(out.Indptr, out.Indptr[len(out.Indptr)-1]+l)
		}
	}
	return out, nil
}

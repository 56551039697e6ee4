package graph

import (
	"context"
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Operator is the linear map of one propagation,
//
//	P = diag(Left) · (A + Self·I) · diag(Right),
//
// kept as its factors: neither P nor a scaled copy of A or X is ever formed. A nil Left or Right is all ones.
// A is symmetric or, in a causal graph, strictly lower triangular.
type Operator struct {
	Adj         *mat.CSR
	Left, Right []float32
	Self        float32
}

// Symmetric returns Â = D̃^-½ (A + I) D̃^-½ with D̃_ii = 1 + Σ_j A_ij (Kipf and Welling 2017, §2). The exponent ½ in
// §2.3 of the paper is a slip.
func Symmetric(a *mat.CSR) Operator { return SymmetricOf(a, nil) }

// SymmetricOf is Symmetric with the given Σ_j A_ij, for an adjacency a that lacks some rows of the full graph. If
// degrees is nil, they are computed from a.
func SymmetricOf(a *mat.CSR, degrees []float64) Operator {
	scale := scales(a, degrees, func(degree float64) float64 { return 1 / math.Sqrt(degree+1) })
	return Operator{Adj: a, Left: scale, Right: scale, Self: 1}
}

// Mean returns D̃⁻¹ (A + I): the mean over the neighbours and the node itself, weighted by the edges. The node itself
// has weight 1.
func Mean(a *mat.CSR) Operator { return MeanOf(a, nil) }

// MeanOf is Mean with the given Σ_j A_ij, for an adjacency a that lacks some rows of the full graph. If degrees is nil,
// they are computed from a.
func MeanOf(a *mat.CSR, degrees []float64) Operator {
	scale := scales(a, degrees, func(degree float64) float64 { return 1 / (degree + 1) })
	return Operator{Adj: a, Left: scale, Self: 1}
}

// scales returns f(Σ_j A_ij) for each i. If degrees is not nil, it contains these sums.
func scales(a *mat.CSR, degrees []float64, f func(degree float64) float64) []float32 {
	scale := memory.Make[float32](a.Rows)
	const chunk = 1 << 14
	parallel.For(a.Rows, chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			degree := float64(a.Indptr[i+1] - a.Indptr[i])
			switch {
			case degrees != nil:
				degree = degrees[i]
			case a.Data != nil:
				degree = 0
				for _, w := range a.Data[a.Indptr[i]:a.Indptr[i+1]] {
					degree += float64(w)
				}
			}
			scale[i] = float32(f(degree))
		}
	})
	return scale
}

// T returns the transpose of P. It copies A only if A is triangular. P must not be a transpose.
func (o Operator) T() Operator {
	if o.Adj.LowerTriangular() {
		o.Adj, _, _ = o.Adj.Transpose(context.Background())
	}
	o.Left, o.Right = o.Right, o.Left
	return o
}

// nodeChunk is the number of rows of a product that one task computes: about a hundred thousand multiplications at
// usual degrees.
const nodeChunk = 256

// Apply sets dst to P·x, n×d. dst must not alias x. A sparse x is never converted to dense. Features of a type that is
// neither *mat.Dense nor *mat.CSR are read in blocks of columns. Apply stops between blocks of rows when ctx is done,
// and returns ctx.Err() or the error of x.ReadBlock.
func (o Operator) Apply(ctx context.Context, dst *mat.Dense, x mat.Matrix) error {
	_, d := x.Dims()
	dst.Reshape(o.Adj.Rows, d)
	return o.ApplyInto(ctx, dst, x, nil, nil)
}

// ApplyRows sets row r of dst to row rows[r] of P·x. If position is not nil, the features of node j are in row
// position[j] of x, which must contain the given nodes and all their neighbours. The result is bit-identical to Apply.
func (o Operator) ApplyRows(ctx context.Context, dst *mat.Dense, x mat.Matrix, rows, position []int32) error {
	_, d := x.Dims()
	dst.Reshape(len(rows), d)
	if len(rows) == 0 {
		return ctx.Err()
	}
	return o.ApplyInto(ctx, dst, x, rows, position)
}

// ApplyInto is ApplyRows into a dst that already has its shape. If dst has more columns than x, the extra ones are not
// modified. Nil rows mean all nodes in order. The result is bit-identical however features are cut into blocks of
// columns.
func (o Operator) ApplyInto(ctx context.Context, dst *mat.Dense, x mat.Matrix, rows, position []int32) error {
	have, d := x.Dims()
	n := o.Adj.Rows
	if position == nil && have != n {
		panic(fmt.Sprintf("graph: operator of %d nodes on %d rows", n, have))
	}
	count := len(rows)
	if rows == nil {
		count = n
	}
	if rows == nil && position != nil || dst.Rows != count || dst.Cols < d {
		panic(fmt.Sprintf("graph: %d rows of %d columns, into %d×%d", count, d, dst.Rows, dst.Cols))
	}
	call := application{o, *dst, 0, d, x, rows, position}
	switch x.(type) {
	case *mat.Dense, *mat.CSR:
		return applications.ForContext(ctx, count, nodeChunk, call, (*application).run)
	}
	return call.read(ctx, count)
}

// application holds the arguments of ApplyInto. It writes d columns of dst, from column first on.
type application struct {
	Operator
	dst            mat.Dense // a copy of the header
	first, d       int
	x              mat.Matrix
	rows, position []int32
}

var applications parallel.Loop[application]

func (a *application) run(lo, hi int) {
	ldd := a.dst.Cols
	switch x := a.x.(type) {
	case *mat.Dense:
		to, adj := a.dst.Data[lo*ldd+a.first:(hi-1)*ldd+a.first+a.d], a.Adj
		scaled := kernel.Sparse{
			Indptr: adj.Indptr, Indices: adj.Indices, Weights: adj.Data, Left: a.Left, Right: a.Right, Self: a.Self,
		}
		if a.rows == nil {
			kernel.Gather(kernel.Rows(to, ldd), scaled, lo, hi, kernel.Rows(x.Data, x.Cols), a.d)
		} else {
			kernel.GatherRows(kernel.Rows(to, ldd), scaled, a.rows[lo:hi], a.position, kernel.Rows(x.Data, x.Cols), a.d)
		}
	case *mat.CSR:
		for r := lo; r < hi; r++ {
			i := int32(r)
			if a.rows != nil {
				i = a.rows[r]
			}
			a.scatter(a.dst.Row(r), x, i, a.position)
		}
	}
}

// read applies the operator to features of other matrix types, in blocks of columns, and sets count rows of dst.
func (a *application) read(ctx context.Context, count int) error {
	const width = 64
	n, d := a.x.Dims()
	block, from := mat.NewDense(n, min(width, d)), a.x
	for lo := 0; lo < d; lo += width {
		hi := min(lo+width, d)
		if err := mat.ReadColumns(ctx, block, from, nil, lo, hi); err != nil {
			return err
		}
		a.first, a.d, a.x = lo, hi-lo, block
		if err := applications.ForContext(ctx, count, nodeChunk, *a, (*application).run); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// scatter sets dst to row i of P·x for a sparse x.
func (o Operator) scatter(dst []float32, x *mat.CSR, i int32, position []int32) {
	dst = dst[:x.Cols]
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

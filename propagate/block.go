package propagate

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// run is one propagation, and the memory that its blocks share.
type run struct {
	Propagation
	operator graph.Operator
	rows     []int32
	fields   []field      // of H⁽⁰⁾ … H⁽ᴷ⁻¹⁾
	h        []*mat.Dense // the result

	source mat.Dense    // the block of H⁽⁰⁾ = X, if it is dense
	hop    [2]mat.Dense // the blocks of H⁽ˡ⁾ for odd and for even l
}

// rowChunk is the number of rows that one task copies.
const rowChunk = 256

// block computes columns lo to hi of H⁽¹⁾ … H⁽ᴷ⁾.
func (r *run) block(ctx context.Context, x mat.Matrix, lo, hi int) error {
	x = r.columns(x, lo, hi)
	from := x
	for l := 1; l < r.Hops; l++ {
		to := &r.hop[l%2]
		_, width := from.Dims() // at least hi−lo: the zeros behind are carried along
		to.Reshape(r.fields[l].size(r.operator.Adj.Rows), width)
		if err := r.operator.ApplyBlock(ctx, to, 0, from, r.fields[l].nodes, r.fields[l-1].position); err != nil {
			return err
		}
		r.teleport(to, 0, hi-lo, x, r.fields[l].nodes)
		r.keep(r.h[l], to, l, lo, hi)
		from = to
	}
	last := r.h[r.Hops]
	if err := r.operator.ApplyBlock(ctx, last, lo, from, r.rows, r.fields[r.Hops-1].position); err != nil {
		return err
	}
	r.teleport(last, lo, hi-lo, x, r.rows)
	return ctx.Err()
}

// columns returns columns lo to hi of x, without a copy where these are all. Each dense row then has cache lines of its own, with zeros
// behind its last column.
func (r *run) columns(x mat.Matrix, lo, hi int) mat.Matrix {
	if _, d := x.Dims(); hi-lo == d {
		return x
	}
	switch x := x.(type) {
	case *mat.Dense:
		r.source.Reshape(x.Rows, (hi-lo+unit-1)/unit*unit)
		parallel.For(x.Rows, rowChunk, func(first, end int) {
			for i := first; i < end; i++ {
				row := r.source.Row(i)
				clear(row[copy(row, x.Row(i)[lo:hi]):])
			}
		})
		return &r.source
	case *mat.CSR:
		return x.Columns(lo, hi)
	}
	panic(fmt.Sprintf("propagate: columns of a %T", x))
}

// keep copies the rows of H⁽ˡ⁾ that the result has from the block of columns lo to hi.
func (r *run) keep(dst, block *mat.Dense, l, lo, hi int) {
	parallel.For(len(r.rows), rowChunk, func(first, end int) {
		for i := first; i < end; i++ {
			copy(dst.Row(i)[lo:hi], block.Row(r.fields[l].row(r.rows[i])))
		}
	})
}

// teleport sets h to (1−β)·h + β·x in the given number of columns from first on, x being a block of as many features, and row r of h that of node nodes[r];
// nil nodes are all. It does so for PPR; the other methods leave h as it is.
func (r *run) teleport(h *mat.Dense, first, columns int, x mat.Matrix, nodes []int32) {
	if r.Method != PPR {
		return
	}
	beta := float32(r.Teleport)
	parallel.For(h.Rows, rowChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := h.Row(i)[first : first+columns]
			for j := range row {
				row[j] *= 1 - beta
			}
			v := int32(i)
			if nodes != nil {
				v = nodes[i]
			}
			switch x := x.(type) {
			case *mat.Dense:
				for j, feature := range x.Row(int(v))[:columns] {
					row[j] += float32(beta * feature)
				}
			case *mat.CSR:
				for j, feature := range x.Row(int(v)) {
					row[j] += float32(beta * feature)
				}
			}
		}
	})
}

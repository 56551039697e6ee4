package graph

import (
	"slices"

	"github.com/graph-condensation/cgc/mat"
)

// changed applies a function to features of any matrix type as they are read.
type changed struct {
	of    mat.Matrix
	apply func(block *mat.Dense, rows []int32, first int) // first is the first column of the block
}

// Dims implements mat.Matrix.
func (c *changed) Dims() (rows, cols int) { return c.of.Dims() }

// PanelWidth implements mat.Paneled.
func (c *changed) PanelWidth() int { return mat.PanelWidth(c.of) }

// ReadBlock implements mat.Matrix.
func (c *changed) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	if err := mat.Read(dst, c.of, rows, lo, hi); err != nil {
		return err
	}
	c.apply(dst, rows, lo)
	return nil
}

// selectRows returns the given rows of x: a copy of the same type for *mat.Dense and *mat.CSR, else a matrix that reads
// x.
func selectRows(x mat.Matrix, rows []int32) mat.Matrix {
	switch x := x.(type) {
	case *mat.Dense:
		some := new(mat.Dense)
		x.Gather(some, rows)
		return some
	case *mat.CSR:
		return x.Select(rows)
	}
	return mat.RowsOf(x, slices.Clone(rows))
}

package graph

import (
	"cmp"
	"context"
	"slices"

	"github.com/graph-condensation/cgc/internal/memory"
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
		return x.Select(rows).Dense()
	case *mat.CSR:
		return x.Select(rows)
	}
	return mat.RowsOf(x, slices.Clone(rows))
}

// selectColumns returns the given columns of x, in any order and without repeats: a copy of the same type for
// *mat.Dense and *mat.CSR, else a matrix that reads x.
func selectColumns(x mat.Matrix, columns []int) mat.Matrix {
	some := &columnsOf{x, columns}
	switch x := x.(type) {
	case *mat.Dense:
		copied := new(mat.Dense)
		_ = mat.ReadColumns(context.Background(), copied, some, nil, 0, len(columns)) // reading a *Dense never fails
		return copied
	case *mat.CSR:
		return some.sparse(x)
	}
	return some
}

// columnsOf is some columns of a matrix, in any order.
type columnsOf struct {
	of      mat.Matrix
	columns []int
}

// Dims implements mat.Matrix.
func (c *columnsOf) Dims() (rows, cols int) {
	rows, _ = c.of.Dims()
	return rows, len(c.columns)
}

// ReadBlock implements mat.Matrix. It reads the range of columns that contains those of the block.
func (c *columnsOf) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	dst.Reshape(len(rows), hi-lo)
	if lo == hi {
		return nil
	}
	columns := c.columns[lo:hi]
	first, all := slices.Min(columns), new(mat.Dense)
	if err := mat.Read(all, c.of, rows, first, slices.Max(columns)+1); err != nil {
		return err
	}
	for i := range rows {
		from, to := all.Row(i), dst.Row(i)
		for k, j := range columns {
			to[k] = from[j-first]
		}
	}
	return nil
}

// sparse returns the columns of a sparse x, ascending within each row.
func (c *columnsOf) sparse(x *mat.CSR) *mat.CSR {
	place := memory.Filled[int32](x.Cols, -1)
	for k, j := range c.columns {
		place[j] = int32(k)
	}
	some := &mat.CSR{Rows: x.Rows, Cols: len(c.columns), Indptr: make([]int64, x.Rows+1)}
	if x.Data != nil {
		some.Data = []float32{}
	}
	type entry struct {
		column int32
		value  float32
	}
	var row []entry
	for i := range x.Rows {
		row = row[:0]
		for j, v := range x.Row(i) {
			if k := place[j]; k >= 0 {
				row = append(row, entry{k, v})
			}
		}
		slices.SortFunc(row, func(a, b entry) int { return cmp.Compare(a.column, b.column) })
		for _, e := range row {
			some.Indices = append(some.Indices, e.column)
			if some.Data != nil {
				some.Data = append(some.Data, e.value)
			}
		}
		some.Indptr[i+1] = int64(len(some.Indices))
	}
	return some
}

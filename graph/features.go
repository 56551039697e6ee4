package graph

import "github.com/graph-condensation/cgc/mat"

// scaled is features of a type that is read, scaled as they are read.
type scaled struct {
	of      mat.Matrix
	scaling *Scaling
}

// Dims implements mat.Matrix.
func (s scaled) Dims() (rows, cols int) { return s.of.Dims() }

// PanelWidth implements mat.Paneled.
func (s scaled) PanelWidth() int { return mat.PanelWidth(s.of) }

// ReadBlock implements mat.Matrix.
func (s scaled) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	if err := mat.Read(dst, s.of, rows, lo, hi); err != nil {
		return err
	}
	s.scaling.apply(dst, lo)
	return nil
}

// chosen is some rows of features of a type that is read.
type chosen struct {
	of    mat.Matrix
	nodes []int32 // the row of of for each row
}

// Dims implements mat.Matrix.
func (c *chosen) Dims() (rows, cols int) {
	_, cols = c.of.Dims()
	return len(c.nodes), cols
}

// PanelWidth implements mat.Paneled.
func (c *chosen) PanelWidth() int { return mat.PanelWidth(c.of) }

// ReadBlock implements mat.Matrix.
func (c *chosen) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	there := make([]int32, len(rows))
	for r, i := range rows {
		there[r] = c.nodes[i]
	}
	return mat.Read(dst, c.of, there, lo, hi)
}

// selectRows returns the given rows of x in a matrix of the same kind.
func selectRows(x mat.Matrix, rows []int32) mat.Matrix {
	switch x := x.(type) {
	case *mat.Dense:
		some := new(mat.Dense)
		x.Gather(some, rows)
		return some
	case *mat.CSR:
		return selectSparse(x, rows)
	}
	return &chosen{x, rows}
}

func selectSparse(x *mat.CSR, rows []int32) *mat.CSR {
	out := &mat.CSR{Rows: len(rows), Cols: x.Cols, Indptr: make([]int64, len(rows)+1)}
	for i, v := range rows {
		lo, hi := x.Indptr[v], x.Indptr[v+1]
		out.Indices = append(out.Indices, x.Indices[lo:hi]...)
		if x.Data != nil {
			out.Data = append(out.Data, x.Data[lo:hi]...)
		}
		out.Indptr[i+1] = int64(len(out.Indices))
	}
	if x.Data != nil && out.Data == nil {
		out.Data = []float32{} // nil would mean ones
	}
	return out
}

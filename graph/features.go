package graph

import "github.com/graph-condensation/cgc/mat"

// scaled is features of another matrix type, which are scaled as they are read.
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
	return mat.RowsOf(x, rows)
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

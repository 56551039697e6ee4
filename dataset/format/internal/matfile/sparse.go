package matfile

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/dataset/format/internal/csr"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Matrix returns a sparse matrix of at most n rows. The columns of a row are ascending.
func (f *File) Matrix(ctx context.Context, v *Variable, n int) (*mat.CSR, error) {
	if len(v.Shape) != 2 || v.Shape[0] < 0 || v.Shape[1] < 0 || v.Shape[1] > graph.MaxNodes {
		return nil, fmt.Errorf("shape %v, must be rows and at most %d columns", v.Shape, graph.MaxNodes)
	}
	if v.Shape[0] > n { // even empty rows need memory
		return nil, fmt.Errorf("shape %d×%d, must have %d rows, one for each label", v.Shape[0], v.Shape[1], n)
	}
	e, err := f.numbers(v)
	if err != nil {
		return nil, err
	}
	// MATLAB stores columns: the row of each entry, where each column begins, and the values.
	t := &mat.CSR{Rows: v.Shape[1], Cols: v.Shape[0]}
	if t.Indices, err = list[int32](e); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	if t.Indptr, err = list[int64](e); err != nil {
		return nil, fmt.Errorf("columns: %w", err)
	}
	if t.Data, err = list[float32](e); err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	// The arrays may have room for more entries than the matrix has.
	if k := len(t.Indptr); k > 0 {
		used := t.Indptr[k-1]
		if used >= 0 && used <= int64(min(len(t.Indices), len(t.Data))) {
			t.Indices, t.Data = t.Indices[:used], t.Data[:used]
		}
	}
	return csr.Transpose(ctx, t)
}

// list returns the next element as numbers.
func list[T numpy.Number](e *elements) ([]T, error) {
	a, err := e.array(nil)
	if err != nil {
		return nil, err
	}
	return numpy.Numbers[T](a)
}

package pickle

import (
	"context"
	"errors"
	"fmt"

	"github.com/nlpodyssey/gopickle/types"

	"github.com/graph-condensation/cgc/dataset/format/internal/csr"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Matrix is a sparse matrix of scipy, in the layout csr, csc or coo.
type Matrix struct {
	layout string
	field  map[string]any
}

// PyDictSet sets an attribute.
func (m *Matrix) PyDictSet(key, value any) error {
	if name, ok := key.(string); ok {
		m.field[name] = value
	}
	return nil
}

// shape returns the numbers of rows and columns in the header of the matrix: 0 to graph.MaxNodes.
func (m *Matrix) shape() (rows, cols int, err error) {
	shape, ok := m.field["_shape"].(*types.Tuple)
	if !ok || shape.Len() != 2 {
		return 0, 0, errors.New("pickled matrix has no shape")
	}
	rows, okRows := shape.Get(0).(int)
	cols, okCols := shape.Get(1).(int)
	if !okRows || !okCols || rows < 0 || cols < 0 || max(rows, cols) > graph.MaxNodes {
		return 0, 0, fmt.Errorf("pickled matrix has a shape that is not two numbers up to %d", graph.MaxNodes)
	}
	return rows, cols, nil
}

// CSR returns the matrix with the columns of each row ascending. Repeated entries are added up, as scipy does. n limits
// the number of rows, since even empty rows need memory.
func (m *Matrix) CSR(ctx context.Context, n int) (*mat.CSR, error) {
	rows, cols, err := m.shape()
	if err != nil {
		return nil, err
	}
	if rows > n {
		return nil, fmt.Errorf("shape %d×%d, must have %d rows, one for each label", rows, cols, n)
	}
	p := csr.Parts{Layout: m.layout, Rows: rows, Cols: cols}
	columns := "indices"
	if m.layout == "coo" { // the positions are the attributes row and col or, in later versions, coords
		if coords, ok := m.field["coords"].(*types.Tuple); ok && coords.Len() == 2 {
			m.field["row"], m.field["col"] = coords.Get(0), coords.Get(1)
		}
		columns = "col"
		p.Row, err = take[int32](m, "row")
	} else {
		p.Pointers, err = take[int64](m, "indptr")
	}
	if err == nil {
		p.Col, err = take[int32](m, columns)
	}
	if err == nil {
		p.Values, err = take[float32](m, "data")
	}
	if err != nil {
		return nil, err
	}
	return p.CSR(ctx)
}

// take returns an attribute as numbers.
func take[T int32 | int64 | float32](m *Matrix, name string) ([]T, error) {
	v, err := Numbers[T](m.field[name])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

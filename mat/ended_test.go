package mat_test

import (
	"context"
	"errors"
	"testing"

	"github.com/graph-condensation/cgc/internal/product"
	"github.com/graph-condensation/cgc/mat"
)

// Products and transposes return the error of their context after it has ended.
func TestEndedContexts(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	a := &product.Dense{Rows: 3, Cols: 3, Data: make([]float32, 9)}
	s := &mat.CSR{Rows: 3, Cols: 3, Indptr: []int64{0, 2, 2, 3}, Indices: []int32{0, 2, 1}, Data: []float32{1, 2, 3}}
	_, _, transposed := s.Transpose(ctx)
	for name, err := range map[string]error{
		"Mul":       product.Mul(ctx, new(product.Dense), a, a),
		"MulTA":     product.MulTA(ctx, new(product.Dense), a, a),
		"MulTB":     product.MulTB(ctx, new(product.Dense), a, a),
		"MulSparse": product.MulSparse(ctx, new(product.Dense), (*product.CSR)(s), a),
		"Transpose": transposed,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s after the end: error %v", name, err)
		}
	}
}

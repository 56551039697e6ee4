// Package selftrain has the closed-form classifiers that learn from unlabelled nodes where labels are few: a ridge
// classifier of the training nodes' embeddings, and ridge students of its predictions. Package distill uses both.
// Neither is in the paper.
package selftrain

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/mat"
)

// Times returns x·w, with x read in blocks of rows. Errors come from reading x, or from ctx.
func Times(ctx context.Context, x mat.Matrix, w *mat.Dense) (*mat.Dense, error) {
	product := new(mat.Dense)
	switch x := x.(type) {
	case *mat.Dense:
		mat.Mul(product, x, w)
		return product, ctx.Err()
	case *mat.CSR:
		mat.MulSparse(product, x, w)
		return product, ctx.Err()
	}
	n, _ := x.Dims()
	product.Reshape(n, w.Cols)
	var part mat.Dense
	at := 0
	for block, err := range mat.Blocks(x) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("reading features: %w", err)
		}
		mat.Mul(&part, block, w)
		at += copy(product.Data[at:], part.Data)
	}
	return product, nil
}

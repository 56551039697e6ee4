package selftrain_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/selftrain"
	"github.com/graph-condensation/cgc/mat"
)

// A classifier fitted to six labelled embeddings classifies other embeddings. In each class, the embedding with the
// widest margin gets a pseudo-label.
func ExampleConfident() {
	h := &mat.Dense{Rows: 6, Cols: 2, Data: []float32{1, 0, 0.9, 0.1, 1.1, 0, 0, 1, 0.2, 0.8, 0, 1.2}}
	y := []int32{0, 0, 0, 1, 1, 1}
	ridge := mattest.Must(selftrain.FitRidge(context.Background(), h, y, 2))
	unlabelled := &mat.Dense{Rows: 4, Cols: 2, Data: []float32{0.6, 0.5, 0.1, 0.9, 0.8, 0.1, 0.3, 0.5}}
	outputs := new(mat.Dense)
	mat.Mul(outputs, unlabelled, ridge.W)
	rows, classes, err := selftrain.Confident(outputs, []int{3, 3}, 0.34)
	if err != nil {
		panic(err)
	}
	fmt.Println("rows", rows, "classes", classes)
	// Output: rows [1 2] classes [1 0]
}

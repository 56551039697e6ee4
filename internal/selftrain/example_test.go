package selftrain_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/selftrain"
	"github.com/graph-condensation/cgc/mat"
)

// A classifier fitted to six labelled embeddings gives other embeddings a distribution over the classes.
func ExampleFitRidge() {
	h := &mat.Dense{Rows: 6, Cols: 2, Data: []float32{1, 0, 0.9, 0.1, 1.1, 0, 0, 1, 0.2, 0.8, 0, 1.2}}
	y := []int32{0, 0, 0, 1, 1, 1}
	ridge := mattest.Must(selftrain.FitRidge(context.Background(), h, y, 2))
	unlabelled := &mat.Dense{Rows: 2, Cols: 2, Data: []float32{0.55, 0.5, 0.48, 0.53}}
	outputs := new(mat.Dense)
	mat.Mul(outputs, unlabelled, ridge.W)
	ridge.Distribution(outputs, outputs)
	for i := range outputs.Rows {
		fmt.Printf("%.2f\n", outputs.Row(i))
	}
	// Output:
	// [0.97 0.03]
	// [0.00 1.00]
}

package generate_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/internal/generate"
	"github.com/graph-condensation/cgc/mat"
)

// Two of three condensed nodes are similar. One hop over A′ turns X′ into H′.
func Example() {
	ctx := context.Background()
	h := &mat.Dense{Rows: 3, Cols: 2, Data: []float32{1, 0, 0.8, 0.2, 0, 1}}
	a, threshold, err := generate.Adjacency(ctx, h, 0.9, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("edges from node 0:", a.Indices[a.Indptr[0]:a.Indptr[1]], "above", threshold)
	x, _, err := generate.Solve(ctx, a, h, []float64{0, 1}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range x.Rows {
		fmt.Printf("%.2f\n", x.Row(i))
	}
	// Output:
	// edges from node 0: [1] above 0.9
	// [0.90 0.10]
	// [0.90 0.10]
	// [0.00 1.00]
}

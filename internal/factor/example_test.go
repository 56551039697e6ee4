package factor_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// The leading left singular vector of a matrix of rank 1.
func ExampleLeftSingular() {
	x := &mat.Dense{Rows: 3, Cols: 2, Data: []float32{1, 2, 2, 4, 2, 4}}
	u := mattest.Must(factor.LeftSingular(context.Background(), x, 2, rand.NewPCG(1, 2)))
	fmt.Println(u.Cols)
	for i := range u.Rows {
		fmt.Printf("%.3f ", math.Abs(float64(u.Row(i)[0])))
	}
	fmt.Println()
	// Output:
	// 1
	// 0.333 0.667 0.667
}

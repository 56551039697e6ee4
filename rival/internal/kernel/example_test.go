package kernel_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/rival/internal/kernel"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

func ExampleSNTKX() {
	small, err := kernel.NewSNTKX().Condense(context.Background(), learntest.Cliques(), 2, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(small.Method, small.Nodes(), small.Budget, small.Edges())
	// Output: sntk-x 2 [1 1] 0
}

package coarsening_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/rival/internal/coarsening"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

func ExampleACM() {
	small, err := coarsening.NewACM().Condense(context.Background(), learntest.Cliques(), 2, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(small.Method, small.Nodes(), small.Budget, small.Edges())
	// Output: a-cm 2 [1 1] 0
}

package selection_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
	"github.com/graph-condensation/cgc/rival/internal/selection"
)

func ExampleHerding() {
	small, err := selection.NewHerding().Condense(context.Background(), learntest.Cliques(), 4, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(small.Method, small.Nodes(), small.Budget, small.Edges())
	// Output: herding 4 [2 2] 2
}

package selection_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/selection"
)

// cliques returns two cliques of five nodes, one for each class. All nodes train.
func cliques() *graph.Graph {
	b := graph.Builder{Name: "cliques", X: mat.NewDense(10, 2), Y: make([]int32, 10), Classes: 2}
	for v := range 10 {
		b.Y[v] = int32(v / 5)
		b.X.(*mat.Dense).Row(v)[v/5] = 1
		b.Split.Train = append(b.Split.Train, int32(v))
		for u := range v {
			if u/5 == v/5 {
				b.AddEdge(u, v)
			}
		}
	}
	g, _, err := b.Graph()
	if err != nil {
		panic(err)
	}
	return g
}

func ExampleHerding() {
	small, err := selection.NewHerding().Condense(context.Background(), cliques(), 4, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(small.Method, small.Nodes(), small.Budget, small.Edges())
	// Output: herding 4 [2 2] 2
}

package distill_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/distill"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// cliques returns two cliques of five nodes, one for each class. The first two nodes of each are training nodes.
func cliques() *graph.Graph {
	b := graph.Builder{Name: "cliques", X: mat.NewDense(10, 2), Y: make([]int32, 10), Classes: 2}
	for v := range 10 {
		b.Y[v] = int32(v / 5)
		b.X.(*mat.Dense).Row(v)[v/5] = 1
		if v%5 < 2 {
			b.Split.Train = append(b.Split.Train, int32(v))
		} else {
			b.Split.Test = append(b.Split.Test, int32(v))
		}
		for u := range v {
			if u/5 == v/5 {
				b.AddEdge(u, v)
			}
		}
	}
	return mattest.First(b.Graph(context.Background()))
}

func ExampleMethod() {
	method := distill.New()
	method.Unlabelled = distill.Always
	small := mattest.Must(method.Condense(context.Background(), cliques(), 2, 0))
	fmt.Println(small.Method, small.Nodes(), small.Budget, small.Edges())
	for j := range small.Nodes() {
		members := small.Members.Indices[small.Members.Indptr[j]:small.Members.Indptr[j+1]]
		fmt.Println("class", small.Y[j], "stands for", members)
	}
	// Output:
	// cgc-d 2 [1 1] 0
	// class 0 stands for [0 1 2 3 4]
	// class 1 stands for [5 6 7 8 9]
}

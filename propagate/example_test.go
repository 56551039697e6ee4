package propagate_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// path is the path 0–1–2 with a feature at its first node.
func path() propagate.Input {
	adj, _, err := graph.Adjacency(context.Background(), 3, graph.Edges{From: []int32{0, 1}, To: []int32{1, 2}})
	if err != nil {
		panic(err)
	}
	return propagate.Input{Adj: adj, X: &mat.Dense{Rows: 3, Cols: 1, Data: []float32{1, 0, 0}}}
}

// The feature of node 0 reaches node 2 in the second hop.
func ExampleRun() {
	in := path()
	in.Rows = []int32{2}
	p := propagate.Propagation{Rule: propagate.SAGE, Hops: 2}
	h, err := propagate.Run(context.Background(), blocked.Engine{}, p, in)
	if err != nil {
		fmt.Println(err)
		return
	}
	for l, hop := range h {
		fmt.Printf("H(%d) of node 2: %.3f\n", l, hop.Row(0))
	}
	// Output:
	// H(0) of node 2: [0.000]
	// H(1) of node 2: [0.000]
	// H(2) of node 2: [0.167]
}

// ones is a user-defined engine whose embeddings are all 1.
type ones struct{}

func (ones) Embeddings(_ context.Context, p propagate.Propagation, in propagate.Input) ([]mat.View, error) {
	_, d := in.X.Dims()
	h := make([]mat.View, p.Hops+1)
	for l := range h {
		hop := mat.NewDense(len(in.Rows), d)
		for i := range hop.Data {
			hop.Data[i] = 1
		}
		h[l] = hop.View()
	}
	return h, nil
}

func ExampleEngine() {
	in := path()
	in.Rows = []int32{0, 2}
	h, err := propagate.Run(context.Background(), ones{}, propagate.Propagation{Rule: propagate.SGC, Hops: 1}, in)
	fmt.Println(len(h), h[1].Rows(), err)
	// Output: 2 [[1] [1]] <nil>
}

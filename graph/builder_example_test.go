package graph_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Two rings of eight nodes, joined by one edge, are condensed to one node for each ring.
func ExampleBuilder() {
	const n = 16
	b := graph.Builder{Name: "rings", X: mat.NewDense(n, 2), Y: make([]int32, n)}
	for i := range n {
		ring := i / 8
		b.AddEdge(i, 8*ring+(i+1)%8)
		b.X.(*mat.Dense).Row(i)[ring] = 1
		b.Y[i] = int32(ring)
		b.Split.Train = append(b.Split.Train, int32(i))
	}
	b.AddEdge(7, 8)
	b.AddEdge(8, 7) // the same edge
	g, changes, err := b.Graph(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(changes)

	config := cgc.Defaults()
	config.Nodes = 2
	small, err := cgc.Condense(context.Background(), g, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d nodes of classes %v stand for %d\n", len(small.Y), small.Y, g.Nodes())
	// Output:
	// 18 edge entries became 17 undirected edges (1 repeat or opposite direction merged)
	// 2 nodes of classes [0 1] stand for 16
}

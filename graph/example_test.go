package graph_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// cycle is the cycle 0–1–2–3–0 with one feature for each node.
func cycle() *graph.Graph {
	b := graph.Builder{
		Name: "square", X: &mat.Dense{Rows: 4, Cols: 1, Data: []float32{1, 2, 3, 4}}, Y: []int32{0, 0, 1, 1},
		Split: graph.Split{Train: []int32{0, 2}},
	}
	for v := range 4 {
		b.AddEdge(v, (v+1)%4)
	}
	g, _, err := b.Graph(context.Background())
	if err != nil {
		panic(err)
	}
	return g
}

// The mean over the neighbours and the node itself.
func ExampleOperator_Apply() {
	g := cycle()
	var h mat.Dense
	if err := graph.Mean(g.Adj).Apply(context.Background(), &h, g.X); err != nil {
		fmt.Println(err)
		return
	}
	for v := range h.Rows {
		fmt.Printf("%.3f\n", h.Row(v))
	}
	// Output:
	// [2.333]
	// [2.000]
	// [3.000]
	// [2.667]
}

// Â of a cycle: each node has two neighbours, so all its entries are 1/3.
func ExampleSymmetric() {
	g := cycle()
	identity := mat.NewDense(4, 4)
	for v := range 4 {
		identity.Row(v)[v] = 1
	}
	var a mat.Dense
	if err := graph.Symmetric(g.Adj).Apply(context.Background(), &a, identity); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", a.Row(0))
	// Output: [0.33 0.33 0.00 0.33]
}

// The subgraph of three nodes keeps two edges, and the split of these nodes.
func ExampleGraph_Induced() {
	sub := cycle().Induced([]int32{0, 2, 3})
	fmt.Println(sub.Nodes(), "nodes,", sub.Edges(), "edges, labels", sub.Y, "training nodes", sub.Split.Train)
	// Output: 3 nodes, 2 edges, labels [0 1 1] training nodes [0 1]
}

// Validate names the reasons why a graph is not valid.
func ExampleGraph_Validate() {
	g := cycle()
	g.Y = []int32{0, 0, 1, 5}
	g.Split.Val = []int32{2}
	fmt.Println(g.Validate(context.Background()))
	// Output:
	// label 5 of node 3, must be 0 to 1
	// node 2 of split val: it is in train too
}

// Over the training nodes, the scaled feature has mean 0 and variance 1.
func ExampleFitScaling() {
	g := cycle()
	s, err := graph.FitScaling(g.X, g.Split.Train)
	if err != nil {
		fmt.Println(err)
		return
	}
	scaled, err := g.Scaled(context.Background(), s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Mean, s.Std, scaled.X.(*mat.Dense).Data)
	// Output: [2] [1] [-1 0 1 2]
}

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

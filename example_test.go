package cgc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
)

// Condense a graph, keep the result in a file, and read it back.
func Example() {
	ctx := context.Background()
	g := synth.Demo()
	config := cgc.Defaults()
	config.Nodes, config.Threshold = 70, 0.5
	small, err := cgc.Condense(ctx, g, config)
	if err != nil {
		panic(err)
	}
	folder, err := os.MkdirTemp("", "cgc")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "demo70.safetensors")
	if err := small.Save(ctx, path); err != nil {
		panic(err)
	}
	loaded, err := cgc.Load(path)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s: %d nodes become %d, with %d edges\n", loaded.Graph, loaded.GraphNodes, loaded.Nodes(), loaded.Edges())
	fmt.Println("condensed nodes of each class:", loaded.Budget)
	// Output:
	// demo: 4000 nodes become 70, with 22 edges
	// condensed nodes of each class: [10 10 10 10 10 10 10]
}

// A graph neural network that is trained on the condensed graph is tested on the full graph.
func ExampleCondense_evaluate() {
	ctx := context.Background()
	g := synth.Demo()
	config, _ := cgc.DefaultsFor(g)
	config.Standardize = true
	small, err := cgc.Condense(ctx, g, config)
	if err != nil {
		panic(err)
	}
	seen, err := small.Seen(ctx, g) // standardised as the condensed graph is
	if err != nil {
		panic(err)
	}
	target, err := gnn.NewTarget(seen, small.Inductive)
	if err != nil {
		panic(err)
	}
	training := gnn.Defaults()
	training.Epochs = 60
	result, err := gnn.Train(ctx, gnn.GCN(), experiment.Sample(small), target, training, rand.NewPCG(1, 0))
	if err != nil {
		panic(err)
	}
	fmt.Println("more than 85% of the test nodes are right:", result.Test > 85)
	// Output: more than 85% of the test nodes are right: true
}

// Build your own graph from its edges, its features and the known labels.
func ExampleCondense_edges() {
	b := graph.Builder{Name: "ring", X: mat.NewDense(60, 2)}
	for v := range 60 {
		b.AddEdge(v, (v+1)%60)
		class := int32(v / 30) // half of the ring for each class
		b.Y = append(b.Y, class)
		copy(b.X.(*mat.Dense).Row(v), []float32{float32(v % 5), float32(3 * class)})
		if v%3 == 0 {
			b.Split.Train = append(b.Split.Train, int32(v))
		} else {
			b.Split.Test = append(b.Split.Test, int32(v))
		}
	}
	g, _, err := b.Graph(context.Background())
	if err != nil {
		panic(err)
	}
	config := cgc.Defaults()
	config.LabelRatio = 0.2
	small, err := cgc.Condense(context.Background(), g, config)
	if err != nil {
		panic(err)
	}
	fmt.Println(g.Nodes(), "nodes,", g.Edges(), "edges,", len(g.Split.Train), "training nodes")
	fmt.Println("condensed to classes", small.Y)
	// Output:
	// 60 nodes, 60 edges, 20 training nodes
	// condensed to classes [0 0 1 1]
}

// Many sizes, seeds and methods share one preparation.
func ExamplePrepare() {
	ctx := context.Background()
	config := cgc.Defaults()
	config.Nodes = 70
	prepared, err := cgc.Prepare(ctx, synth.Demo(), config)
	if err != nil {
		panic(err)
	}
	for _, variant := range cgc.Variants() {
		config.Variant = variant
		small, err := prepared.With(ctx, config)
		if err != nil {
			panic(err)
		}
		fmt.Println(variant, small.Nodes(), small.Adj != nil)
	}
	// Output:
	// cgc 70 true
	// cgc-x 70 false
	// simdm 70 false
}

// Stripes puts row i of a class into group i mod k. Rows are in the order of the nodes.
type Stripes struct{}

// Partition implements partition.Partitioner.
func (Stripes) Partition(ctx context.Context, x [][]float32, k int, _ rand.Source) (partition.Groups, error) {
	if k < 1 || k > len(x) {
		return partition.Groups{}, errors.New("more groups than rows")
	}
	groups := partition.Groups{Of: make([]int32, len(x)), K: k}
	for i := range x {
		groups.Of[i] = int32(i % k)
	}
	return groups, ctx.Err()
}

// A configuration selects your own partitioner by the name under which it is registered. Your own engine is set as
// Config.Engine: see propagate.Engine.
func ExampleConfig_partition() {
	partition.Register("stripes", Stripes{})
	config := cgc.Defaults()
	config.Nodes, config.Partition = 70, "stripes"
	small, err := cgc.Condense(context.Background(), synth.Demo(), config)
	if err != nil {
		panic(err)
	}
	fmt.Println(small.Nodes(), "nodes by", config.Partition)
	// Output: 70 nodes by stripes
}

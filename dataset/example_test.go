package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/synth"
)

// Open accepts a name, a folder or a file. The graph "demo" is built in.
func ExampleOptions_Open() {
	var o dataset.Options // searches no folder, and never fetches
	g, err := o.Open(context.Background(), "demo")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Nodes(), "nodes,", g.Edges(), "edges")

	_, err = o.Open(context.Background(), "coar")
	var missing *dataset.NotFoundError
	fmt.Println(errors.As(err, &missing), missing.Near)
	// Output:
	// 4000 nodes, 12000 edges
	// true [cora]
}

// Write stores a graph in one file, which opens instantly, in Python too.
func ExampleWrite() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "cgc")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "demo.safetensors")
	if err := dataset.Write(ctx, file, synth.Demo()); err != nil {
		fmt.Println(err)
		return
	}
	g, err := dataset.Options{}.Open(ctx, file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Name, g.Nodes(), g.Features())
	// Output: demo 4000 96
}

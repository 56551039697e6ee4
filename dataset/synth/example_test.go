package synth_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/dataset/synth"
)

// The name of a graph with the sizes of a real one begins with "made-".
func ExampleMake() {
	shape, err := synth.Like("cora")
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := synth.Make(context.Background(), shape, rand.NewPCG(1, 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Name, g.Nodes(), g.Edges())
	// Output: made-cora 2708 5429
}

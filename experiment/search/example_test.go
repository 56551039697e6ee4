package search_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment/search"
)

func ExampleSearch() {
	ctx, g := context.Background(), synth.Demo()
	config := cgc.Defaults()
	config.Nodes = 35
	small, err := cgc.Condense(ctx, g, config)
	if err != nil {
		panic(err)
	}
	space := search.DefaultSpace()
	space.Models, space.Hidden = []string{"sgc", "gcn"}, []int{16}
	r, err := search.Search{Space: space, Trials: 20, Epochs: 27, Finalists: 2}.Run(ctx, small, g)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(r.Trials), "candidates,", len(r.Finalists), "of them trained on the full graph")
	fmt.Println("the choice is above 80% on its test nodes:", r.Finalists[0].WholeTest > 80)
	// Output:
	// 20 candidates, 2 of them trained on the full graph
	// the choice is above 80% on its test nodes: true
}

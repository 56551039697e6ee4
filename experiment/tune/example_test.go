package tune_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment/tune"
	"github.com/graph-condensation/cgc/gnn"
)

// Search with 6 trials. Without a time limit, the result is reproducible.
func ExampleSearch() {
	training := gnn.Defaults()
	training.Epochs, training.Hidden = 3, 4 // smaller than the defaults, to keep the example fast
	search := tune.Search{
		Base: tune.Candidate{Method: auto.New()}, Nodes: 14, Models: []gnn.Model{gnn.SGC()}, Training: training, Trials: 6,
	}
	result, err := search.Run(context.Background(), synth.Demo())
	if err != nil {
		panic(err)
	}
	fmt.Println("auto chooses", result.Choice.Chosen)
	fmt.Println(len(result.Ranked), "ranked,", len(result.Confirmed), "confirmed")
	fmt.Println("taken if ahead by more than noise:", len(result.Best.Changes) == 0 || result.Gain > result.Noise)
	// Output:
	// auto chooses cgc-d unsmoothed
	// 6 ranked, 6 confirmed
	// taken if ahead by more than noise: true
}

package tune_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment/tune"
	"github.com/graph-condensation/cgc/gnn"
)

// Search with 4 trials. Without a time limit, the result is reproducible.
func ExampleSearch() {
	training := gnn.Defaults()
	training.Epochs, training.Hidden = 3, 4 // smaller than the defaults, to keep the example fast
	search := tune.Search{
		Base: tune.Candidate{Config: cgc.Defaults()}, Space: tune.Space(cgc.CGC, cgc.CGCX),
		Models: []gnn.Model{gnn.SGC()}, Training: training, Trials: 4,
	}
	search.Base.Config.Nodes = 14
	result, err := search.Run(context.Background(), synth.Demo())
	if err != nil {
		panic(err)
	}
	fmt.Println(len(result.Ranked), "ranked,", len(result.Confirmed), "confirmed")
	fmt.Println("taken if ahead by more than noise:", len(result.Best.Changes) == 0 || result.Gain > result.Noise)
	for _, prior := range result.Priors {
		fmt.Println("prior", prior.Name, "was found on", prior.FoundOn)
	}
	// Output:
	// 4 ranked, 4 confirmed
	// taken if ahead by more than noise: true
}

package tune_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/tune"
)

// Search with 20 trials. Without a bound on the seconds, the result repeats.
func ExampleSearch() {
	training := gnn.Defaults()
	training.Epochs, training.Hidden = 3, 4 // for an example; leave them
	search := tune.Search{
		Base: tune.Candidate{Config: cgc.Defaults()}, Space: tune.Space(cgc.CGC, cgc.CGCX),
		Models: []gnn.Model{gnn.SGC()}, Training: training, Trials: 20,
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
	// 20 ranked, 12 confirmed
	// taken if ahead by more than noise: true
	// prior few-labels was found on [cora citeseer demo]
}

package experiment_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
)

// Measure one method: three condensations with one training run each, and one training run on the full graph.
func ExamplePlan() {
	training := gnn.Defaults()
	training.Epochs, training.Hidden = 10, 16 // smaller than the defaults, to keep the example fast
	result, err := experiment.Plan{
		Method: cgc.Defaults(), Size: condense.Size{Nodes: 28}, Training: training,
		Seeds: 3, Models: []gnn.Model{gnn.SGC()}, Whole: 1,
	}.Run(context.Background(), synth.Demo())
	if err != nil {
		panic(err)
	}
	mean, _ := result.Small[0].TestMean()
	fmt.Println(len(result.Condensed), "condensed graphs, above chance:", mean > 100/7.)
	fmt.Println(len(result.Whole[0].Test), "training on the full graph")
	// Output:
	// 3 condensed graphs, above chance: true
	// 1 training on the full graph
}

// Evaluate a condensed graph, such as one from condense.Load, with two models and five training runs each.
func ExampleEvaluation() {
	ctx, g := context.Background(), synth.Demo()
	config := cgc.Defaults()
	config.Nodes = 28
	small, err := cgc.Condense(ctx, g, config)
	if err != nil {
		panic(err)
	}
	training := gnn.Defaults()
	training.Epochs, training.Hidden = 10, 16 // smaller than the defaults, to keep the example fast
	scores, err := experiment.Evaluation{
		Models: []gnn.Model{gnn.GCN(), gnn.SGC()}, Training: training, Trainings: 5,
	}.Run(ctx, small, g)
	if err != nil {
		panic(err)
	}
	for _, s := range scores {
		fmt.Println(s.Model, len(s.Test), "trainings, interval found:", s.TestCI95() > 0)
	}
	// Output:
	// gcn 5 trainings, interval found: true
	// sgc 5 trainings, interval found: true
}

// Compare two arms seed by seed. Differences between seeds cancel out.
func ExampleCompare() {
	var records []experiment.Record
	for seed, test := range [][2]float64{{80, 82}, {70, 71}, {75, 77}} {
		for i, arm := range []string{"plain", "better"} {
			records = append(records, experiment.Record{
				Arm: arm, Config: written(cgc.Defaults(), 10, uint64(seed)), Nodes: 10, Seed: uint64(seed), Test: test[i],
			})
		}
	}
	all := experiment.Summarize(records)
	c := experiment.Compare(all[1], all[0])
	fmt.Printf("%s − %s: %.2f points over %d seeds: %s\n", c.Arm, c.Base, c.Difference.Mean, c.Seeds, c.Verdict)
	// Output:
	// better − plain: 1.67 points over 3 seeds: better
}

package model_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/experiment/model"
	"github.com/graph-condensation/cgc/gnn"
)

func Example() {
	ctx, g := context.Background(), synth.Demo()
	config := cgc.Defaults()
	config.Nodes = 70
	small, err := cgc.Condense(ctx, g, config)
	if err != nil {
		panic(err)
	}
	training := gnn.Defaults()
	training.Epochs = 50
	e := experiment.Evaluation{Models: []gnn.Model{gnn.GCN()}, Training: training, Trainings: 1}
	best, err := e.Best(ctx, small, g)
	if err != nil {
		panic(err)
	}
	p, err := model.Of(small, best).Probabilities(ctx, g, g.Split.Test, 0)
	if err != nil {
		panic(err)
	}
	fmt.Println(best.Model, "gives", p.Rows, "nodes the probabilities of", p.Cols, "classes")
	// Output:
	// gcn gives 1000 nodes the probabilities of 7 classes
}

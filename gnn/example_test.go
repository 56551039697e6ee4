package gnn_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/mat"
)

// Train a GCN on the training nodes of a graph, and predict the classes of all its nodes.
func Example() {
	ctx, g := context.Background(), synth.Demo()
	target, err := gnn.NewTarget(g, false)
	if err != nil {
		panic(err)
	}
	config := gnn.Defaults()
	config.Epochs, config.Hidden = 30, 32 // smaller than the defaults, to keep the example fast
	r, err := gnn.Train(ctx, gnn.GCN(), target.Sample(), target, config, rand.NewPCG(1, 1))
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Model, len(r.Losses), r.Test > 70)

	logits, err := r.Trained.Logits(ctx, g.Adj, g.X)
	if err != nil {
		panic(err)
	}
	fmt.Println(logits.Dims())
	var test mat.Dense
	logits.Gather(&test, g.Split.Test)
	fmt.Println(gnn.Accuracy(&test, g.Labels(g.Split.Test)) == r.Test)
	// Output:
	// gcn 30 true
	// 4000 7
	// true
}

// A mapped graph that is larger than the memory limit is read from its file in order. This graph is smaller, so there
// is no plan.
func ExampleTargetWithin() {
	target, err := gnn.TargetWithin(context.Background(), synth.Demo(), false, 1<<30)
	if err != nil {
		panic(err)
	}
	defer target.Close()
	plan, err := target.Plan(gnn.GCN(), 256)
	fmt.Println(target.Streams(), plan == nil, err)
	// Output: false true <nil>
}

// Differentiate the gradient of a training step with respect to X′ and A′, as gradient-matching methods do.
func ExampleVariableInput() {
	m := gnn.GCN()
	random := rand.New(rand.NewPCG(1, 1))
	weights := gnn.Initial(m, 4, 8, 2, random)
	learnt, x := mat.NewDense(3, 3), mat.NewDense(3, 4)
	for i := range x.Data {
		x.Data[i] = float32(random.NormFloat64())
	}
	learnt.Row(0)[1], learnt.Row(1)[0] = 0.5, 0.5

	t := autodiff.NewTape()
	a, features := t.Var(learnt), t.Var(x)
	var parameters []*autodiff.Var
	for _, w := range weights {
		parameters = append(parameters, t.Var(w))
	}
	z := m.Forward(t, gnn.VariableInput(a, features), parameters)
	loss := t.CrossEntropy(z, t.Var(autodiff.OneHot([]int32{0, 1, 0}, 2)))
	g := t.Grad(loss, parameters...)[0] // on the tape, as a function of A′ and X′
	size := t.Sum(t.Mul(g, g))
	for _, d := range t.Grad(size, a, features) {
		fmt.Println(d.Value.Dims())
	}
	// Output:
	// 3 3
	// 3 4
}

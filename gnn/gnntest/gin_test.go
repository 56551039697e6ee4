package gnntest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/gnn/gnntest"
)

// gin is a graph isomorphism network with ε = 0 (Xu et al. 2019): Z = (A + I)·ReLU((A + I)·X·W₁ + b₁)·W₂ + b₂.
type gin struct{}

func init() { gnn.Register(gin{}) }

func (gin) Name() string { return "gin" }

func (gin) Shapes(features, hidden, classes int) []gnn.Shape {
	return []gnn.Shape{
		{Rows: features, Cols: hidden}, {Rows: 1, Cols: hidden, Bias: true},
		{Rows: hidden, Cols: classes}, {Rows: 1, Cols: classes, Bias: true},
	}
}

func (gin) Forward(t *autodiff.Tape, in *gnn.Input, p []*autodiff.Var) *autodiff.Var {
	layer := func(x, bias *autodiff.Var) *autodiff.Var { return t.AddRow(t.Add(x, in.Sum(x)), bias) }
	h := t.ReLU(layer(in.Times(p[0]), p[1]))
	return layer(t.MatMul(in.Dropout(h), p[2]), p[3])
}

func TestGIN(t *testing.T) { gnntest.Test(t, gin{}) }

// Train a registered model in the same way as any other.
func Example() {
	m, err := gnn.Parse("gin")
	if err != nil {
		panic(err)
	}
	target, err := gnn.NewTarget(synth.Demo(), false)
	if err != nil {
		panic(err)
	}
	config := gnn.Defaults()
	config.Epochs = 30
	r, err := gnn.Train(context.Background(), m, target.Sample(), target, config, rand.NewPCG(1, 1))
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Model, r.Test > 70)
	// Output: gin true
}

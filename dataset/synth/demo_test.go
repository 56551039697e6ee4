package synth_test

import (
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// accuracy returns the test accuracy, in percent, of a classifier that predicts the class with the nearest mean of the
// training rows of x. All classes have the same number of training nodes.
func accuracy(g *graph.Graph, x *mat.Dense) float64 {
	mean := mat.NewDense(g.Classes, x.Cols)
	for _, v := range g.Split.Train {
		for j, value := range x.Row(int(v)) {
			mean.Row(int(g.Y[v]))[j] += value * float32(g.Classes) / float32(len(g.Split.Train))
		}
	}
	correct := 0
	for _, v := range g.Split.Test {
		distance := make([]float32, g.Classes)
		for c := range distance {
			for j, value := range x.Row(int(v)) {
				distance[c] += (value - mean.Row(c)[j]) * (value - mean.Row(c)[j])
			}
		}
		if slices.Index(distance, slices.Min(distance)) == int(g.Y[v]) {
			correct++
		}
	}
	return 100 * float64(correct) / float64(len(g.Split.Test))
}

func TestDemoNeedsStructure(t *testing.T) {
	g := synth.Demo()
	mattest.OK(t, g.Validate(t.Context()))
	var h1, h2 mat.Dense
	a := graph.Symmetric(g.Adj)
	mattest.OK(t, a.Apply(t.Context(), &h1, g.X))
	mattest.OK(t, a.Apply(t.Context(), &h2, &h1))
	raw, smooth := accuracy(g, g.X.(*mat.Dense)), accuracy(g, &h2)
	t.Logf("class means of X: %.1f%%, of ÂÂX: %.1f%%", raw, smooth)
	if smooth < raw+10 || smooth >= 95 {
		t.Errorf("class means reach %.1f%% on X and %.1f%% on ÂÂX, want at least 10 points more, and below 95%%", raw, smooth)
	}
}

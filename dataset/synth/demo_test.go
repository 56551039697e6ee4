package synth_test

import (
	"testing"

	"github.com/graph-condensation/cgc/dataset/internal/fixture"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/mat"
)

// ridgeAccuracy trains a ridge classifier on the training rows of x and returns its test accuracy in percent, at the
// penalty that is best on the validation rows.
func ridgeAccuracy(t *testing.T, g *graph.Graph, x *mat.Dense) float64 {
	t.Helper()
	n := len(g.Split.Train)
	d := x.Cols + 1 // a constant for the bias
	row := func(v int32, j int) float64 {
		if j == x.Cols {
			return 1
		}
		return float64(x.Row(int(v))[j])
	}
	right := make([]float64, d*g.Classes)
	gram := factor.NewSymmetric(d)
	for _, v := range g.Split.Train {
		for i := range d {
			for j := range d {
				gram.Row(i)[j] += row(v, i) * row(v, j)
			}
			right[i*g.Classes+int(g.Y[v])] += row(v, i)
		}
	}
	bestVal, bestTest := 0.0, 0.0
	for _, penalty := range []float64{1e-3, 1e-2, 1e-1, 1, 10, 100} {
		s := factor.NewSymmetric(d)
		copy(s.Data, gram.Data)
		for i := range d {
			s.Row(i)[i] += penalty * gram.Trace() / float64(n)
		}
		cholesky := fixture.Must(s.Cholesky(t.Context()))(t)
		w := fixture.Must(cholesky.Solve(t.Context(), right, g.Classes))(t)
		accuracy := func(nodes []int32) float64 {
			correct := 0
			for _, v := range nodes {
				best, most := 0, 0.0
				for c := range g.Classes {
					score := 0.0
					for i := range d {
						score += row(v, i) * w[i*g.Classes+c]
					}
					if c == 0 || score > most {
						best, most = c, score
					}
				}
				if int32(best) == g.Y[v] {
					correct++
				}
			}
			return 100 * float64(correct) / float64(len(nodes))
		}
		if val := accuracy(g.Split.Val); val > bestVal {
			bestVal, bestTest = val, accuracy(g.Split.Test)
		}
	}
	return bestTest
}

func TestDemoNeedsStructure(t *testing.T) {
	g := synth.Demo()
	fixture.OK(t, g.Validate(t.Context()))
	var h1, h2 mat.Dense
	a := graph.Symmetric(g.Adj)
	fixture.OK(t, a.Apply(t.Context(), &h1, g.X))
	fixture.OK(t, a.Apply(t.Context(), &h2, &h1))
	raw, smooth := ridgeAccuracy(t, g, g.X.(*mat.Dense)), ridgeAccuracy(t, g, &h2)
	t.Logf("ridge on X: %.1f%%, on ÂÂX: %.1f%%", raw, smooth)
	if smooth < raw+10 || smooth >= 95 {
		t.Errorf("ridge reaches %.1f%% on X and %.1f%% on ÂÂX, want at least 10 points more, and below 95%%", raw, smooth)
	}
}

package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// process returns the Learner of gcgp with two condensed nodes for g.
func process(t *testing.T, g *graph.Graph, m gcgp) *regression {
	t.Helper()
	start := mattest.Must(learn.Begin(t.Context(), g, 2, 1))
	return mattest.Must(m.regression(t.Context(), start, rand.New(rand.NewPCG(2, 2))))
}

// covariance returns the kernel of two vectors with two layers, by its definition.
func covariance(x, y []float32) float64 {
	xx, yy, xy := 0.0, 0.0, 0.0
	for j := range x {
		xx += float64(x[j]) * float64(x[j])
		yy += float64(y[j]) * float64(y[j])
		xy += float64(x[j]) * float64(y[j])
	}
	sum := xy
	for range 2 {
		next := func(s, a, b float64) float64 { return 2 / math.Pi * math.Asin(2*s/math.Sqrt((1+2*a)*(1+2*b))) }
		xx, yy, xy = next(xx, xx, xx), next(yy, yy, yy), next(xy, xx, yy)
		sum += xy
	}
	return sum
}

// TestPosterior compares the loss with the loss of the posterior mean of two observations, k·(K + ρI)⁻¹y. It inverts
// the 2×2 matrix by hand and propagates features with a dense Â.
func TestPosterior(t *testing.T) {
	g := weighted(t)
	m := newGCGP()
	m.Filter, m.Ridge = 3, 0.2
	r := process(t, g, m)
	h := propagated(t, g, g.X.(*mat.Dense))
	a, b := r.x.Row(0), r.x.Row(1)
	aa, ab, bb := covariance(a, a), covariance(a, b), covariance(b, b)
	noise := 0.2 * (aa + bb) / 2
	aa, bb = aa+noise, bb+noise
	want := 0.0
	for _, v := range g.Split.Train {
		ka, kb := covariance(h.Row(int(v)), a), covariance(h.Row(int(v)), b)
		var mean [2]float64
		for c := range mean {
			ya, yb := float64(r.labels.Row(0)[c]), float64(r.labels.Row(1)[c])
			mean[c] = (ka*(bb*ya-ab*yb) + kb*(aa*yb-ab*ya)) / (aa*bb - ab*ab)
		}
		p := 1 / (1 + math.Exp(mean[1-g.Y[v]]-mean[g.Y[v]]))
		want += 2 * (1 - p) * (1 - p) / float64(2*len(g.Split.Train))
	}
	loss, _, _ := gradient(t, r)
	mattest.Near(t, loss, want, 1e-5, "the loss is") // float32 kernels
}

// TestProcessGradient compares the gradients of the loss of gcgp with central differences.
func TestProcessGradient(t *testing.T) {
	differences(t, "gcgp", process(t, weighted(t), newGCGP()))
}

// TestProcessLearns checks that the regression learns to predict the training nodes of two cliques, although a third of
// all nodes have misleading features.
func TestProcessLearns(t *testing.T) {
	g := planted(t)
	r := process(t, g, newGCGP())
	first := mattest.Must(r.Epoch(t.Context(), 1, nil))
	last := first
	for epoch := 2; epoch <= 50; epoch++ { // later Adam steps can jump over X′ = 0, beyond which all predictions are wrong
		last = mattest.Must(r.Epoch(t.Context(), epoch, nil))
	}
	if !(last < first/3) {
		t.Errorf("the loss falls from %v to %v, want a third of it", first, last)
	}
	small := mattest.Must(newGCGP().Condense(t.Context(), g, 4, 1))
	for i, y := range small.Y {
		if soft := small.Soft.Row(i); gnn.Accuracy(&mat.Dense{Rows: 1, Cols: 2, Data: soft}, []int32{y}) != 100 {
			t.Errorf("condensed node %d of class %d has the labels %v", i, y, soft)
		}
	}
}

package gnn_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

func TestInitial(t *testing.T) {
	for k, p := range gnn.Initial(gnn.GCN(), 100, 50, 7, rand.NewPCG(1, 2)) {
		largest := 0.0
		for _, w := range p.Data {
			largest = max(largest, math.Abs(float64(w)))
		}
		if p.Rows == 1 {
			mattest.Equal(t, largest, 0, "parameter %d, a bias, starts at up to", k)
			continue
		}
		// There are at least 350 uniform values, so all of them are below 0.97 of the limit with probability 0.97³⁵⁰ = 2e-5.
		if limit := math.Sqrt(6 / float64(p.Rows+p.Cols)); largest > limit || largest < 0.97*limit {
			t.Errorf("parameter %d of %d×%d starts at up to %v, want close below %v", k, p.Rows, p.Cols, largest, limit)
		}
	}
}

// TestSteps compares a training run with Adam in float64, with weight decay. The learning rate drops after the third of
// seven epochs.
func TestSteps(t *testing.T) {
	g := blocks(90, 6, 3, 9)
	target := newTarget(t, g, false)
	c := gnn.Config{Hidden: 8, LearningRate: 0.02, WeightDecay: 0.05, Epochs: 7, Drop: 0.25, ValidateEvery: 7}
	got := train(t, gnn.GCN(), target.Sample(), target, c).Trained.Parameters

	src := rand.NewPCG(11, 12) // as in train
	want := gnn.Initial(gnn.GCN(), 6, 8, 3, src)
	var first, second [][]float64
	for _, p := range want {
		first, second = append(first, make([]float64, len(p.Data))), append(second, make([]float64, len(p.Data)))
	}
	for epoch := 1; epoch <= 7; epoch++ {
		rate := 0.02
		if epoch > 3 {
			rate *= 0.25
		}
		_, gradients := gnn.LossAndGradients(gnn.GCN(), target.Sample(), want)
		for k, p := range want {
			for i, w := range p.Data {
				h := float64(gradients[k].Data[i]) + 0.05*float64(w)
				m, v := &first[k][i], &second[k][i]
				*m = 0.9**m + 0.1*h
				*v = 0.999**v + 0.001*h*h
				step := *m / (1 - math.Pow(0.9, float64(epoch))) / (math.Sqrt(*v/(1-math.Pow(0.999, float64(epoch)))) + 1e-8)
				p.Data[i] = float32(float64(w) - rate*step)
			}
		}
	}
	for k, p := range got {
		for i, w := range p.Data {
			// Adam divides a step by the size of the gradient, so an error of 1e-7 in a gradient of 1e-4 changes a step by 0.1%.
			mattest.Near(t, float64(w), float64(want[k].Data[i]), 2e-5, "parameter %d, element %d:", k, i)
		}
	}
}

func TestSparseDropout(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	x := bags(200, 90, true, random)
	for e := range x.Data {
		x.Data[e] = 1 + random.Float32()
	}
	const p = 0.4
	dropped, transposed := gnn.Dropped(x, p, rand.NewPCG(5, 5))
	whole, kept, stored := x.Dense(), 0, 0
	for i := range x.Rows {
		for j, v := range whole.Row(i) {
			got := dropped.Row(i)[j]
			mattest.Equal(t, transposed.Row(j)[i], got, "element (%d, %d) in the transpose", i, j)
			if v != 0 {
				stored++
			}
			if got != 0 {
				kept++
				// The tolerance covers two roundings of values below 4.
				mattest.Near(t, float64(got), float64(v)/(1-p), 1e-6, "element (%d, %d) is", i, j)
			}
		}
	}
	if share := float64(kept) / float64(stored); math.Abs(share-(1-p)) > 5*math.Sqrt(p*(1-p)/float64(stored)) {
		t.Errorf("%v of the entries kept, want %v up to five standard deviations", share, 1-p)
	}
	again, _ := gnn.Dropped(&mat.CSR{Rows: x.Rows, Cols: x.Cols, Indptr: x.Indptr, Indices: x.Indices}, 0, nil)
	for i, v := range again.Data {
		if want := whole.Data[i] != 0; (v == 1) != want || v != 0 && !want {
			t.Fatalf("without dropout, element %d of a pattern of ones is %v", i, v)
		}
	}
}

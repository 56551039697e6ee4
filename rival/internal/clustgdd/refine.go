package clustgdd

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/adam"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// refinement is step 4.
type refinement struct {
	clustGDD
	h       *mat.Dense // H at the training nodes
	labels  []int32    // of the training nodes
	x       *mat.Dense // F, and X′ after run
	y       []int32    // y′
	classes int
	maps    []*mat.Dense // M_c of each class c: F_c = M_c·F
}

// run trains the second classifier and Δ together, and adds Scale·Δ to x.
func (r *refinement) run(ctx context.Context, src rand.Source) error {
	c := learn.NewWeights(r.x.Cols, r.Hidden, r.classes).Draw(src)
	delta := mat.NewDense(r.x.Dims())
	model, features := adam.New(r.Rate, c.All()...), adam.New(r.FeatureRate, delta)
	model.Decay, features.Decay = r.Decay, r.Decay
	t, count := autodiff.NewTape(), progress.NewCounter(0, r.Epochs)
	for epoch := range r.Epochs {
		if epoch == r.Epochs/2 {
			model.Restart()
			features.Restart()
			model.Rate, features.Rate = r.Rate/10, r.FeatureRate/10
		}
		err := t.Within(ctx, func() error {
			loss, grad := r.gradient(t, c)
			if err := learn.FiniteLoss(refineStep, epoch+1, loss); err != nil {
				return err
			}
			model.Step(grad[:4]...)
			kernel.Scale(grad[4].Data, float32(r.Scale), grad[4].Data)
			features.Step(grad[4])
			return nil
		})
		if err != nil {
			return err
		}
		count.Add(ctx, refineStep)
	}
	kernel.Axpy(float32(r.Scale), delta.Data, r.x.Data)
	return ctx.Err()
}

// gradient returns the objective and its gradients with respect to W₁, b₁, W₂, b₂ and F. They are valid until the next
// use of t. With P_c the prediction for F_c and C classes, the objective is
//
//	CE(H, y) + LabelWeight·Σ_c CE(F_c, y′) + Consistency·Temperature/C·Σ_c ‖P_c − Q‖²,
//
// where Q is the mean of P_c, raised to the power 1/Temperature and normalised. The gradient treats Q as constant.
func (r *refinement) gradient(t *autodiff.Tape, c learn.Weights) (loss float64, grad []*mat.Dense) {
	t.Reset()
	w1, b1, w2, b2, x := t.Var(c.W1), t.Var(c.B1), t.Var(c.W2), t.Var(c.B2), t.Var(r.x)
	bias := t.Add(t.MatMul(b1, w2), b2)
	linear := func(x *autodiff.Var) *autodiff.Var { return t.MatMul(t.MatMul(x, w1), w2) }
	total := t.CrossEntropy(t.AddRow(linear(t.Var(r.h)), bias), t.Var(autodiff.OneHot(r.labels, r.classes)))
	targets := t.Var(autodiff.OneHot(r.y, r.classes))
	synthetic := linear(x) // M_c·(F·W₁·W₂) costs less than (M_c·F)·W₁·W₂ for each class
	predictions := make([]*autodiff.Var, len(r.maps))
	mean := mat.NewDense(synthetic.Value.Dims())
	for i, m := range r.maps {
		z := t.AddRow(t.MatMul(t.Var(m), synthetic), bias)
		total = t.Add(total, t.Scale(float32(r.LabelWeight), t.CrossEntropy(z, targets)))
		predictions[i] = t.Exp(t.LogSoftmax(z))
		kernel.Axpy(1/float32(len(r.maps)), predictions[i].Value.Data, mean.Data)
	}
	sharp := t.Var(sharpened(mean, r.Temperature))
	weight := float32(r.Consistency * r.Temperature / float64(len(r.maps)))
	for _, p := range predictions {
		d := t.Sub(p, sharp)
		total = t.Add(total, t.Scale(weight, t.Sum(t.Mul(d, d))))
	}
	return float64(total.Value.Data[0]), learn.Values(t.Grad(total, w1, b1, w2, b2, x))
}

// sharpened returns each row of p, a distribution, raised to the power 1/temperature and divided by its sum.
func sharpened(p *mat.Dense, temperature float64) *mat.Dense {
	logs := mat.NewDense(p.Rows, p.Cols)
	for i, v := range p.Data {
		logs.Data[i] = float32(math.Log(max(float64(v), math.SmallestNonzeroFloat32)) / temperature)
	}
	return softmax(logs)
}

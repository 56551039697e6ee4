package clustgdd

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/adam"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// smooth returns H = (1−α) Σ_{t<T} αᵗÂᵗX/unit for all nodes.
func (m clustGDD) smooth(ctx context.Context, g *graph.Graph, unit float32) (*mat.Dense, error) {
	h := new(mat.Dense)
	if err := mat.ReadColumns(ctx, h, g.X, nil, 0, g.Features()); err != nil {
		return nil, err
	}
	kernel.Scale(h.Data, float32(1-m.Alpha)/unit, h.Data)
	hop, next := h.Clone(), new(mat.Dense)
	operator := graph.Symmetric(g.Adj)
	for range m.Terms - 1 {
		if err := operator.Apply(ctx, next, hop); err != nil {
			return nil, err
		}
		kernel.Scale(next.Data, float32(m.Alpha), next.Data)
		kernel.Axpy(1, next.Data, h.Data)
		hop, next = next, hop
	}
	return h, ctx.Err()
}

// logits returns the logits (xW₁ + b₁)W₂ + b₂ of the rows of x. It multiplies the matrices first, since there is no
// activation.
func logits(c learn.Weights, x *mat.Dense) *mat.Dense {
	var w, b mat.Dense
	mat.Mul(&w, c.W1, c.W2)
	mat.Mul(&b, c.B1, c.W2)
	z := new(mat.Dense)
	mat.Mul(z, x, &w)
	for i := range z.Rows {
		for j := range z.Row(i) {
			z.Row(i)[j] += b.Data[j] + c.B2.Data[j]
		}
	}
	return z
}

// pretrain returns H and the logits Z of the first classifier at all nodes.
func (m clustGDD) pretrain(ctx context.Context, g *graph.Graph, unit float32, src rand.Source) (
	h, z *mat.Dense, err error,
) {
	if h, err = m.smooth(ctx, g, unit); err != nil {
		return nil, nil, err
	}
	var train, val mat.Dense
	h.Gather(&train, g.Split.Train)
	h.Gather(&val, g.Split.Val)
	c := learn.NewWeights(h.Cols, m.Hidden, g.Classes).Draw(src)
	best, most := c.Clone(), 0.0
	targets := autodiff.OneHot(g.Labels(g.Split.Train), g.Classes)
	steps := adam.New(m.Rate, c.All()...)
	t, count := autodiff.NewTape(), progress.NewCounter(0, m.PretrainEpochs)
	for epoch := range m.PretrainEpochs {
		if epoch == m.PretrainEpochs/2 {
			steps.Restart()
			steps.Rate = m.Rate / 10
		}
		err := t.Within(ctx, func() error {
			t.Reset()
			theta := learn.Put(t, c.All())
			hidden := t.Dropout(t.AddRow(t.MatMul(t.Var(&train), theta[0]), theta[1]), m.Dropout, src)
			loss := t.CrossEntropy(t.AddRow(t.MatMul(hidden, theta[2]), theta[3]), t.Var(targets))
			if err := learn.FiniteLoss(pretrainStep, epoch+1, float64(loss.Value.Data[0])); err != nil {
				return err
			}
			steps.Step(learn.Values(t.Grad(loss, theta...))...)
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		if accuracy := gnn.Accuracy(logits(c, &val), g.Labels(g.Split.Val)); accuracy > most {
			best, most = c.Clone(), accuracy
		}
		count.Add(ctx, pretrainStep)
	}
	if len(g.Split.Val) == 0 {
		best = c
	}
	return h, logits(best, h), ctx.Err()
}

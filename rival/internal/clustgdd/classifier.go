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

// classifier computes the logits (xW₁ + b₁)W₂ + b₂.
type classifier struct{ learn.Weights }

func newClassifier(inputs, hidden, classes int, src rand.Source) classifier {
	c := classifier{learn.NewWeights(inputs, hidden, classes)}
	c.Draw(src)
	return c
}

// logits returns the logits of the rows of x. It multiplies the matrices first, since there is no activation.
func (c classifier) logits(x *mat.Dense) *mat.Dense {
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
	c := newClassifier(h.Cols, m.Hidden, g.Classes, src)
	best, most := classifier{c.Clone()}, 0.0
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
			w1, b1, w2, b2 := t.Var(c.W1), t.Var(c.B1), t.Var(c.W2), t.Var(c.B2)
			hidden := t.Dropout(t.AddRow(t.MatMul(t.Var(&train), w1), b1), m.Dropout, src)
			loss := t.CrossEntropy(t.AddRow(t.MatMul(hidden, w2), b2), t.Var(targets))
			if err := learn.FiniteLoss(pretrainStep, epoch+1, float64(loss.Value.Data[0])); err != nil {
				return err
			}
			steps.Step(learn.Values(t.Grad(loss, w1, b1, w2, b2))...)
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		if accuracy := gnn.Accuracy(c.logits(&val), g.Labels(g.Split.Val)); accuracy > most {
			best, most = classifier{c.Clone()}, accuracy
		}
		count.Add(ctx, pretrainStep)
	}
	if len(g.Split.Val) == 0 {
		best = c
	}
	return h, best.logits(h), ctx.Err()
}

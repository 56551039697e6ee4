package trajectory

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/rival/learn"
)

// Names of the optimizers of experts.
const (
	SGD  = "sgd"
	Adam = "adam"
)

// Experts are the parameters of the networks that are trained on the original graph.
type Experts struct {
	// Experts is the number of networks, at least 1.
	Experts int `json:"experts"`
	// Optimizer is SGD or Adam, ExpertRate its step size, above 0, and ExpertDecay its weight decay, at least 0.
	Optimizer   string  `json:"expert_optimizer"`
	ExpertRate  float64 `json:"lr_expert"`
	ExpertDecay float64 `json:"expert_decay"`
	// ExpertEpochs is the number of epochs from the start of a student to its target, at least 1.
	ExpertEpochs int `json:"expert_epochs"`
	// MaxStart is the last epoch at which a student may start, at least 0. Starts are the multiples of Interval, which
	// is at least 1.
	MaxStart int `json:"max_start"`
	Interval int `json:"interval"`
	// Hidden is the number of hidden units of experts and students, at least 1.
	Hidden int `json:"hidden"`
}

// starts is the number of epochs at which a student may start.
func (e Experts) starts() int { return e.MaxStart/e.Interval + 1 }

// last is the last epoch of an expert.
func (e Experts) last() int { return (e.starts()-1)*e.Interval + e.ExpertEpochs }

// toTarget is the number of snapshots from a start to its target. Starts and targets are shared where they can be.
func (e Experts) toTarget() int {
	if e.ExpertEpochs%e.Interval == 0 {
		return min(e.starts(), e.ExpertEpochs/e.Interval)
	}
	return e.starts()
}

// snapshots is the number of snapshots of an expert: the starts, then their targets. The last is its end.
func (e Experts) snapshots() int { return e.starts() + e.toTarget() }

// pupil is what experts learn from: logits P·σ(S·W₁ + b₁)·W₂ + b₂ at the training nodes.
type pupil struct {
	relu    bool
	s, st   *mat.CSR // rows of the first layer
	p, pt   *mat.CSR // from these to the training nodes; nil for I
	y       []int32
	classes int
	// size returns the number of training nodes that epoch e sees: the first ones. nil means all.
	size func(epoch int) int
}

// newConvolution returns what a GCN with two layers learns from: S = ÂX at the training nodes and their neighbours, and
// P = Â from these to the training nodes. The nodes are taken in the given order.
func newConvolution(ctx context.Context, s *learn.Start, nodes []int32) (*pupil, error) {
	near, place := learn.Near(s.Graph.Adj, nodes)
	h, err := s.Embeddings(ctx, 1, near)
	if err != nil {
		return nil, err
	}
	p := &pupil{relu: true, s: h[1].Sparse(), classes: len(s.Budget), y: s.Graph.Labels(nodes)}
	p.p = learn.Between(graph.Symmetric(s.Graph.Adj), nodes, place)
	p.st, _ = p.s.Transpose()
	p.pt, _ = p.p.Transpose()
	return p, nil
}

// newLinear returns what a network without ReLU learns from: S = ÂᴷX at the training nodes, and P = I.
func newLinear(ctx context.Context, s *learn.Start, nodes []int32, hops int) (*pupil, error) {
	h, err := s.Embeddings(ctx, hops, nodes)
	if err != nil {
		return nil, err
	}
	p := &pupil{s: h[hops].Sparse(), classes: len(s.Budget), y: s.Graph.Labels(nodes)}
	p.st, _ = p.s.Transpose()
	return p, nil
}

// network is an expert in training.
type network struct {
	*pupil
	weights
	gradients           weights
	u, r, v, e, back, d mat.Dense
}

// gradient sets the gradients to those of the mean cross entropy of the first n training nodes.
func (w *network) gradient(n int) {
	mat.MulSparse(&w.u, w.s, w.w1)
	w.r.Reshape(w.u.Dims())
	for i := range w.u.Rows {
		row := w.u.Row(i)
		kernel.Add(row, row, w.b1.Data)
	}
	hidden := &w.u
	if w.relu {
		kernel.ReLU(w.r.Data, w.u.Data)
		hidden = &w.r
	}
	v := hidden
	if w.p != nil {
		mat.MulSparse(&w.v, w.p, hidden)
		v = &w.v
	}
	mat.Mul(&w.e, v, w.w2)
	clear(w.gradients.b2.Data)
	for i := range w.e.Rows {
		row := w.e.Row(i)
		if i >= n {
			clear(row)
			continue
		}
		kernel.Add(row, row, w.b2.Data)
		kernel.Softmax(row)
		row[w.y[i]]--
		kernel.Scale(row, 1/float32(n), row)
		kernel.Add(w.gradients.b2.Data, w.gradients.b2.Data, row)
	}
	mat.MulTA(w.gradients.w2, v, &w.e)
	d := &w.back
	mat.MulTB(d, &w.e, w.w2)
	if w.pt != nil {
		mat.MulSparse(&w.d, w.pt, d)
		d = &w.d
	}
	if w.relu {
		kernel.ReLUGrad(d.Data, d.Data, w.u.Data)
	}
	mat.MulSparse(w.gradients.w1, w.st, d)
	clear(w.gradients.b1.Data)
	for i := range d.Rows {
		kernel.Add(w.gradients.b1.Data, w.gradients.b1.Data, d.Row(i))
	}
}

// restart draws weights and biases uniform in ±1/√inputs.
func (w weights) restart(src rand.Source) {
	for _, p := range []*mat.Dense{w.w1, w.b1} {
		learn.Uniform(p, w.w1.Rows, src)
	}
	for _, p := range []*mat.Dense{w.w2, w.b2} {
		learn.Uniform(p, w.w2.Rows, src)
	}
}

// expertStream seeds expert i with expertStream + i. Epochs have the streams from 1 on.
const expertStream = 1 << 41

// train trains the experts on p and puts their snapshots into a store. It reports each expert.
func (e Experts) train(ctx context.Context, p *pupil, to *store, seed uint64, stage string) error {
	features := p.s.Cols
	net := &network{
		pupil: p, weights: newWeights(features, e.Hidden, p.classes),
		gradients: newWeights(features, e.Hidden, p.classes),
	}
	adam := learn.NewAdam(e.ExpertRate, net.all()...)
	for expert := range e.Experts {
		net.restart(rand.NewPCG(seed, expertStream+uint64(expert)))
		adam.Restart()
		for epoch := 0; ; epoch++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := e.keep(to, expert, epoch, net.weights); err != nil {
				return err
			}
			if epoch == e.last() {
				break
			}
			n := len(p.y)
			if p.size != nil {
				n = p.size(epoch)
			}
			net.gradient(n)
			for i, g := range net.gradients.all() {
				if e.ExpertDecay > 0 {
					kernel.Axpy(float32(e.ExpertDecay), net.all()[i].Data, g.Data)
				}
				if e.Optimizer == SGD {
					kernel.Axpy(float32(-e.ExpertRate), g.Data, net.all()[i].Data)
				}
			}
			if e.Optimizer == Adam {
				adam.Step(net.gradients.all()...)
			}
		}
		progress.Report(ctx, progress.Event{Stage: stage, Done: int64(expert + 1), Total: int64(e.Experts)})
	}
	return nil
}

// keep puts the weights into the store if the epoch is a start or a target. Weights that are not finite are then an
// error: the expert diverged.
func (e Experts) keep(to *store, expert, epoch int, w weights) error {
	start := epoch%e.Interval == 0 && epoch/e.Interval < e.starts()
	since := epoch - e.ExpertEpochs
	target := since >= 0 && since%e.Interval == 0 && since/e.Interval < e.starts()
	if !start && !target {
		return nil
	}
	for _, m := range w.all() {
		if !kernel.Finite(m.Data) {
			return fmt.Errorf("trajectory: expert %d of %d diverged: its weights are not finite after epoch %d of %d; "+
				"lower lr_expert", expert+1, e.Experts, epoch, e.last())
		}
	}
	if start {
		if err := to.put(expert*e.snapshots()+epoch/e.Interval, w); err != nil {
			return err
		}
	}
	if target {
		return to.put(expert*e.snapshots()+e.toTarget()+since/e.Interval, w)
	}
	return nil
}

// draw reads a random expert's snapshot of a start, given by its place, and the target into the weights.
func (e Experts) draw(from *store, random *rand.Rand, place int, start, target weights) (expert int, err error) {
	expert = random.IntN(e.Experts)
	at := expert*e.snapshots() + place
	if err := from.get(at, start); err != nil {
		return 0, err
	}
	return expert, from.get(at+e.toTarget(), target)
}

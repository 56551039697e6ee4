package trajectory

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/adam"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// SGD and Adam are the names of the optimizers of experts.
const (
	SGD  = "sgd"
	Adam = "adam"
)

// Experts holds the parameters of the networks that are trained on the original graph.
type Experts struct {
	// Experts is the number of networks, at least 1.
	Experts int `json:"experts"`
	// Optimizer is sgd or adam, ExpertRate its step size, above 0, and ExpertDecay its weight decay, at least 0.
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

// starts returns the number of epochs at which a student may start.
func (e Experts) starts() int { return e.MaxStart/e.Interval + 1 }

// last returns the last epoch of an expert.
func (e Experts) last() int { return (e.starts()-1)*e.Interval + e.ExpertEpochs }

// toTarget returns the number of snapshots from a start to its target. If ExpertEpochs is a multiple of Interval, a
// snapshot that is both a start and a target is stored only once.
func (e Experts) toTarget() int {
	if e.ExpertEpochs%e.Interval == 0 {
		return min(e.starts(), e.ExpertEpochs/e.Interval)
	}
	return e.starts()
}

// snapshots returns the number of snapshots of an expert: the starts, followed by their targets. The last snapshot is
// the final state of the expert.
func (e Experts) snapshots() int { return e.starts() + e.toTarget() }

// pupil holds the training data of experts. The logits of experts at the training nodes are P·σ(S·W₁ + b₁)·W₂ + b₂.
type pupil struct {
	relu bool
	s    *learn.Sparse // rows of the first layer
	p    *learn.Sparse // P, from the rows of S to the training nodes; nil for I
	y    *mat.Dense    // one-hot labels
	// size returns how many of the training nodes, counted from the first, are used in epoch e. nil means all.
	size func(epoch int) int
}

// newConvolution returns the training data for a GCN with two layers. S is ÂX at the training nodes and their
// neighbours, and P is Â from these to the training nodes, in the given order.
func newConvolution(ctx context.Context, s *learn.Start, nodes []int32) (*pupil, error) {
	near, place := learn.Near(s.Graph.Adj, nodes)
	h, err := s.Embeddings(ctx, 1, near)
	if err != nil {
		return nil, err
	}
	return &pupil{
		relu: true, s: learn.NewSparse(h[1].Sparse()),
		p: learn.NewSparse(learn.Between(graph.Symmetric(s.Graph.Adj), nodes, place)),
		y: autodiff.OneHot(s.Graph.Labels(nodes), len(s.Budget)),
	}, nil
}

// newLinear returns the training data for a network without ReLU: S = ÂᴷX at the training nodes, and P = I.
func newLinear(ctx context.Context, s *learn.Start, nodes []int32, hops int) (*pupil, error) {
	h, err := s.Embeddings(ctx, hops, nodes)
	if err != nil {
		return nil, err
	}
	y := autodiff.OneHot(s.Graph.Labels(nodes), len(s.Budget))
	return &pupil{s: learn.NewSparse(h[hops].Sparse()), y: y}, nil
}

// gradient returns the gradients at w of the mean cross entropy of the first n training nodes. They are in the memory
// of the tape, which gradient resets.
func (p *pupil) gradient(t *autodiff.Tape, w weights, n int) []*autodiff.Var {
	t.Reset()
	var theta []*autodiff.Var
	for _, m := range w.all() {
		theta = append(theta, t.Var(m))
	}
	hidden := t.AddRow(t.Linear(p.s, theta[0]), theta[1])
	if p.relu {
		hidden = t.ReLU(hidden)
	}
	if p.p != nil {
		hidden = t.Linear(p.p, hidden)
	}
	seen := make([]int32, n)
	for i := range seen {
		seen[i] = int32(i)
	}
	y := &mat.Dense{Rows: n, Cols: p.y.Cols, Data: p.y.Data[:n*p.y.Cols]}
	logits := t.Rows(t.AddRow(t.MatMul(hidden, theta[2]), theta[3]), seen)
	return t.Grad(t.CrossEntropy(logits, t.Var(y)), theta...)
}

// restart draws weights and biases.
func (w weights) restart(src rand.Source) {
	learn.DrawLayer(w.w1, w.b1, src)
	learn.DrawLayer(w.w2, w.b2, src)
}

// expertStream + i is the random stream of expert i. Stream e is that of epoch e.
const expertStream = 1 << 41

// train trains the experts on p and stores their snapshots. It reports each expert.
func (e Experts) train(ctx context.Context, p *pupil, to *store, seed uint64, stage string) error {
	w, tape := newWeights(p.s.Matrix.Cols, e.Hidden, p.y.Cols), autodiff.NewTape()
	steps, gradients := adam.New(e.ExpertRate, w.all()...), make([]*mat.Dense, len(w.all()))
	for expert := range e.Experts {
		w.restart(rand.NewPCG(seed, expertStream+uint64(expert)))
		steps.Restart()
		for epoch := 0; ; epoch++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := e.keep(to, expert, epoch, w); err != nil {
				return err
			}
			if epoch == e.last() {
				break
			}
			n := p.y.Rows
			if p.size != nil {
				n = p.size(epoch)
			}
			for i, g := range p.gradient(tape, w, n) {
				gradients[i] = g.Value
				if e.ExpertDecay > 0 {
					kernel.Axpy(float32(e.ExpertDecay), w.all()[i].Data, g.Value.Data)
				}
				if e.Optimizer == SGD {
					kernel.Axpy(float32(-e.ExpertRate), g.Value.Data, w.all()[i].Data)
				}
			}
			if e.Optimizer == Adam {
				steps.Step(gradients...)
			}
		}
		progress.Report(ctx, progress.Event{Stage: stage, Done: int64(expert + 1), Total: int64(e.Experts)})
	}
	return nil
}

// keep stores the weights if the epoch is a start or a target. If they are not finite, the expert diverged, and keep
// returns an error.
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
		to.put(expert*e.snapshots()+epoch/e.Interval, w)
	}
	if target {
		to.put(expert*e.snapshots()+e.toTarget()+since/e.Interval, w)
	}
	return nil
}

// draw reads two snapshots of a random expert: the start with the given index, and its target.
func (e Experts) draw(from *store, random *rand.Rand, place int, start, target weights) (expert int) {
	expert = random.IntN(e.Experts)
	at := expert*e.snapshots() + place
	from.get(at, start)
	from.get(at+e.toTarget(), target)
	return expert
}

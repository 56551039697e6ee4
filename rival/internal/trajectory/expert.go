package trajectory

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/adam"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
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
	// Experts is the number of experts, at least 1.
	Experts int `json:"experts"`
	// Optimizer is sgd or adam. ExpertRate is its learning rate, above 0. ExpertDecay is its weight decay, at least 0.
	Optimizer   string  `json:"expert_optimizer"`
	ExpertRate  float64 `json:"lr_expert"`
	ExpertDecay float64 `json:"expert_decay"`
	// ExpertEpochs is the number of epochs of the expert from θ₀ to θ*, at least 1.
	ExpertEpochs int `json:"expert_epochs"`
	// MaxStart is the last epoch at which a student may start, at least 0. Starts are the multiples of Interval, which
	// is at least 1.
	MaxStart int `json:"max_start"`
	Interval int `json:"interval"`
	// Hidden is the number of hidden units of experts and students, at least 1.
	Hidden int `json:"hidden"`

	// end is the epoch after which experts end and their last snapshot is taken. 0 means the last target.
	end int
}

// starts returns the number of epochs at which a student may start.
func (e Experts) starts() int { return e.MaxStart/e.Interval + 1 }

// last returns the last epoch of an expert.
func (e Experts) last() int { return max(e.end, e.lastTarget()) }

// lastTarget returns the epoch of the last target.
func (e Experts) lastTarget() int { return (e.starts()-1)*e.Interval + e.ExpertEpochs }

// toTarget returns the number of snapshots from a start to its target. If ExpertEpochs is a multiple of Interval, a
// snapshot that is both a start and a target is stored only once.
func (e Experts) toTarget() int {
	if e.ExpertEpochs%e.Interval == 0 {
		return min(e.starts(), e.ExpertEpochs/e.Interval)
	}
	return e.starts()
}

// snapshots returns the number of snapshots of an expert: the starts, and the targets that are not starts themselves.
// The last snapshot is the final state of the expert.
func (e Experts) snapshots() int {
	n := e.starts() + e.toTarget()
	if e.last() > e.lastTarget() {
		n++
	}
	return n
}

// pupil holds the training data of experts.
type pupil struct {
	*learn.TwoLayers
	// size returns how many of the training nodes, counted from the first, are used in epoch e. nil means all.
	size func(epoch int) int
}

// gradient returns the gradients at w of the mean cross entropy of the first n training nodes. They are in the memory
// of the tape, which gradient resets.
func (p *pupil) gradient(t *autodiff.Tape, w learn.Weights, n int) []*autodiff.Var {
	t.Reset()
	theta, _, logits := p.Forward(t, w)
	y := &mat.Dense{Rows: n, Cols: p.Y.Cols, Data: p.Y.Data[:n*p.Y.Cols]}
	return t.Grad(t.CrossEntropy(t.Rows(logits, memory.Range(0, n)), t.Var(y)), theta...)
}

// expertStream + i is the random stream of expert i. Stream e belongs to epoch e.
const expertStream = 1 << 41

// train trains the experts on p and stores their snapshots. It reports progress after each expert.
func (e Experts) train(ctx context.Context, p *pupil, to *store, seed uint64, stage string) error {
	w, tape := learn.NewWeights(p.S.Matrix.Cols, e.Hidden, p.Y.Cols), autodiff.NewTape()
	steps, gradients := adam.New(e.ExpertRate, w.All()...), make([]*mat.Dense, len(w.All()))
	for expert := range e.Experts {
		w.Draw(rand.NewPCG(seed, expertStream+uint64(expert)))
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
			n := p.Y.Rows
			if p.size != nil {
				n = p.size(epoch)
			}
			for i, g := range p.gradient(tape, w, n) {
				gradients[i] = g.Value
				if e.ExpertDecay > 0 {
					kernel.Axpy(float32(e.ExpertDecay), w.All()[i].Data, g.Value.Data)
				}
				if e.Optimizer == SGD {
					kernel.Axpy(float32(-e.ExpertRate), g.Value.Data, w.All()[i].Data)
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

// keep stores the weights if the epoch is a start, a target or the last. If they are not finite, the expert diverged,
// and keep returns an error.
func (e Experts) keep(to *store, expert, epoch int, w learn.Weights) error {
	start := epoch%e.Interval == 0 && epoch/e.Interval < e.starts()
	since := epoch - e.ExpertEpochs
	target := since >= 0 && since%e.Interval == 0 && since/e.Interval < e.starts()
	end := epoch == e.last() && !target
	if !start && !target && !end {
		return nil
	}
	for _, m := range w.All() {
		if !kernel.Finite(m.Data) {
			return fmt.Errorf("expert %d of %d diverged: its weights are not finite after epoch %d of %d; "+
				"lower lr_expert", expert+1, e.Experts, epoch, e.last())
		}
	}
	if start {
		to.put(expert*e.snapshots()+epoch/e.Interval, w)
	}
	if target {
		to.put(expert*e.snapshots()+e.toTarget()+since/e.Interval, w)
	}
	if end {
		to.put((expert+1)*e.snapshots()-1, w)
	}
	return nil
}

// draw reads two snapshots of a random expert: the start with the given index, and its target.
func (e Experts) draw(from *store, random *rand.Rand, place int, start, target learn.Weights) (expert int) {
	expert = random.IntN(e.Experts)
	at := expert*e.snapshots() + place
	from.get(at, start)
	from.get(at+e.toTarget(), target)
	return expert
}

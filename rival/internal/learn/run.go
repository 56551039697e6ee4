package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// Learner is the state of a method while it learns.
type Learner interface {
	// Epoch runs one epoch and returns its loss. It draws random numbers only from src. If ctx is done, it returns ctx's
	// error within a second.
	Epoch(ctx context.Context, epoch int, src rand.Source) (loss float64, err error)
	// Result returns the current condensed graph. The learner may reuse its memory.
	Result() Iterate
	// State returns all matrices that are passed from one epoch to the next. They are saved in checkpoints.
	State() []*mat.Dense
}

// Chooser is a Learner that chooses its result itself, without validation nodes. Result returns its choice so far.
type Chooser interface {
	Learner
	// Chosen returns the epoch of the choice, and whether no more epochs are needed.
	Chosen() (epoch int, done bool)
}

// Iterate is a condensed graph during learning.
type Iterate struct {
	// X is X′ divided by Start.Unit.
	X *mat.Dense
	// A is A′, dense and symmetric with a zero diagonal, or nil for A′ = I. Threshold is the minimum weight of an edge of
	// the condensed graph; smaller weights become 0.
	A         *mat.Dense
	Threshold float64
	// Soft holds a distribution over the classes for each condensed node, or is nil if labels are not learnt.
	Soft *mat.Dense
}

// parts returns the matrices in the order of checkpoints. Some may be nil.
func (i Iterate) parts() []*mat.Dense { return []*mat.Dense{i.X, i.A, i.Soft} }

// clone returns a copy of i in its own memory.
func (i Iterate) clone() Iterate {
	for _, m := range []**mat.Dense{&i.X, &i.A, &i.Soft} {
		if *m != nil {
			*m = (*m).Clone()
		}
	}
	return i
}

// Plan describes a run: its epochs and how its result is chosen.
type Plan struct {
	// Method, Nodes and Seed are the arguments of the condensation.
	Method condense.Checker
	Nodes  int
	Seed   uint64
	// Epochs is the number of epochs.
	Epochs int
	// Choice is not used if the learner is a Chooser.
	Choice
}

// Account is the run metadata in Condensed.Account.
type Account struct {
	// Epoch is the epoch, from 1 to Epochs, whose iterate is the result.
	Epoch  int `json:"epoch"`
	Epochs int `json:"epochs"`
	// Loss is the loss of the last epoch.
	Loss float64 `json:"loss"`
	// Judgements is the number of validated iterates, and Validation is the best validation accuracy in percent. Without
	// validation nodes, both are 0.
	Judgements int     `json:"judgements"`
	Validation float64 `json:"validation"`
}

// prepareStep, learnStep and judgeStep are the names of the steps in Seconds. judgeStep validates iterates, which
// papers do not count.
const (
	prepareStep = "prepare"
	learnStep   = "learn"
	judgeStep   = "judge"
)

// Run condenses g by plan, with the learner that begin returns. It reports each epoch and writes checkpoints. It
// returns errors of begin and of epochs. If a loss or an iterate is not finite, the error names the epoch.
func Run(
	ctx context.Context, g *graph.Graph, plan Plan, begin func(*Start) (Learner, error),
) (*condense.Condensed, error) {
	work := func(ctx context.Context, task *rival.Task) (*condense.Condensed, error) {
		r := &run{Plan: plan, clock: task.Clock, record: mat.NewDense(1, records)}
		r.record.Data[bestAccuracy] = -1
		if err := r.prepare(ctx, g, begin); err != nil {
			return nil, err
		}
		checkpoint := rival.CheckpointOf(ctx)
		done, err := checkpoint.Resume(r.identity, r.state)
		if err != nil {
			return nil, err
		}
		for epoch := done + 1; epoch <= plan.Epochs && !r.ended(); epoch++ {
			if err := r.epoch(ctx, epoch); err != nil {
				return nil, err
			}
			progress.Report(ctx, progress.Event{
				Stage: plan.Method.Name(), Done: int64(epoch), Total: int64(plan.Epochs),
			})
			if err := checkpoint.Save(ctx, r.identity, epoch, r.state); err != nil {
				return nil, err
			}
		}
		return r.condensed()
	}
	return rival.Run(ctx, plan.Method, g, plan.Nodes, plan.Seed, work, prepareStep, learnStep, judgeStep)
}

// run is the state of a running condensation.
type run struct {
	Plan
	clock   *condense.Clock
	start   *Start
	learner Learner
	chooser Chooser    // the learner if it is a Chooser, else nil
	judge   *judge     // nil without validation nodes, or if there is a chooser
	best    Iterate    // the best iterate so far
	record  *mat.Dense // statistics of best and of the progress, 1×records; a matrix, so that a checkpoint can store it

	// identity describes the work. state is everything that an epoch changes.
	identity string
	state    []*mat.Dense
}

// These are the columns of run.record.
const (
	bestEpoch    = iota // the epoch of the best iterate
	bestAccuracy        // its validation accuracy in percent; -1 before the first validation
	bestError           // its mean error over the training that validated it, in percent
	judgements
	lastLoss // the loss of the last epoch
	records
)

// prepare sets the initial state of a run.
func (r *run) prepare(ctx context.Context, g *graph.Graph, begin func(*Start) (Learner, error)) (err error) {
	defer r.clock.Step(prepareStep)()
	if r.start, err = Begin(ctx, g, r.Nodes, r.Seed); err != nil {
		return err
	}
	if r.learner, err = begin(r.start); err != nil {
		return err
	}
	if r.chooser, _ = r.learner.(Chooser); r.chooser == nil {
		if r.judge, err = newJudge(g, r.JudgeEpochs); err != nil {
			return err
		}
	}
	config, err := condense.Configuration(r.Method, r.Nodes, r.Seed)
	if err != nil {
		return err
	}
	sizes, err := json.Marshal(g.Sizes())
	if err != nil {
		return err
	}
	r.identity = string(config) + string(sizes)
	r.best = r.learner.Result().clone()
	r.state = append(r.state, r.learner.State()...)
	for _, m := range r.best.parts() {
		if m == nil {
			m = mat.NewDense(0, 0)
		}
		r.state = append(r.state, m)
	}
	r.state = append(r.state, r.record)
	return nil
}

// epoch runs one epoch, and validates or keeps its iterate if that is due.
func (r *run) epoch(ctx context.Context, epoch int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	done := r.clock.Step(learnStep)
	loss, err := r.learner.Epoch(ctx, epoch, Source(r.Seed, epoch))
	if err != nil {
		return err
	}
	done()
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return r.diverged("the loss of epoch %d of %d is %v", epoch, r.Epochs, loss)
	}
	r.record.Data[lastLoss] = float32(loss)
	if epoch < r.Epochs && !r.ended() && (r.judge == nil || !r.looks(epoch)) {
		return nil
	}
	defer r.clock.Step(judgeStep)()
	return r.consider(ctx, epoch)
}

// ended reports whether a chooser needs no more epochs.
func (r *run) ended() bool {
	if r.chooser == nil {
		return false
	}
	_, done := r.chooser.Chosen()
	return done
}

// diverged returns the error of a run that has produced non-finite numbers.
func (r *run) diverged(format string, args ...any) error {
	return fmt.Errorf("%s diverged: %s, must be a finite number; lower its learning rates, or scale the features",
		r.Method.Name(), fmt.Sprintf(format, args...))
}

// consider validates the iterate, and keeps it if it is the best so far. Without a judge, it always keeps the iterate.
func (r *run) consider(ctx context.Context, epoch int) error {
	now := r.learner.Result()
	for _, m := range now.parts() {
		if m == nil {
			continue
		}
		row, col, is, err := mat.FirstNotFinite(ctx, m)
		if err != nil {
			return err
		}
		if is {
			return r.diverged("entry (%d, %d) after epoch %d of %d is %v", row, col, epoch, r.Epochs, m.Row(row)[col])
		}
	}
	record := r.record.Data
	if r.judge == nil {
		record[bestAccuracy] = 0
	} else {
		accuracy, meanError, err := r.judge.accuracy(ctx, r.sample(now), r.start.Y, r.Seed)
		if err != nil {
			return err
		}
		record[judgements]++
		a, e := float32(accuracy), float32(meanError)
		if a < record[bestAccuracy] || a == record[bestAccuracy] && e >= record[bestError] {
			return nil
		}
		record[bestAccuracy], record[bestError] = a, e
	}
	if r.chooser != nil {
		epoch, _ = r.chooser.Chosen()
	}
	record[bestEpoch] = float32(epoch)
	best := r.best.parts()
	for i, m := range now.parts() {
		if m != nil {
			copy(best[i].Data, m.Data)
		}
	}
	return nil
}

// sample returns an iterate as a condensed graph: X′ is multiplied by the unit, and A′ has no weights below the
// threshold.
func (r *run) sample(of Iterate) *condense.Condensed {
	of = of.clone()
	small := &condense.Condensed{X: of.X, Y: r.start.Y, Soft: of.Soft}
	kernel.Scale(small.X.Data, r.start.Unit, small.X.Data)
	if of.A != nil {
		for i, w := range of.A.Data {
			if w < float32(of.Threshold) {
				of.A.Data[i] = 0
			}
		}
		small.Adj = of.A.Sparse()
	}
	return small
}

// condensed returns the best iterate with its metadata.
func (r *run) condensed() (*condense.Condensed, error) {
	small, record := r.sample(r.best), r.record.Data
	var err error
	small.Account, err = json.Marshal(Account{
		Epoch: int(record[bestEpoch]), Epochs: r.Epochs, Loss: float64(record[lastLoss]),
		Judgements: int(record[judgements]), Validation: float64(record[bestAccuracy]),
	})
	return small, err
}

// FiniteLoss returns an error that names the step and the epoch if loss is not finite.
func FiniteLoss(step string, epoch int, loss float64) error {
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return fmt.Errorf("the loss of epoch %d of step %s is %v, must be a finite number; "+
			"lower the learning rates, or scale the features", epoch, step, loss)
	}
	return nil
}

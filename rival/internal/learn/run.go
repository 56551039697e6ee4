package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/checkpoint"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// Learner is a method in the course of learning.
type Learner interface {
	// Epoch runs one epoch and returns its loss. It draws random numbers only from src. If ctx is done, it returns ctx's
	// error within a second.
	Epoch(ctx context.Context, epoch int, src rand.Source) (loss float64, err error)
	// Result returns X′ divided by Start.Unit, and A′, dense and symmetric with a zero diagonal, or nil for A′ = I. The
	// learner may reuse the memory of both.
	Result() (x, a *mat.Dense)
	// State returns all matrices that are passed from one epoch to the next. They are saved in checkpoints.
	State() []*mat.Dense
}

// SoftLearner is a Learner that learns labels too.
type SoftLearner interface {
	Learner
	// Soft returns a distribution over the classes for each condensed node, N′×Classes. The learner may reuse its memory.
	Soft() *mat.Dense
}

// Plan describes a run: its epochs and how its result is chosen.
type Plan struct {
	// Method, Nodes and Seed are the arguments of the condensation.
	Method condense.Checker
	Nodes  int
	Seed   uint64
	// Epochs is the number of epochs.
	Epochs int
	Choice
	// Threshold is the minimum weight of an edge of A′; smaller weights become 0.
	Threshold float64
}

// Account is the run metadata in Condensed.Account.
type Account struct {
	// Epoch is the epoch, from 1 to Epochs, whose iterate is the result.
	Epoch  int `json:"epoch"`
	Epochs int `json:"epochs"`
	// Loss is the loss of the last epoch.
	Loss float64 `json:"loss"`
	// Judgements is the number of validated iterates, and Validation the best validation accuracy in percent. Without
	// validation nodes, both are 0.
	Judgements int     `json:"judgements"`
	Validation float64 `json:"validation"`
}

// prepareStep, learnStep and judgeStep are the names of the steps in Seconds. judgeStep is choosing the iterate, which
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
		r, err := prepare(ctx, task, plan, begin)
		if err != nil {
			return nil, err
		}
		for epoch := r.resumed + 1; epoch <= plan.Epochs; epoch++ {
			if err := r.epoch(ctx, epoch); err != nil {
				return nil, err
			}
		}
		return r.condensed()
	}
	return rival.Run(ctx, plan.Method, g, plan.Nodes, plan.Seed, work, prepareStep, learnStep, judgeStep)
}

// run is the state of a running condensation.
type run struct {
	plan    Plan
	clock   *condense.Clock
	start   *Start
	learner Learner
	judge   *judge // nil if there are no validation nodes
	best    iterate
	record  record

	// These are the checkpoint file, the identity of the work, and everything that an epoch changes. The last matrix of
	// state is the record.
	keeper   *checkpoint.Keeper
	identity string
	state    []*mat.Dense
	resumed  int // the number of epochs that the checkpoint covers
}

// iterate is a condensed graph in the form of a learner: X′, A′ (nil for I) and soft labels (nil if none are learnt).
type iterate [3]*mat.Dense

// record describes the best iterate and the progress. The fields are float32 because checkpoints store float32.
type record struct {
	epoch      float32 // the epoch of the best iterate
	accuracy   float32 // the validation accuracy of the best iterate in percent; -1 before the first validation
	meanError  float32 // the mean error of the best iterate over the training that validated it, in percent
	judgements float32
	loss       float32 // the loss of the last epoch
}

// fields returns the fields in the order of checkpoints.
func (r *record) fields() []*float32 {
	return []*float32{&r.epoch, &r.accuracy, &r.meanError, &r.judgements, &r.loss}
}

// prepare returns a new run, or one that continues from a checkpoint.
func prepare(ctx context.Context, task *rival.Task, plan Plan, begin func(*Start) (Learner, error)) (*run, error) {
	defer task.Clock.Step(prepareStep)()
	g := task.Graph
	r := &run{plan: plan, clock: task.Clock, record: record{accuracy: -1}, keeper: checkpoint.From(ctx)}
	var err error
	if r.start, err = Begin(ctx, g, plan.Nodes, plan.Seed); err != nil {
		return nil, err
	}
	if r.learner, err = begin(r.start); err != nil {
		return nil, err
	}
	if r.judge, err = newJudge(g, plan.JudgeEpochs); err != nil {
		return nil, err
	}
	config, err := condense.Configuration(plan.Method, plan.Nodes, plan.Seed)
	if err != nil {
		return nil, err
	}
	sizes, err := json.Marshal(g.Sizes())
	if err != nil {
		return nil, err
	}
	r.identity = string(config) + string(sizes)
	r.state = append(r.state, r.learner.State()...)
	for i, m := range r.iterate() {
		if m == nil {
			r.state = append(r.state, mat.NewDense(0, 0))
			continue
		}
		r.best[i] = m.Clone()
		r.state = append(r.state, r.best[i])
	}
	r.state = append(r.state, mat.NewDense(1, len(r.record.fields())))
	return r, r.resume()
}

// resume reads the checkpoint, if there is one.
func (r *run) resume() (err error) {
	if r.resumed, err = r.keeper.Resume(r.identity, r.state); err != nil || r.resumed == 0 {
		return err
	}
	for i, field := range r.record.fields() {
		*field = r.state[len(r.state)-1].Data[i]
	}
	return nil
}

// save writes a checkpoint, if one is due.
func (r *run) save(ctx context.Context, epoch int) error {
	for i, field := range r.record.fields() {
		r.state[len(r.state)-1].Data[i] = *field
	}
	return r.keeper.Save(ctx, r.identity, epoch, r.state)
}

// epoch runs one epoch, and validates its iterate if it is due.
func (r *run) epoch(ctx context.Context, epoch int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	done := r.clock.Step(learnStep)
	loss, err := r.learner.Epoch(ctx, epoch, Source(r.plan.Seed, epoch))
	if err != nil {
		return err
	}
	done()
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return r.diverged("the loss of epoch %d of %d is %v", epoch, r.plan.Epochs, loss)
	}
	r.record.loss = float32(loss)
	if epoch == r.plan.Epochs || r.judge != nil && r.plan.looks(epoch) {
		done := r.clock.Step(judgeStep)
		if err := r.consider(ctx, epoch); err != nil {
			return err
		}
		done()
	}
	name := r.plan.Method.Name()
	progress.Report(ctx, progress.Event{Stage: name, Done: int64(epoch), Total: int64(r.plan.Epochs)})
	return r.save(ctx, epoch)
}

// diverged returns the error of a run that has produced non-finite numbers.
func (r *run) diverged(format string, args ...any) error {
	return fmt.Errorf("learn: %s diverged: %s, must be a finite number; lower its learning rates, or scale the features",
		r.plan.Method.Name(), fmt.Sprintf(format, args...))
}

// iterate returns the learner's condensed graph, whose memory the learner may reuse.
func (r *run) iterate() iterate {
	x, a := r.learner.Result()
	if l, is := r.learner.(SoftLearner); is {
		return iterate{x, a, l.Soft()}
	}
	return iterate{x, a, nil}
}

// consider validates the iterate, and keeps it if it is the best so far.
func (r *run) consider(ctx context.Context, epoch int) error {
	now := r.iterate()
	for _, m := range now {
		if m == nil {
			continue
		}
		row, col, is, err := mat.FirstNotFinite(ctx, m)
		if err != nil {
			return err
		}
		if is {
			return r.diverged("entry (%d, %d) after epoch %d of %d is %v", row, col, epoch, r.plan.Epochs, m.Row(row)[col])
		}
	}
	next := r.record
	next.epoch, next.accuracy, next.meanError = float32(epoch), 0, 0
	if r.judge != nil {
		accuracy, meanError, err := r.judge.accuracy(ctx, r.sample(now), r.start.Y, r.plan.Seed)
		if err != nil {
			return err
		}
		r.record.judgements++
		next.accuracy, next.meanError, next.judgements = float32(accuracy), float32(meanError), r.record.judgements
		if next.accuracy < r.record.accuracy ||
			next.accuracy == r.record.accuracy && next.meanError >= r.record.meanError {
			return nil
		}
	}
	r.record = next
	for i, m := range now {
		if m != nil {
			copy(r.best[i].Data, m.Data)
		}
	}
	return nil
}

// sample returns an iterate as a condensed graph: X′ is multiplied by the unit, and A′ has no weights below the
// threshold.
func (r *run) sample(of iterate) *condense.Condensed {
	x, a, soft := of[0], of[1], of[2]
	small := &condense.Condensed{X: x.Clone(), Y: r.start.Y}
	kernel.Scale(small.X.Data, r.start.Unit, small.X.Data)
	if a != nil {
		cut := a.Clone()
		for i, w := range cut.Data {
			if w < float32(r.plan.Threshold) {
				cut.Data[i] = 0
			}
		}
		small.Adj = cut.Sparse()
	}
	if soft != nil {
		small.Soft = soft.Clone()
	}
	return small
}

// condensed returns the best iterate with its metadata.
func (r *run) condensed() (*condense.Condensed, error) {
	small := r.sample(r.best)
	var err error
	small.Account, err = json.Marshal(Account{
		Epoch: int(r.record.epoch), Epochs: r.plan.Epochs, Loss: float64(r.record.loss),
		Judgements: int(r.record.judgements), Validation: float64(r.record.accuracy),
	})
	return small, err
}

package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/checkpoint"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/rival"
)

// Learner is a method in the middle of its work.
type Learner interface {
	// Epoch does one epoch and returns its loss. Random numbers come from src alone. It returns ctx's error within a
	// second of ctx's end.
	Epoch(ctx context.Context, epoch int, src rand.Source) (loss float64, err error)
	// Result returns X′ over Start.Unit and A′, dense and symmetric with the diagonal 0; nil for A′ = I. Both may be
	// memory of the learner.
	Result() (x, a *mat.Dense)
	// State lists every matrix that an epoch leaves for the next.
	State() []*mat.Dense
}

// SoftLearner is a Learner that learns labels too.
type SoftLearner interface {
	Learner
	// Soft returns a distribution over the classes for each condensed node, N′×Classes. It may be memory of the learner.
	Soft() *mat.Dense
}

// Plan says how often a Learner learns, and how its result is chosen.
type Plan struct {
	// Method, Nodes and Seed are those of the condensation.
	Method condense.Method
	Nodes  int
	Seed   uint64
	// Epochs is the number of epochs.
	Epochs int
	// Choice says how the iterate is chosen.
	Choice
	// Threshold is the least weight of an edge of A′; smaller weights become 0.
	Threshold float64
}

// Account is what a Run reports beside the condensed graph.
type Account struct {
	// Epoch is the epoch whose iterate is the result, of Epochs.
	Epoch  int `json:"epoch"`
	Epochs int `json:"epochs"`
	// Loss is the loss of the last epoch.
	Loss float64 `json:"loss"`
	// Judgements is the number of iterates whose accuracy on the validation nodes was taken. Validation is the best of
	// them, in percent. Without validation nodes both are 0, and the last iterate is the result.
	Judgements int     `json:"judgements"`
	Validation float64 `json:"validation"`
}

// The steps, as Seconds names them. Judging is the choice of the iterate, which papers do not count.
const (
	prepareStep = "prepare"
	learnStep   = "learn"
	judgeStep   = "judge"
)

// best is the best iterate so far.
type best struct {
	x, a  *mat.Dense
	soft  *mat.Dense // 0×0 where labels are not learnt
	notes *mat.Dense // 1×5: epoch, accuracy, mean error, judgements, loss of the last epoch
}

// Places in best.notes.
const (
	epochNote = iota
	accuracyNote
	errorNote
	judgementsNote
	lossNote
	notes
)

// Run calls begin, which prepares the learner, and then learns by plan. The method's file, its progress, checkpoints
// and errors come from here. An error of begin or of an epoch is passed on. A loss or an iterate that is not finite is
// an error that names the epoch.
func Run(
	ctx context.Context, g *graph.Graph, plan Plan, begin func(*Start) (Learner, error),
) (*condense.Condensed, error) {
	task, err := rival.Begin(ctx, g, plan.Method, plan.Nodes, plan.Seed, prepareStep, learnStep, judgeStep)
	if err != nil {
		return nil, err
	}
	clock := task.Clock
	done := clock.Step(prepareStep)
	start, err := Begin(ctx, g, plan.Nodes, plan.Seed)
	if err != nil {
		return nil, err
	}
	learner, err := begin(start)
	if err != nil {
		return nil, err
	}
	judge, err := newJudge(g, plan.JudgeEpochs)
	if err != nil {
		return nil, err
	}
	config, err := condense.Configuration(plan.Method, plan.Nodes, plan.Seed)
	if err != nil {
		return nil, err
	}
	x, a := learner.Result()
	b := &best{x: x.Clone(), a: mat.NewDense(0, 0), soft: mat.NewDense(0, 0), notes: mat.NewDense(1, notes)}
	if a != nil {
		b.a = a.Clone()
	}
	if soft := softOf(learner); soft != nil {
		b.soft = soft.Clone()
	}
	b.notes.Data[accuracyNote] = -1
	state := append(append([]*mat.Dense(nil), learner.State()...), b.x, b.a, b.soft, b.notes)
	sizes, err := json.Marshal(g.Sizes())
	if err != nil {
		return nil, err
	}
	identity := string(config) + string(sizes)
	keeper := checkpoint.From(ctx)
	from, err := keeper.Resume(identity, state)
	if err != nil {
		return nil, err
	}
	done()
	for epoch := from + 1; epoch <= plan.Epochs; epoch++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		done := clock.Step(learnStep)
		loss, err := learner.Epoch(ctx, epoch, Source(plan.Seed, epoch))
		if err != nil {
			return nil, err
		}
		done()
		if math.IsNaN(loss) || math.IsInf(loss, 0) {
			return nil, fmt.Errorf("learn: %s diverged: the loss of epoch %d of %d is %v, want a finite number; "+
				"lower its learning rates, or scale the features", plan.Method.Name(), epoch, plan.Epochs, loss)
		}
		b.notes.Data[lossNote] = float32(loss)
		if epoch == plan.Epochs || judge != nil && plan.looks(epoch) {
			done := clock.Step(judgeStep)
			if err := b.consider(ctx, judge, start, plan, learner, epoch); err != nil {
				return nil, err
			}
			done()
		}
		progress.Report(ctx, progress.Event{Stage: plan.Method.Name(), Done: int64(epoch), Total: int64(plan.Epochs)})
		if err := keeper.Save(ctx, identity, epoch, state); err != nil {
			return nil, err
		}
	}
	small, err := b.condensed(start, plan)
	if err != nil {
		return nil, err
	}
	if small, err = task.Finish(ctx, small); err != nil {
		return nil, err
	}
	return small, small.Validate()
}

// consider judges the iterate, and keeps it if it is the best so far.
func (b *best) consider(ctx context.Context, judge *judge, s *Start, plan Plan, learner Learner, epoch int) error {
	x, a := learner.Result()
	soft := softOf(learner)
	for _, m := range []*mat.Dense{x, a, soft} {
		if m == nil {
			continue
		}
		row, col, is, err := mat.FirstNotFinite(m)
		if err != nil {
			return err
		}
		if is {
			return fmt.Errorf("learn: %s diverged: entry (%d, %d) after epoch %d of %d is %v, want a finite number; "+
				"lower its learning rates, or scale the features",
				plan.Method.Name(), row, col, epoch, plan.Epochs, m.Row(row)[col])
		}
	}
	accuracy, meanError := 0.0, 0.0
	if judge != nil {
		var err error
		small := b.sample(s, plan, x, a, soft)
		if accuracy, meanError, err = judge.accuracy(ctx, small, s.Y, plan.Seed); err != nil {
			return err
		}
		b.notes.Data[judgementsNote]++
		best, own := b.notes.Data[accuracyNote], float32(accuracy)
		if own < best || own == best && float32(meanError) >= b.notes.Data[errorNote] {
			return nil
		}
	}
	copy(b.x.Data, x.Data)
	if a != nil {
		copy(b.a.Data, a.Data)
	}
	if soft != nil {
		copy(b.soft.Data, soft.Data)
	}
	b.notes.Data[epochNote] = float32(epoch)
	b.notes.Data[accuracyNote], b.notes.Data[errorNote] = float32(accuracy), float32(meanError)
	return nil
}

// softOf returns the labels that a learner learns; nil if it learns none.
func softOf(learner Learner) *mat.Dense {
	if l, is := learner.(SoftLearner); is {
		return l.Soft()
	}
	return nil
}

// sample returns X′ and A′ as they are handed over: X′ times the unit, A′ without weights below the threshold.
func (b *best) sample(s *Start, plan Plan, x, a, soft *mat.Dense) *condense.Condensed {
	small := &condense.Condensed{X: x.Clone(), Y: s.Y}
	kernel.Scale(small.X.Data, s.Unit, small.X.Data)
	if a != nil && a.Rows > 0 {
		cut := a.Clone()
		for i, w := range cut.Data {
			if w < float32(plan.Threshold) {
				cut.Data[i] = 0
			}
		}
		small.Adj = cut.Sparse()
	}
	if soft != nil && soft.Rows > 0 {
		small.Soft = soft.Clone()
	}
	return small
}

// condensed returns the best iterate with its account.
func (b *best) condensed(s *Start, plan Plan) (*condense.Condensed, error) {
	small := b.sample(s, plan, b.x, b.a, b.soft)
	account := Account{
		Epoch: int(b.notes.Data[epochNote]), Epochs: plan.Epochs, Loss: float64(b.notes.Data[lossNote]),
		Judgements: int(b.notes.Data[judgementsNote]), Validation: float64(b.notes.Data[accuracyNote]),
	}
	var err error
	small.Account, err = json.Marshal(account)
	return small, err
}

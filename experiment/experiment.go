// Package experiment measures condensation: it condenses a graph several times, each with a seed of its own, trains GNNs on the results, tests them
// on the original graph, and trains the same GNNs on the whole graph beside them (§4.1 of the paper).
package experiment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/stat"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
)

// Plan says what Run does.
type Plan struct {
	// Config condenses the graph; repetition i takes seed Config.Seed+i.
	Config cgc.Config
	// Seeds is the number of repetitions, at least 1: condensations, each with one training of each model.
	Seeds int
	// Models are trained and tested, at least one.
	Models []gnn.Model
	// Training says how.
	Training gnn.Config
	// Whole is the number of trainings of each model on the whole graph, at least 0.
	Whole int
	// Progress, if set, is called as each piece of work ends, by one goroutine at a time.
	Progress func(done, total int, what string)
}

// Result is what came of a Plan.
type Result struct {
	// Condensed holds the condensed graph of each repetition.
	Condensed []*cgc.Condensed
	// Small holds the trainings on condensed graphs: for each model in the plan's order, one for each repetition.
	Small []Score
	// Whole holds the trainings on the whole graph, ordered likewise; empty if the plan asked for none.
	Whole []Score
}

// Score is the outcome of one model: its accuracies in percent, one for each repetition.
type Score struct {
	Model string
	// Val and Test are the accuracies at the epoch of best validation accuracy.
	Val, Test []float64
	// Seconds is the time of one training, the mean over the repetitions.
	Seconds float64
}

// ValMean returns the mean validation accuracy, in percent, and its standard deviation over the repetitions (n−1 in the denominator; 0 for one).
func (s Score) ValMean() (mean, std float64) { return meanStd(s.Val) }

// TestMean returns the mean test accuracy, in percent, and its standard deviation over the repetitions (n−1 in the denominator; 0 for one).
func (s Score) TestMean() (mean, std float64) { return meanStd(s.Test) }

func meanStd(values []float64) (mean, std float64) {
	if len(values) < 2 {
		return stat.Mean(values, nil), 0
	}
	return stat.MeanStdDev(values, nil)
}

// The streams of random numbers of trainings, apart from those of condensation. Repetition i of a model on the condensed graph and repetition i on
// the whole graph start from the same weights.
const trainingStream = 1 << 32

// Run carries out the plan on g. A repetition differs from another in the condensation's seed and in the training's, so a standard deviation
// over repetitions is over both. Test labels are read after training alone, and decide nothing. The same plan gives the same numbers for any number of threads.
func Run(ctx context.Context, g *graph.Graph, plan Plan) (*Result, error) {
	if plan.Seeds < 1 || plan.Whole < 0 || len(plan.Models) == 0 {
		return nil, fmt.Errorf("experiment: %d seeds, %d models, %d trainings on the whole graph, want at least 1, 1 and 0", plan.Seeds, len(plan.Models), plan.Whole)
	}
	tally := &tally{total: plan.Seeds*(1+len(plan.Models)) + plan.Whole*len(plan.Models), report: plan.Progress}
	result := new(Result)
	for i := range plan.Seeds {
		config := plan.Config
		config.Seed += uint64(i)
		small, err := cgc.Condense(ctx, g, config)
		if err != nil {
			return nil, err
		}
		result.Condensed = append(result.Condensed, small)
		tally.done("condensed")
	}
	if scaling := result.Condensed[0].Scaling; scaling != nil { // the same for all: it depends on the graph alone
		g = g.Scaled(*scaling)
	}
	target, err := gnn.NewTarget(g, plan.Config.Inductive)
	if err != nil {
		return nil, err
	}
	train := trainer{target: target, config: plan.Training, models: plan.Models, seed: plan.Config.Seed, tally: tally}
	if result.Small, err = train.on(ctx, plan.Seeds, func(i int) *gnn.Sample { return Sample(result.Condensed[i]) }); err != nil {
		return nil, err
	}
	if result.Whole, err = train.on(ctx, plan.Whole, func(int) *gnn.Sample { return target.Sample() }); err != nil {
		return nil, err
	}
	return result, nil
}

// Evaluate trains each model on one condensed graph and tests it on g, trainings times with seeds from seed on. The standard deviation is then over trainings
// alone, and says nothing of other condensations.
func Evaluate(ctx context.Context, small *cgc.Condensed, g *graph.Graph, models []gnn.Model, training gnn.Config, trainings int, seed uint64, progress func(done, total int, what string)) ([]Score, error) {
	if trainings < 1 || len(models) == 0 {
		return nil, fmt.Errorf("experiment: %d trainings of %d models, want at least 1 of each", trainings, len(models))
	}
	if small.X.Cols != g.Features() || small.Classes != g.Classes {
		return nil, fmt.Errorf("experiment: the condensed graph has %d features and %d classes, graph %s has %d and %d: it was condensed from another (%s)", small.X.Cols, small.Classes, g.Name, g.Features(), g.Classes, small.Graph)
	}
	if small.Scaling != nil {
		g = g.Scaled(*small.Scaling)
	}
	target, err := gnn.NewTarget(g, small.Config.Inductive)
	if err != nil {
		return nil, err
	}
	train := trainer{target: target, config: training, models: models, seed: seed, tally: &tally{total: trainings * len(models), report: progress}}
	return train.on(ctx, trainings, func(int) *gnn.Sample { return Sample(small) })
}

// Sample returns a condensed graph as a GNN trains on it. The weight of a node is the number of nodes that it stands for, which counts if gnn.Config.Weighted is set.
func Sample(c *cgc.Condensed) *gnn.Sample {
	weights := make([]float32, c.Nodes())
	for i := range weights {
		weights[i] = float32(c.Members.Indptr[i+1] - c.Members.Indptr[i])
	}
	return &gnn.Sample{Adj: c.Adj, X: c.X, Y: c.Y, Classes: c.Classes, Weights: weights}
}

// trainer trains models that are tested on one target.
type trainer struct {
	target *gnn.Target
	config gnn.Config
	models []gnn.Model
	seed   uint64
	tally  *tally
}

// on trains each model on sample(0) … sample(repetitions−1), several at a time: a condensed graph is too small to keep all threads busy.
func (t trainer) on(ctx context.Context, repetitions int, sample func(i int) *gnn.Sample) ([]Score, error) {
	if repetitions == 0 {
		return nil, nil
	}
	scores := make([]Score, len(t.models))
	results := make([]*gnn.Result, len(t.models)*repetitions)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for job := range results {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			m, i := job/repetitions, job%repetitions
			var err error
			results[job], err = gnn.Train(ctx, t.models[m], sample(i), t.target, t.config, rand.NewPCG(t.seed+uint64(i), trainingStream+uint64(m)))
			if err != nil {
				cancel(fmt.Errorf("training %s: %w", t.models[m].Name(), err)) // the first error stands
				return
			}
			t.tally.done("trained " + t.models[m].Name())
		})
		if ctx.Err() != nil {
			break
		}
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			return nil, context.Canceled
		}
		return nil, err
	}
	for job, r := range results {
		s := &scores[job/repetitions]
		s.Model = r.Model
		s.Val, s.Test = append(s.Val, r.Validation), append(s.Test, r.Test)
		s.Seconds += r.Seconds / float64(repetitions)
	}
	return scores, nil
}

// tally counts finished work for a progress function.
type tally struct {
	mu       sync.Mutex
	finished int
	total    int
	report   func(done, total int, what string)
}

func (t *tally) done(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.finished++
	if t.report != nil {
		t.report(t.finished, t.total, what)
	}
}

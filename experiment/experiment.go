// Package experiment measures condensation: it condenses a graph several times, each with a seed of its own, trains GNNs on the results, tests them
// on the original graph, and trains the same GNNs on the whole graph beside them (§4.1 of the paper).
package experiment

import (
	"context"
	"fmt"

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

// TestCI95 returns half the width of the 95% interval of the mean test accuracy, in percent (Estimate.CI95).
func (s Score) TestCI95() float64 { return EstimateOf(s.Test).CI95 }

// Run carries out the plan on g: a Grid of one arm. A repetition differs from another in the condensation's seed and in the training's, so a standard deviation
// over repetitions is over both. Test labels are read after training alone, and decide nothing. The same plan gives the same numbers for any number of threads.
// What does not depend on the seed is condensed once: Seconds of each condensed graph count it as if it had been done for it.
func Run(ctx context.Context, g *graph.Graph, plan Plan) (*Result, error) {
	grid := Grid{
		Arms: []Arm{{Config: plan.Config, Training: plan.Training}}, Seeds: plan.Seeds, Trainings: 1, Models: plan.Models, Whole: plan.Whole, Progress: plan.Progress,
	}
	result := new(Result)
	records, err := grid.run(ctx, g, g.Sizes(), nil, func(_ int, small *cgc.Condensed) { result.Condensed = append(result.Condensed, small) })
	if err != nil {
		return nil, err
	}
	small := len(plan.Models) * plan.Seeds
	result.Small, result.Whole = scores(records[:small], plan.Seeds), scores(records[small:], plan.Whole)
	return result, nil
}

// scores gathers records, of which each model has the same number, one after the other.
func scores(records []Record, each int) (all []Score) {
	for i, r := range records {
		if i%each == 0 {
			all = append(all, Score{Model: r.Model})
		}
		s := &all[len(all)-1]
		s.Val, s.Test = append(s.Val, r.Val), append(s.Test, r.Test)
		s.Seconds += r.TrainingSeconds / float64(each)
	}
	return all
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
	if err := testable(g); err != nil {
		return nil, err
	}
	if small.Scaling != nil {
		g = g.Scaled(*small.Scaling)
	}
	target, err := gnn.NewTarget(g, small.Inductive)
	if err != nil {
		return nil, err
	}
	var jobs []job
	sample := Sample(small)
	for _, m := range models {
		for i := range uint64(trainings) {
			jobs = append(jobs, job{m, sample, target, training, seed + i})
		}
	}
	records := make([]Record, len(jobs))
	tally := tally{total: len(jobs), report: progress}
	err = train(ctx, jobs, 0, func(i int, r *gnn.Result) error {
		records[i] = Record{Model: r.Model, Val: r.Validation, Test: r.Test, TrainingSeconds: r.Seconds}
		tally.done("trained " + r.Model)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return scores(records, trainings), nil
}

// Sample returns a condensed graph as a GNN trains on it: on its soft labels if it has any. The weight of a node is the number of nodes that it stands for, which counts if gnn.Config.Weighted is set.
func Sample(c *cgc.Condensed) *gnn.Sample {
	weights := make([]float32, c.Nodes())
	for i := range weights {
		weights[i] = float32(c.Members.Indptr[i+1] - c.Members.Indptr[i])
	}
	return &gnn.Sample{Adj: c.Adj, X: c.X, Y: c.Y, Classes: c.Classes, Weights: weights, Soft: c.Soft}
}

// Package experiment measures condensation methods as §4.1 of the paper does.
//
// It condenses a graph several times with different seeds, and trains GNNs on each condensed graph. It tests the GNNs
// on the original graph, and trains the same GNNs on the full graph for comparison.
//
// A Grid compares any number of methods, sizes and models. After an interruption it resumes from a Log. Summarize and
// Compare turn its records into means, intervals and paired differences. A Plan measures one method; an Evaluation
// measures one condensed graph. All of them work with any condense.Method. Progress is reported through the context
// (package progress).
package experiment

import (
	"context"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

// Plan is an experiment with one method.
type Plan struct {
	// Method condenses the graph to Size.
	Method condense.Method
	Size   condense.Size
	// Training configures all training runs.
	Training gnn.Config
	// Seed is the seed of repetition 0. Repetition i has seed Seed+i.
	Seed uint64
	// Seeds is the number of repetitions, at least 1. Each is a condensation with one training run of each model.
	Seeds int
	// Models lists the models to train and test, at least one.
	Models []gnn.Model
	// Whole is the number of training runs of each model on the full graph, at least 0.
	Whole int
	// Memory and Planned apply to testing, as in Evaluation. The method has its own memory limit.
	Memory  int64
	Planned func(*gnn.Plan)
}

// Result is the outcome of a Plan.
type Result struct {
	// Condensed holds the condensed graph of each repetition.
	Condensed []*condense.Condensed
	// Small holds the score of each model, in the order of the plan, after training on condensed graphs.
	Small []Score
	// Whole holds the scores after training on the full graph. It is empty if Plan.Whole is 0.
	Whole []Score
}

// Score holds the accuracies of one model in percent, one for each repetition.
type Score struct {
	Model string
	// Val and Test are the accuracies at the epoch of best validation accuracy.
	Val, Test []float64
	// Metrics holds the mean of each metric over the repetitions.
	Metrics gnn.Metrics
	// Seconds is the mean time of one training run.
	Seconds float64
	// Predicted holds the class that the model of repetition 0 predicts for each test node, in the order of the split.
	Predicted []int32
}

// ValMean returns the mean validation accuracy and its standard deviation over the repetitions; see Estimate.
func (s Score) ValMean() (mean, std float64) { return meanStd(s.Val) }

// TestMean returns the mean test accuracy and its standard deviation over the repetitions; see Estimate.
func (s Score) TestMean() (mean, std float64) { return meanStd(s.Test) }

// TestCI95 returns half the width of the 95% confidence interval of the mean test accuracy: Estimate.CI95.
func (s Score) TestCI95() float64 { return EstimateOf(s.Test).CI95 }

// Run carries out the plan on g, as a Grid of one arm with one training run of each model on each condensed graph.
// Repetitions differ in the seeds of both condensation and training, so that a standard deviation over repetitions
// covers both.
//
// Labels of test nodes are read only after training, and no choice depends on them. The same plan gives the same
// numbers for any number of threads. Steps that do not depend on the seed are done once, and the Seconds of each
// condensed graph include them.
func (p Plan) Run(ctx context.Context, g *graph.Graph) (_ *Result, err error) {
	defer memory.Recover(&err)
	if err := g.Check(ctx); err != nil {
		return nil, err
	}
	grid := Grid{
		Arms: []Arm{{Method: p.Method, Size: p.Size, Training: p.Training}}, Seed: p.Seed, Seeds: p.Seeds, Trainings: 1,
		Models: p.Models, Whole: p.Whole, Memory: p.Memory, Planned: p.Planned,
	}
	result := new(Result)
	keep := func(small *condense.Condensed) { result.Condensed = append(result.Condensed, small) }
	records, err := grid.run(ctx, g, g.Sizes(), nil, keep)
	if err != nil {
		return nil, err
	}
	small := len(p.Models) * p.Seeds
	result.Small, result.Whole = scores(records[:small], p.Seeds), scores(records[small:], p.Whole)
	return result, nil
}

// scores turns records into scores. Each model has the given number of consecutive records.
func scores(records []Record, each int) (all []Score) {
	for i, r := range records {
		if i%each == 0 {
			all = append(all, Score{Model: r.Model, Predicted: r.predicted})
		}
		s := &all[len(all)-1]
		s.Val, s.Test = append(s.Val, r.Val), append(s.Test, r.Test)
		s.Seconds += r.TrainingSeconds / float64(each)
		addMetrics(&s.Metrics, r.Metrics, 1/float64(each))
	}
	return all
}

// addMetrics adds share·m to sum.
func addMetrics(sum *gnn.Metrics, m gnn.Metrics, share float64) {
	sum.Balanced += share * m.Balanced
	sum.MacroF1 += share * m.MacroF1
	sum.AUC += share * m.AUC
	sum.AveragePrecision += share * m.AveragePrecision
}

// Package experiment measures condensation methods as §4.1 of the paper does.
//
// It condenses a graph several times, each time with another seed, and trains GNNs on each condensed graph. It tests
// the GNNs on the original graph, and trains the same GNNs on the whole graph for comparison.
//
// A Grid compares any number of methods, sizes and models, and goes on from a Log after it was stopped. Summarize and
// Compare turn its records into means, intervals and paired differences. A Plan measures one method, and an Evaluation
// one condensed graph. All of them take any condense.Method. Work is reported to the context (package progress).
package experiment

import (
	"context"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
)

// Plan is an experiment with one method.
type Plan struct {
	// Method condenses the graph to Size.
	Method condense.Method
	Size   condense.Size
	// Training says how models are trained.
	Training gnn.Config
	// Seed is the seed of repetition 0. Repetition i has seed Seed+i.
	Seed uint64
	// Seeds is the number of repetitions, at least 1. Each is a condensation with one training of each model.
	Seeds int
	// Models are trained and tested, at least one.
	Models []gnn.Model
	// Whole is the number of trainings of each model on the whole graph, at least 0.
	Whole int
	// Memory and Planned are as in Evaluation: they bound what testing takes. The method has a bound of its own.
	Memory  int64
	Planned func(*gnn.Plan)
}

// Result is the outcome of a Plan.
type Result struct {
	// Condensed holds the condensed graph of each repetition.
	Condensed []*condense.Condensed
	// Small holds a score for each model, in the plan's order, of the trainings on condensed graphs.
	Small []Score
	// Whole holds the same of the trainings on the whole graph. It is empty if there were none.
	Whole []Score
}

// Score holds the accuracies of one model in percent, one for each repetition.
type Score struct {
	Model string
	// Val and Test are the accuracies at the epoch of best validation accuracy.
	Val, Test []float64
	// Seconds is the time of one training, the mean over the repetitions.
	Seconds float64
	// Predicted is the class that the model of repetition 0 gives each test node, in the order of the split.
	Predicted []int32
}

// ValMean returns the mean validation accuracy and its standard deviation over the repetitions, as Estimate has them.
func (s Score) ValMean() (mean, std float64) { return meanStd(s.Val) }

// TestMean returns the mean test accuracy and its standard deviation over the repetitions, as Estimate has them.
func (s Score) TestMean() (mean, std float64) { return meanStd(s.Test) }

// TestCI95 returns half the width of the 95% interval of the mean test accuracy: Estimate.CI95.
func (s Score) TestCI95() float64 { return EstimateOf(s.Test).CI95 }

// Run carries out the plan on g: a Grid of one arm with one training each. Repetitions differ in the seed of the
// condensation and in that of the training. So a standard deviation over repetitions covers both.
//
// Labels of test nodes are read after training and decide nothing. The same plan gives the same numbers for any number
// of threads. Steps that do not depend on the seed are done once, and the Seconds of each condensed graph count them.
func (p Plan) Run(ctx context.Context, g *graph.Graph) (*Result, error) {
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

// scores gathers records. Each model has the given number of them, one after the other.
func scores(records []Record, each int) (all []Score) {
	for i, r := range records {
		if i%each == 0 {
			all = append(all, Score{Model: r.Model, Predicted: r.predicted})
		}
		s := &all[len(all)-1]
		s.Val, s.Test = append(s.Val, r.Val), append(s.Test, r.Test)
		s.Seconds += r.TrainingSeconds / float64(each)
	}
	return all
}

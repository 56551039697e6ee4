package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/training"
)

// Evaluation is an experiment with one condensed graph.
type Evaluation struct {
	// Models lists the models to train and test, at least one.
	Models []gnn.Model
	// Training configures all training runs.
	Training gnn.Config
	// Trainings is the number of training runs of each model, at least 1. Run i has seed Seed+i.
	Trainings int
	Seed      uint64
	// Memory limits the memory that testing uses, in bytes; 0 means no limit. If a model needs more, Run fails before
	// training. A mapped graph that exceeds the limit is read in order (gnn.TargetWithin).
	Memory int64
	// OtherGraph allows testing on a graph or split other than the one that was condensed. If it is not set, Run returns a
	// *condense.TargetError for such a graph, because the condensed graph may have been made from its test nodes.
	OtherGraph bool
	// Planned, if not nil, is called with the plan of each model before the first training run if the graph is larger than
	// Memory.
	Planned func(*gnn.Plan)
}

// Run trains each model on small and tests it on g, the graph that small was condensed from. It returns a score for
// each model. Classes and features are compared by name if both have names, and nodes of g in classes that small lacks
// are not tested. The standard deviation of a score is over training runs only; it does not cover the variation between
// condensations.
func (e Evaluation) Run(ctx context.Context, small *condense.Condensed, g *graph.Graph) ([]Score, error) {
	return e.on(ctx, small, g, true, func(t *gnn.Target) ([]Score, error) { return e.train(ctx, Sample(small), t) })
}

// Best trains like Run and returns the result with the best validation accuracy. If several are equally good, it
// returns the first. g needs no test nodes.
func (e Evaluation) Best(ctx context.Context, small *condense.Condensed, g *graph.Graph) (best *gnn.Result, err error) {
	_, err = e.on(ctx, small, g, false, func(target *gnn.Target) ([]Score, error) {
		results, err := e.results(ctx, Sample(small), target)
		if err == nil {
			best = slices.MaxFunc(results, func(a, b *gnn.Result) int { return cmp.Compare(a.Validation, b.Validation) })
		}
		return nil, err
	})
	return best, err
}

// Plan performs the checks of Run and calls Planned, but trains nothing.
func (e Evaluation) Plan(ctx context.Context, small *condense.Condensed, g *graph.Graph) error {
	_, err := e.on(ctx, small, g, true, func(*gnn.Target) ([]Score, error) { return nil, nil })
	return err
}

// Whole trains each model on the full graph g in the setting of small, and tests it there, for comparison with Run. The
// nodes of g have equal weights, even if Training.Weighted is set.
func (e Evaluation) Whole(ctx context.Context, small *condense.Condensed, g *graph.Graph) ([]Score, error) {
	e.Training.Weighted = false
	return e.on(ctx, small, g, true, func(t *gnn.Target) ([]Score, error) { return e.train(ctx, t.Sample(), t) })
}

// on calls train with the target for g, which must have test nodes if tested is set.
func (e Evaluation) on(ctx context.Context, small *condense.Condensed, g *graph.Graph, tested bool,
	train func(*gnn.Target) ([]Score, error)) (_ []Score, err error) {
	defer memory.Recover(&err)
	target, err := e.target(ctx, small, g, tested)
	if err != nil {
		return nil, err
	}
	defer target.Close()
	return train(target)
}

// target returns the target for g, after checking that everything fits together.
func (e Evaluation) target(
	ctx context.Context, small *condense.Condensed, g *graph.Graph, tested bool,
) (*gnn.Target, error) {
	if e.Trainings < 1 || len(e.Models) == 0 {
		return nil, fmt.Errorf("%d trainings of %d models, must be at least 1 of each", e.Trainings,
			len(e.Models))
	}
	if err := g.Check(ctx); err != nil {
		return nil, err
	}
	g, err := g.WithFeatures(small.FeatureNames) // once, since it may copy them
	if err != nil {
		return nil, err
	}
	known, _ := g.WithClasses(small.Classes, small.ClassNames)
	if tested {
		if err := known.NeedTest(); err != nil {
			return nil, err
		}
	}
	compared, err := small.CheckTarget(g)
	if err != nil {
		return nil, err
	}
	if small.X.Cols != known.Features() || small.Classes != known.Classes {
		return nil, fmt.Errorf("the condensed graph has %d features and %d classes, "+
			"graph %s has %d and %d: it was condensed from another (%s)",
			small.X.Cols, small.Classes, g.Name, g.Features(), g.Classes, small.Graph)
	}
	if err := compared.Err(); err != nil && !e.OtherGraph {
		return nil, err
	}
	g, err = small.Seen(ctx, known)
	if err != nil {
		return nil, err
	}
	return training.Target(ctx, g, small.Inductive, e.Memory, e.Models, e.Training.Hidden, e.Planned)
}

// train trains each model on sample, and returns the scores.
func (e Evaluation) train(ctx context.Context, sample *gnn.Sample, target *gnn.Target) ([]Score, error) {
	results, err := e.results(ctx, sample, target)
	if err != nil {
		return nil, err
	}
	records := make([]Record, len(results))
	for i, r := range results {
		records[i] = Record{Model: r.Model, Val: r.Validation, Test: r.Test, Metrics: r.Metrics, TrainingSeconds: r.Seconds}
		if i%e.Trainings == 0 {
			records[i].predicted = r.Predicted
		}
	}
	return scores(records, e.Trainings), nil
}

// results trains each model on sample, and returns the results of all training runs, model after model.
func (e Evaluation) results(ctx context.Context, sample *gnn.Sample, target *gnn.Target) ([]*gnn.Result, error) {
	var jobs []training.Job
	for _, m := range e.Models {
		for i := range uint64(e.Trainings) {
			jobs = append(jobs, training.Job{
				Model: m, Sample: sample, Target: target, Training: e.Training, Seed: e.Seed + i,
			})
		}
	}
	results := make([]*gnn.Result, len(jobs))
	stages := stages{}
	for _, j := range jobs {
		stages.plan("training "+j.Model.Name(), 1)
	}
	stages.announce(ctx)
	err := training.Run(ctx, jobs, false, func(i int, r *gnn.Result) error {
		results[i] = r
		stages.end(ctx, "training "+r.Model)
		return nil
	})
	return results, err
}

// Sample returns a condensed graph as a training sample. Soft labels, if there are any, replace the labels. The weight
// of a node is the number of its source nodes; without Members, all weights are equal. Weights are used only if
// gnn.Config.Weighted is set. A model that is trained on the sample must be tested on c.Seen(ctx, g), not on g itself.
func Sample(c *condense.Condensed) *gnn.Sample {
	return &gnn.Sample{Adj: c.Adj, X: c.X, Y: c.Y, Classes: c.Classes, Soft: c.Soft, Weights: c.Weights()}
}

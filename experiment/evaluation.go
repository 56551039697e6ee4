package experiment

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/progress"
)

// Evaluation says how models are tested on one condensed graph.
type Evaluation struct {
	// Models are trained and tested, at least one.
	Models []gnn.Model
	// Training says how they are trained.
	Training gnn.Config
	// Trainings is the number of trainings of each model, at least 1. Training i has seed Seed+i.
	Trainings int
	Seed      uint64
	// Memory bounds, in bytes, what testing takes; 0 sets no bound. If a model takes more, that is an error before the
	// first training. A graph that is larger is read in order (gnn.TargetWithin).
	Memory int64
	// Planned, if it is not nil, hears before the first training what each model takes on a graph that is larger than
	// Memory.
	Planned func(*gnn.Plan)
}

// Run trains each model on small and tests it on g, the graph that small was condensed from. It returns a score for
// each model. Its standard deviation is over trainings alone, and says nothing of other condensations.
func (e Evaluation) Run(ctx context.Context, small *condense.Condensed, g *graph.Graph) (_ []Score, err error) {
	defer memory.Recover(&err)
	target, err := e.target(ctx, small, g)
	if err != nil {
		return nil, err
	}
	defer target.Close()
	return e.train(ctx, Sample(small), target)
}

// Plan checks what Run checks before the first training, and trains nothing. Planned hears what each model takes.
func (e Evaluation) Plan(ctx context.Context, small *condense.Condensed, g *graph.Graph) (err error) {
	defer memory.Recover(&err)
	target, err := e.target(ctx, small, g)
	if err != nil {
		return err
	}
	target.Close()
	return nil
}

// Whole trains each model on the whole graph g in the setting of small, and tests it there: what Run compares with. The
// nodes of g count alike, whatever Training says.
func (e Evaluation) Whole(ctx context.Context, small *condense.Condensed, g *graph.Graph) (_ []Score, err error) {
	defer memory.Recover(&err)
	target, err := e.target(ctx, small, g)
	if err != nil {
		return nil, err
	}
	defer target.Close()
	e.Training.Weighted = false
	return e.train(ctx, target.Sample(), target)
}

// target returns what models are tested on, after checking that all fits together.
func (e Evaluation) target(ctx context.Context, small *condense.Condensed, g *graph.Graph) (*gnn.Target, error) {
	if e.Trainings < 1 || len(e.Models) == 0 {
		return nil, fmt.Errorf("experiment: %d trainings of %d models, want at least 1 of each", e.Trainings, len(e.Models))
	}
	if small.X.Cols != g.Features() || small.Classes != g.Classes {
		return nil, fmt.Errorf("experiment: the condensed graph has %d features and %d classes, "+
			"graph %s has %d and %d: it was condensed from another (%s)",
			small.X.Cols, small.Classes, g.Name, g.Features(), g.Classes, small.Graph)
	}
	if err := testable(g); err != nil {
		return nil, err
	}
	g, err := small.Seen(ctx, g)
	if err != nil {
		return nil, err
	}
	target, err := gnn.TargetWithin(ctx, g, small.Inductive, e.Memory)
	if err != nil {
		return nil, err
	}
	if err := Fits(target, e.Models, e.Training.Hidden, e.Memory, e.Planned); err != nil {
		return nil, err
	}
	return target, nil
}

// Fits returns an error if testing one of the models on target takes more than a bound on memory; 0 sets none. It wraps
// a *gnn.MemoryError. planned, if it is not nil, hears what each takes.
func Fits(target *gnn.Target, models []gnn.Model, hidden int, memory int64, planned func(*gnn.Plan)) error {
	if memory == 0 {
		return nil
	}
	for _, m := range models {
		plan, err := target.Plan(m, hidden)
		if err != nil {
			return fmt.Errorf("experiment: %w", err)
		}
		if plan != nil && planned != nil {
			planned(plan)
		}
		if need := target.Memory(m, hidden); need > memory {
			return fmt.Errorf("experiment: %w", &gnn.MemoryError{Model: m.Name(), Need: need, Bound: memory})
		}
	}
	return nil
}

// train trains each model on sample, and returns its scores.
func (e Evaluation) train(ctx context.Context, sample *gnn.Sample, target *gnn.Target) ([]Score, error) {
	var jobs []Job
	for _, m := range e.Models {
		for i := range uint64(e.Trainings) {
			jobs = append(jobs, Job{m, sample, target, e.Training, e.Seed + i})
		}
	}
	records := make([]Record, len(jobs))
	count := progress.NewCounter(0, len(jobs))
	err := Train(ctx, jobs, 0, func(i int, r *gnn.Result) error {
		records[i] = Record{Model: r.Model, Val: r.Validation, Test: r.Test, TrainingSeconds: r.Seconds}
		if i%e.Trainings == 0 {
			records[i].predicted = r.Predicted
		}
		count.Add(ctx, "trained "+r.Model)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return scores(records, e.Trainings), nil
}

// testable returns an error if g has no test nodes.
func testable(g *graph.Graph) error {
	if len(g.Split.Test) == 0 {
		return fmt.Errorf("experiment: graph %s has no test nodes (0), want at least 1", g.Name)
	}
	return nil
}

// Sample returns a condensed graph as a GNN trains on it. Soft labels, if there are any, take the place of the labels.
// The weight of a node is the number of nodes it stands for; without Members, all weights are equal. Weights count
// only if gnn.Config.Weighted is set.
func Sample(c *condense.Condensed) *gnn.Sample {
	s := &gnn.Sample{Adj: c.Adj, X: c.X, Y: c.Y, Classes: c.Classes, Soft: c.Soft}
	if m := c.Members; m != nil {
		s.Weights = make([]float32, c.Nodes())
		for i := range s.Weights {
			s.Weights[i] = float32(m.Indptr[i+1] - m.Indptr[i])
		}
	}
	return s
}

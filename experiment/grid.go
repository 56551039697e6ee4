package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
)

// Arm is one way to condense a graph and to train on the result: a method at one size, with its parameters.
type Arm struct {
	// Name is what tables call it. Arms of one name differ in N′.
	Name string
	// Config condenses the graph; its Seed is the first of Grid.Seeds.
	Config cgc.Config
	// Training says how models are trained.
	Training gnn.Config
}

// Grid is an experiment on one graph: every arm with every condensation seed, every training seed and every model.
type Grid struct {
	// Arms is what is compared, at least one.
	Arms []Arm
	// Seeds is the number of condensations of each arm, at least 1: with Config.Seed and those after it.
	Seeds int
	// Trainings is the number of trainings of each model on each condensed graph, 1 to 1000. Training j on the condensed graph of seed s has seed s + j·10⁶, the same for all arms and models.
	Trainings int
	// Models are trained and tested, at least one.
	Models []gnn.Model
	// Whole is the number of trainings of each model on the whole graph, at least 0: with seeds Config.Seed and those after it. Arms that train alike and see the same features share them.
	Whole int
	// Parallel is the number of trainings at once; 0 means the number of threads (runtime.GOMAXPROCS). Results do not depend on it.
	Parallel int
	// Peak, if set, returns the largest resident set of the process in bytes, for Record.Peak.
	Peak func() int64
	// Progress, if set, is called as each condensation and each training ends, by one goroutine at a time. total counts what is to be done, without what the log holds.
	Progress func(done, total int, what string)
}

// step is the distance from a training seed to the next on one condensed graph, above any number of condensation seeds.
const step = 1_000_000

// Run carries out the grid on g and returns a record for each training: for each arm, model, condensation seed and training seed, in this order, and then those of the
// whole graph, for each model. Trainings that log holds already are taken from it, those that end are added to it at once, and a condensation is done only if a training on it is
// left to do: a run that was stopped goes on where it was, with the numbers it would have had. Without a log, nil, nothing is kept.
//
// All that is wrong with the grid, or with g for it, is said before anything is condensed. Test labels are read after training alone, and decide
// nothing. The same grid gives the same numbers for any number of threads.
func (p Grid) Run(ctx context.Context, g *graph.Graph, log *Log) ([]Record, error) {
	id, err := graph.Identify(g)
	if err != nil {
		return nil, err
	}
	return p.run(ctx, g, id, log, nil)
}

// run is Run; condensed, if not nil, is given every condensed graph that is made, with its arm's number, the seeds in their order.
func (p Grid) run(ctx context.Context, g *graph.Graph, id graph.Identity, log *Log, condensed func(arm int, small *cgc.Condensed)) ([]Record, error) {
	if err := p.check(g); err != nil {
		return nil, err
	}
	w := &work{Grid: p, g: g, log: log, found: map[string]Record{}, targets: map[setting]*gnn.Target{}, keep: condensed}
	var err error
	if w.cells, w.whole, err = p.plan(g, id); err != nil {
		return nil, err
	}
	w.count()
	if err := w.condensations(ctx); err != nil {
		return nil, err
	}
	if err := w.wholes(ctx); err != nil {
		return nil, err
	}
	var records []Record
	for _, c := range slices.Concat(w.cells, w.whole) {
		r := w.found[c.key]
		r.Arm, r.Graph.Name = c.record.Arm, c.record.Graph.Name // a log may know them by other names
		records = append(records, r)
	}
	return records, nil
}

func (p Grid) check(g *graph.Graph) error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("experiment: "+format, args...))
		}
	}
	check(len(p.Arms) > 0, "0 arms, want at least 1")
	check(p.Seeds >= 1, "%d seeds, want at least 1", p.Seeds)
	check(p.Trainings >= 1 && p.Trainings <= 1000, "%d trainings, want 1 to 1000", p.Trainings)
	check(len(p.Models) > 0, "0 models, want at least 1")
	check(p.Whole >= 0, "%d trainings on the whole graph, want at least 0", p.Whole)
	check(p.Parallel >= 0, "%d trainings at once, want at least 0", p.Parallel)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	models := map[string]bool{}
	for _, m := range p.Models {
		if models[m.Name()] {
			return fmt.Errorf("experiment: model %s is there twice, want it once", m.Name())
		}
		models[m.Name()] = true
	}
	type label struct {
		name  string
		nodes int
	}
	known := map[label]bool{}
	for _, a := range p.Arms {
		if err := errors.Join(a.Config.Validate(), a.Training.Validate()); err != nil {
			return p.in(a, err)
		}
		nodes, err := a.Config.NodesFor(g)
		if err != nil {
			return p.in(a, err)
		}
		l := label{a.Name, nodes}
		if known[l] {
			return fmt.Errorf("experiment: two arms are called %q and have %d nodes, want another name for one", a.Name, nodes)
		}
		known[l] = true
	}
	return nil
}

// in says which arm err is about, if there are several.
func (p Grid) in(a Arm, err error) error {
	if len(p.Arms) == 1 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("experiment: arm %s: %w", a.Name, err)
}

// cell is a training as it is planned: the record holds all but what will come of it.
type cell struct {
	record Record
	key    string
	arm    int // −1: on the whole graph
	model  gnn.Model
}

// setting is what of a graph models are tested on.
type setting struct{ standardize, inductive bool }

// plan lists the trainings, those on the whole graph apart.
func (p Grid) plan(g *graph.Graph, id graph.Identity) (cells, whole []cell, err error) {
	add := func(list *[]cell, r Record, arm int, m gnn.Model) {
		r.Version, r.Graph, r.Model = RecordVersion, id, m.Name()
		*list = append(*list, cell{record: r, key: r.key(), arm: arm, model: m})
	}
	for i, a := range p.Arms {
		nodes, err := a.Config.NodesFor(g)
		if err != nil {
			return nil, nil, err
		}
		training := a.Training
		for _, m := range p.Models {
			for s := range uint64(p.Seeds) {
				config := a.Config
				config.Seed += s
				for j := range uint64(p.Trainings) {
					add(&cells, Record{
						Arm: a.Name, Config: &config, Standardize: config.Standardize, Inductive: config.Inductive, Training: training,
						Seed: config.Seed, TrainingSeed: config.Seed + step*j, Nodes: nodes,
					}, i, m)
				}
			}
		}
	}
	planned := map[string]bool{}
	for _, a := range p.Arms {
		training := a.Training
		training.Weighted = false // a node of the whole graph stands for itself
		for _, m := range p.Models {
			for s := range uint64(p.Whole) {
				r := Record{Arm: Whole, Standardize: a.Config.Standardize, Inductive: a.Config.Inductive, Training: training, TrainingSeed: a.Config.Seed + s}
				add(&whole, r, -1, m)
				if last := len(whole) - 1; planned[whole[last].key] {
					whole = whole[:last]
				} else {
					planned[whole[last].key] = true
				}
			}
		}
	}
	return cells, whole, nil
}

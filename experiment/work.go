package experiment

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
)

// work is a grid while it runs.
type work struct {
	Grid
	g            *graph.Graph
	log          *Log
	cells, whole []cell
	found        map[string]Record // by key
	targets      map[setting]*gnn.Target
	tally        tally
	keep         func(arm int, small *cgc.Condensed)

	jobs    []job // that wait for their turn
	waiting []Record
	queued  map[string]bool
}

// count takes from the log what is there, and counts what is left.
func (w *work) count() {
	w.queued = map[string]bool{}
	type condensation struct {
		arm  int
		seed uint64
	}
	condensations, trainings := map[condensation]bool{}, map[string]bool{}
	for _, c := range slices.Concat(w.cells, w.whole) {
		if r, is := w.log.find(c.key); is {
			w.found[c.key] = r
			continue
		}
		if trainings[c.key] { // another arm has it
			continue
		}
		trainings[c.key] = true
		if c.arm >= 0 {
			condensations[condensation{c.arm, c.record.Seed}] = true
		}
	}
	w.tally = tally{total: len(condensations) + len(trainings), report: w.Progress}
}

// missing returns the cells of an arm and seed that are not found and not queued.
func (w *work) missing(arm int, seed uint64) (cells []cell) {
	for _, c := range w.cells {
		if _, is := w.found[c.key]; !is && !w.queued[c.key] && c.arm == arm && c.record.Seed == seed {
			cells = append(cells, c)
		}
	}
	return cells
}

// condensations does all that is missing but the whole graph: the arms that share a preparation together, one preparation in memory at a time.
func (w *work) condensations(ctx context.Context) error {
	first := map[int][]int{} // the arms that share a preparation, by the first of them
	for i, a := range w.Arms {
		at := slices.IndexFunc(w.Arms, func(b Arm) bool { return a.Config.SharesPreparation(b.Config) })
		first[at] = append(first[at], i)
	}
	for i := range w.Arms {
		if err := w.together(ctx, first[i]); err != nil {
			return err
		}
	}
	return nil
}

// together condenses for arms that share a preparation, and trains.
func (w *work) together(ctx context.Context, arms []int) error {
	var prepared *cgc.Prepared
	for _, arm := range arms {
		for s := range uint64(w.Seeds) {
			config := w.Arms[arm].Config
			config.Seed += s
			cells := w.missing(arm, config.Seed)
			if len(cells) == 0 && w.keep == nil {
				continue
			}
			target, err := w.target(setting{config.Standardize, config.Inductive}) // first: it may find that there is nothing to validate on
			if err != nil {
				return err
			}
			if prepared == nil {
				if prepared, err = cgc.Prepare(ctx, w.g, config); err != nil {
					return w.in(w.Arms[arm], err)
				}
			}
			small, err := prepared.Condense(ctx, config)
			if err != nil {
				return w.in(w.Arms[arm], err)
			}
			if w.keep != nil {
				w.keep(arm, small)
			}
			w.tally.done("condensed")
			sample := Sample(small)
			for _, c := range cells {
				c.record.Nodes, c.record.Edges, c.record.Seconds = small.Nodes(), small.Edges(), small.Seconds
				w.queue(c, sample, target)
			}
			if len(w.jobs) >= 4*w.atOnce() { // enough that few threads wait for the last
				if err := w.flush(ctx, w.Parallel); err != nil {
					return err
				}
			}
		}
	}
	return w.flush(ctx, w.Parallel)
}

// large is the number of nodes from which trainings on the whole graph go one at a time: each keeps all threads busy, and takes much memory.
const large = 20_000

// wholes trains on the whole graph.
func (w *work) wholes(ctx context.Context) error {
	for _, c := range w.whole {
		if _, is := w.found[c.key]; is {
			continue
		}
		target, err := w.target(setting{c.record.Standardize, c.record.Inductive})
		if err != nil {
			return err
		}
		sample := target.Sample()
		c.record.Nodes, _ = sample.X.Dims()
		c.record.Edges = sample.Adj.NNZ() / 2
		w.queue(c, sample, target)
	}
	atOnce := w.Parallel
	if w.g.Nodes() >= large {
		atOnce = 1
	}
	return w.flush(ctx, atOnce)
}

func (w *work) atOnce() int {
	if w.Parallel == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return w.Parallel
}

// target returns what models of a setting are tested on.
func (w *work) target(s setting) (*gnn.Target, error) {
	if t := w.targets[s]; t != nil {
		return t, nil
	}
	g := w.g
	if err := testable(g); err != nil {
		return nil, err
	}
	if s.standardize {
		scaling, err := graph.FitScaling(g.X, g.Split.Train) // as condensation does: of the training nodes in either setting
		if err != nil {
			return nil, err
		}
		g = g.Scaled(scaling)
	}
	t, err := gnn.NewTarget(g, s.inductive)
	w.targets[s] = t
	return t, err
}

// testable returns an error if g has no test nodes.
func testable(g *graph.Graph) error {
	if len(g.Split.Test) == 0 {
		return fmt.Errorf("experiment: graph %s has no test nodes (0), want at least 1", g.Name)
	}
	return nil
}

func (w *work) queue(c cell, sample *gnn.Sample, target *gnn.Target) {
	w.queued[c.key] = true
	w.jobs = append(w.jobs, job{c.model, sample, target, c.record.Training, c.record.TrainingSeed})
	w.waiting = append(w.waiting, c.record)
}

// flush does the trainings that are queued.
func (w *work) flush(ctx context.Context, atOnce int) error {
	jobs, waiting := w.jobs, w.waiting
	w.jobs, w.waiting = nil, nil
	return train(ctx, jobs, atOnce, func(i int, result *gnn.Result) error {
		r := waiting[i]
		r.Val, r.Test, r.Epoch, r.TrainingSeconds, r.Build = result.Validation, result.Test, result.Epoch, result.Seconds, ThisBuild()
		if w.Peak != nil {
			r.Peak = w.Peak()
		}
		if w.log != nil {
			if err := w.log.Add(r); err != nil {
				return err
			}
		}
		w.found[r.key()] = r
		w.tally.done("trained " + r.Model)
		return nil
	})
}

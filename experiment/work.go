package experiment

import (
	"context"
	"maps"
	"runtime"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/training"
	"github.com/graph-condensation/cgc/progress"
)

// work is a running grid.
type work struct {
	Grid
	g            *graph.Graph
	nodes        []int // N′ of each arm
	log          *Log
	keep         func(*condense.Condensed)
	cells, whole []cell
	found        map[string]Record // by key
	targets      map[condense.Setting]*gnn.Target
	stages       stages

	jobs    []training.Job // training runs that are queued
	waiting []cell         // and their cells
	queued  map[string]bool
}

// condensing is the stage of condensations.
const condensing = "condensing"

// stage returns the stage of a training run. Runs of one stage take about the same time.
func (c cell) stage() string {
	if c.arm < 0 {
		return "training " + c.model.Name() + " on the full graph"
	}
	return "training " + c.model.Name()
}

// begin looks up the known training runs in the log and announces the others.
func (w *work) begin(ctx context.Context) {
	type condensation struct {
		arm  int
		seed uint64
	}
	condensations, trainings := map[condensation]bool{}, map[string]bool{}
	w.stages = stages{}
	for _, c := range slices.Concat(w.cells, w.whole) {
		if r, is := w.log.find(c.key); is {
			w.found[c.key] = r
			continue
		}
		if trainings[c.key] { // another arm has the same training
			continue
		}
		trainings[c.key] = true
		w.stages.plan(c.stage(), 1)
		if c.arm >= 0 {
			condensations[condensation{c.arm, c.record.Seed}] = true
		}
	}
	w.stages.plan(condensing, len(condensations))
	w.stages.announce(ctx)
}

// missing returns the cells of an arm and seed that are neither found nor queued.
func (w *work) missing(arm int, seed uint64) (cells []cell) {
	for _, c := range w.cells {
		if _, is := w.found[c.key]; !is && !w.queued[c.key] && c.arm == arm && c.record.Seed == seed {
			cells = append(cells, c)
		}
	}
	return cells
}

// condensations does all missing training runs on condensed graphs. Arms that share a preparation are processed
// together, so that only one preparation is in memory.
func (w *work) condensations(ctx context.Context) error {
	first := map[int][]int{} // arms that share a preparation, by the first arm
	for i, a := range w.Arms {
		preparer, is := a.Method.(condense.Preparer)
		at := slices.IndexFunc(w.Arms, func(b Arm) bool { return is && preparer.SharesPreparation(b.Method) })
		if at < 0 {
			at = i
		}
		first[at] = append(first[at], i)
	}
	for i := range w.Arms {
		if err := w.together(ctx, first[i]); err != nil {
			return err
		}
	}
	return nil
}

// together condenses for arms that share a preparation, and trains on the results.
func (w *work) together(ctx context.Context, arms []int) error {
	var prepared condense.Prepared
	for _, arm := range arms {
		a := w.Arms[arm]
		for s := range uint64(w.Seeds) {
			seed := w.Seed + s
			cells := w.missing(arm, seed)
			if len(cells) == 0 && w.keep == nil {
				continue
			}
			target, err := w.target(ctx, a.setting()) // first, because it fails if there are no validation nodes
			if err != nil {
				return err
			}
			w.stages.begin(ctx, condensing)
			small, err := w.condense(ctx, &prepared, a, w.nodes[arm], seed)
			if err != nil {
				return w.in(a, err)
			}
			if w.keep != nil {
				w.keep(small)
			}
			for _, sentence := range small.Warnings {
				if w.Warn != nil {
					w.Warn(sentence)
				}
			}
			w.stages.end(ctx, condensing)
			sample := Sample(small)
			for _, c := range cells {
				c.record.Edges, c.record.Seconds = small.Edges(), small.Seconds
				w.queue(c, sample, target)
			}
			if len(w.jobs) >= 4*runtime.GOMAXPROCS(0) { // enough that few threads are idle at the end
				if err := w.flush(ctx, false); err != nil {
					return err
				}
			}
		}
	}
	return w.flush(ctx, false)
}

// condense condenses by the method of an arm, and checks the result. It first prepares the graph if the method can
// share a preparation.
func (w *work) condense(
	ctx context.Context, prepared *condense.Prepared, a Arm, nodes int, seed uint64,
) (small *condense.Condensed, err error) {
	ctx = training.Uncounted(ctx)
	if preparer, is := a.Method.(condense.Preparer); is {
		if *prepared == nil {
			if *prepared, err = preparer.Prepare(ctx, w.g); err != nil {
				return nil, err
			}
		}
		small, err = (*prepared).Condense(ctx, a.Method, nodes, seed)
	} else {
		small, err = a.Method.Condense(ctx, w.g, nodes, seed)
	}
	if err != nil {
		return nil, err
	}
	if err := condense.CheckResult(a.Method, w.g, nodes, small); err != nil {
		return nil, err
	}
	compared, err := small.CheckTarget(w.g)
	if err != nil {
		return nil, err
	}
	if err := compared.Err(); err != nil && compared.Known { // the method may have read another graph
		return nil, err
	}
	return small, nil
}

// large is the smallest number of nodes for which models are trained on the full graph one after another: each run
// keeps all threads busy and needs a lot of memory.
const large = 20_000

// wholes does all missing training runs on the full graph.
func (w *work) wholes(ctx context.Context) error {
	for _, c := range w.whole {
		if _, is := w.found[c.key]; is {
			continue
		}
		target, err := w.target(ctx, c.record.Setting)
		if err != nil {
			return err
		}
		sample := target.Sample()
		c.record.Nodes, _ = sample.X.Dims()
		c.record.Edges = sample.Adj.NNZ() / 2
		w.queue(c, sample, target)
	}
	return w.flush(ctx, w.g.Nodes() >= large)
}

func (w *work) target(ctx context.Context, s condense.Setting) (*gnn.Target, error) {
	if t := w.targets[s]; t != nil {
		return t, nil
	}
	if err := w.g.NeedTest(); err != nil && !w.Blind {
		return nil, err
	}
	g, _, err := s.Features(ctx, w.g)
	if err != nil {
		return nil, err
	}
	// One arm is enough: the arms of a command differ only in their methods.
	arm := w.Arms[slices.IndexFunc(w.Arms, func(a Arm) bool { return a.setting() == s })]
	t, err := training.Target(ctx, g, s.Inductive, w.Memory, w.Models, arm.Training.Hidden, w.Planned)
	if err != nil {
		return nil, err
	}
	w.targets[s] = t
	return t, nil
}

// queue adds a training run to the waiting ones.
func (w *work) queue(c cell, sample *gnn.Sample, target *gnn.Target) {
	w.queued[c.key] = true
	w.jobs = append(w.jobs, training.Job{
		Model: c.model, Sample: sample, Target: target, Training: c.record.Training, Seed: c.record.TrainingSeed,
	})
	w.waiting = append(w.waiting, c)
}

// flush runs the queued training runs, one after another if inOrder is set.
func (w *work) flush(ctx context.Context, inOrder bool) error {
	jobs, waiting := w.jobs, w.waiting
	w.jobs, w.waiting = nil, nil
	if len(waiting) > 0 {
		w.stages.begin(ctx, waiting[0].stage())
	}
	return training.Run(ctx, jobs, inOrder, func(i int, result *gnn.Result) error {
		r := waiting[i].record
		r.Val, r.Test, r.Epoch, r.TrainingSeconds = result.Validation, result.Test, result.Epoch, result.Seconds
		r.Metrics = result.Metrics
		r.Build = ThisBuild()
		if w.keep != nil && r.TrainingSeed == w.Seed {
			r.predicted = result.Predicted
		}
		if w.Measure != nil {
			w.Measure(&r)
		}
		if w.log != nil {
			if err := w.log.Add(r); err != nil {
				return err
			}
		}
		w.found[r.key()] = r
		w.stages.end(ctx, waiting[i].stage())
		return nil
	})
}

// stages counts the pieces of work of each stage. Pieces of a stage take about the same time, so that listeners can
// estimate the remaining time. It is not safe for concurrent use.
type stages map[string]*progress.Event

// plan adds pieces to a stage, before anything is announced.
func (s stages) plan(stage string, pieces int) {
	if s[stage] == nil {
		s[stage] = &progress.Event{Stage: stage}
	}
	s[stage].Total += int64(pieces)
}

// announce reports the number of pieces of each stage.
func (s stages) announce(ctx context.Context) {
	for _, stage := range slices.Sorted(maps.Keys(s)) {
		s.begin(ctx, stage)
	}
}

// begin reports that work on a stage starts. It reports nothing if the stage has no pieces, or if some have ended: the
// last report still holds.
func (s stages) begin(ctx context.Context, stage string) {
	if e := s[stage]; e != nil && e.Total > 0 && e.Done == 0 {
		progress.Report(ctx, *e)
	}
}

// end counts a piece of a stage, and reports it.
func (s stages) end(ctx context.Context, stage string) {
	s[stage].Done++
	progress.Report(ctx, *s[stage])
}

package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

// Arm is one way to condense a graph and to train on the result.
type Arm struct {
	// Name is what tables call the arm. Arms of one name differ in their number of nodes.
	Name string
	// Method condenses the graph to Size.
	Method condense.Method
	Size   condense.Size
	// Training says how models are trained.
	Training gnn.Config
}

// setting returns the setting of the arm's method.
func (a Arm) setting() condense.Setting { return condense.SettingOf(a.Method) }

// Grid is an experiment on one graph: every arm with every condensation seed, every training seed and every model.
type Grid struct {
	// Arms is what is compared, at least one.
	Arms []Arm
	// Seed is the first condensation seed, for all arms.
	Seed uint64
	// Seeds is the number of condensations of each arm, at least 1, with the seeds Seed, Seed+1, ….
	Seeds int
	// Trainings is the number of trainings of each model on each condensed graph, 1 to 1000. Training j on the condensed
	// graph of seed s has seed s + j·10⁶, the same for all arms and models.
	Trainings int
	// Models are trained and tested, at least one.
	Models []gnn.Model
	// Whole is the number of trainings of each model on the whole graph, at least 0, with the seeds Seed, Seed+1, ….
	// Arms with the same training and the same setting share them.
	Whole int
	// Blind shows g without its test nodes and their labels (graph.Graph.WithoutTest), for a search that validation nodes
	// decide. Record.Test is 0 then, and the fingerprint in the records is that of the graph without the labels.
	Blind bool
	// Parallel is the number of trainings at once. 0 means the number of threads (runtime.GOMAXPROCS). Results do not
	// depend on it.
	Parallel int
	// Memory and Planned are as in Evaluation: they bound what testing takes, for every setting of the arms. With a graph
	// that is larger, one training runs at a time.
	Memory  int64
	Planned func(*gnn.Plan)
	// Peak, if set, returns the largest resident set of the process in bytes, for Record.Peak.
	Peak func() int64
	// Warn, if set, is called with each warning of each condensed graph (condense.Condensed.Warnings).
	Warn func(sentence string)
}

// step is the distance between the training seeds on one condensed graph. It is above any number of condensation seeds.
const step = 1_000_000

// Run carries out the grid on g and returns a record for each training. They are ordered by arm, model, condensation
// seed and training seed. Records of the whole graph follow, by model.
//
// Trainings that log holds are taken from it, and new ones are added to it at once. A graph is condensed only if a
// training on it is left to do. So a run that was stopped goes on where it was, with the numbers it would have had.
// With a nil log nothing is kept.
//
// Everything that is wrong with the grid, or with g for it, is reported before anything is condensed. Labels of test
// nodes are read after training and decide nothing. The same grid gives the same numbers for any number of threads.
// Each condensation and training that ends is reported to ctx with their total, less those that log holds.
func (p Grid) Run(ctx context.Context, g *graph.Graph, log *Log) ([]Record, error) {
	if p.Blind {
		if err := g.CheckContext(ctx); err != nil {
			return nil, fmt.Errorf("experiment: graph %s is not valid: %w", g.Name, err)
		}
		g = g.WithoutTest()
	}
	id, err := graph.Identify(g)
	if err != nil {
		return nil, err
	}
	return p.run(ctx, g, id, log, nil)
}

// run is Run. If keep is not nil, every condensation is done, and keep is given its graph.
func (p Grid) run(
	ctx context.Context, g *graph.Graph, id graph.Identity, log *Log, keep func(*condense.Condensed),
) (_ []Record, err error) {
	defer memory.Recover(&err)
	nodes, err := p.check(g)
	if err != nil {
		return nil, err
	}
	w := &work{
		Grid: p, g: g, nodes: nodes, log: log, keep: keep, found: map[string]Record{}, queued: map[string]bool{},
		targets: map[condense.Setting]*gnn.Target{},
	}
	if err := w.plan(id); err != nil {
		return nil, err
	}
	defer func() {
		for _, t := range w.targets {
			t.Close()
		}
	}()
	w.begin()
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

// check returns N′ of each arm, or what is wrong with the grid.
func (p Grid) check(g *graph.Graph) (nodes []int, err error) {
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
		return nil, errors.Join(errs...)
	}
	models := map[string]bool{}
	for _, m := range p.Models {
		if models[m.Name()] {
			return nil, fmt.Errorf("experiment: model %s is there twice, want it once", m.Name())
		}
		models[m.Name()] = true
	}
	type label struct {
		name  string
		nodes int
	}
	known := map[label]bool{}
	for _, a := range p.Arms {
		n, err := a.check(g)
		if err != nil {
			return nil, p.in(a, err)
		}
		l := label{a.Name, n}
		if known[l] {
			return nil, fmt.Errorf("experiment: two arms are called %q and have %d nodes, want another name for one", a.Name, n)
		}
		known[l] = true
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// check returns N′, or what is wrong with the arm, or with g for it.
func (a Arm) check(g *graph.Graph) (nodes int, err error) {
	if a.Method == nil {
		return 0, errors.New("experiment: no method (nil)")
	}
	if err := errors.Join(a.Size.Validate(), a.Training.Validate()); err != nil {
		return 0, err
	}
	if nodes, err = a.Size.Of(g, a.setting().Inductive); err != nil {
		return 0, err
	}
	if c, is := a.Method.(condense.Checker); is {
		return nodes, c.Check(g, nodes)
	}
	return nodes, nil
}

// in says which arm err is about, if there are several.
func (p Grid) in(a Arm, err error) error {
	if len(p.Arms) == 1 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("experiment: arm %s: %w", a.Name, err)
}

// cell is a planned training. Its record lacks only the outcome.
type cell struct {
	record Record
	key    string
	arm    int // −1: on the whole graph
	model  gnn.Model
}

// newCell returns the cell of a record.
func newCell(r Record, id graph.Identity, arm int, m gnn.Model) cell {
	r.Version, r.Graph, r.Model = RecordVersion, id, m.Name()
	return cell{record: r, key: r.key(), arm: arm, model: m}
}

// plan lists the trainings: those on condensed graphs in w.cells, those on the whole graph in w.whole.
func (w *work) plan(id graph.Identity) error {
	for i, a := range w.Arms {
		setting := a.setting()
		for _, m := range w.Models {
			for s := range uint64(w.Seeds) {
				seed := w.Seed + s
				config, err := condense.Configuration(a.Method, w.nodes[i], seed)
				if err != nil {
					return w.in(a, err)
				}
				for j := range uint64(w.Trainings) {
					w.cells = append(w.cells, newCell(Record{
						Arm: a.Name, Config: config, Setting: setting,
						Training: a.Training, Seed: seed, TrainingSeed: seed + step*j, Nodes: w.nodes[i],
					}, id, i, m))
				}
			}
		}
	}
	planned := map[string]bool{}
	for _, a := range w.Arms {
		setting, training := a.setting(), a.Training
		training.Weighted = false // a node of the whole graph stands for itself
		for _, m := range w.Models {
			for s := range uint64(w.Grid.Whole) {
				c := newCell(Record{
					Arm: Whole, Setting: setting,
					Training: training, TrainingSeed: w.Seed + s,
				}, id, -1, m)
				if !planned[c.key] {
					planned[c.key] = true
					w.whole = append(w.whole, c)
				}
			}
		}
	}
	return nil
}

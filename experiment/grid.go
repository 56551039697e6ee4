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
	// Name is the name of the arm in tables. Arms with the same name must differ in their number of nodes.
	Name string
	// Method condenses the graph to Size.
	Method condense.Method
	Size   condense.Size
	// Training configures all training runs.
	Training gnn.Config
}

func (a Arm) setting() condense.Setting { return condense.SettingOf(a.Method) }

// Grid is an experiment on one graph: every arm with every condensation seed, every training seed and every model.
type Grid struct {
	// Arms lists the arms to compare, at least one.
	Arms []Arm
	// Seed is the first condensation seed, for all arms.
	Seed uint64
	// Seeds is the number of condensations of each arm, at least 1, with the seeds Seed, Seed+1, ….
	Seeds int
	// Trainings is the number of training runs of each model on each condensed graph, 1 to 1000. Run j on the condensed
	// graph of seed s has seed s + j·10⁶ for all arms and models.
	Trainings int
	// Models lists the models to train and test, at least one.
	Models []gnn.Model
	// Whole is the number of training runs of each model on the full graph, at least 0, with the seeds Seed, Seed+1, ….
	// Arms with the same training configuration and setting share them.
	Whole int
	// Blind hides the test nodes and their labels (graph.Graph.WithoutTest), for a search by validation accuracy.
	// Record.Test is then 0, and records hold the fingerprint of the graph without these labels.
	Blind bool
	// Memory and Planned apply to testing, as in Evaluation, for every setting of the arms. If the graph is larger than
	// Memory, models are trained one after another.
	Memory  int64
	Planned func(*gnn.Plan)
	// Measure, if set, sets Record.Peak and Record.Processor of each new record.
	Measure func(*Record)
	// Warn, if set, is called with each warning of each condensed graph (condense.Condensed.Warnings).
	Warn func(sentence string)
}

// step separates the training seeds on one condensed graph. It is larger than any practical number of condensation
// seeds.
const step = 1_000_000

// Run carries out the grid on g and returns a record for each training run, ordered by arm, model, condensation seed
// and training seed. Records of the full graph follow, by model.
//
// Run skips training runs that log already has, and adds each new one to log as soon as it ends. It condenses a graph
// only if a run on it is missing. An interrupted run can therefore be resumed and gives the same numbers as an
// uninterrupted one. If log is nil, nothing is kept.
//
// Run checks the grid before it condenses anything. Labels of test nodes are read only after training, and no choice
// depends on them. The same grid gives the same numbers for any number of threads. There is a progress stage for
// condensations, one for the training runs of each model, and one for each model's training runs on the full graph. Run
// reports to ctx the number of missing pieces of work, and each piece when it ends.
func (p Grid) Run(ctx context.Context, g *graph.Graph, log *Log) (_ []Record, err error) {
	defer memory.Recover(&err)
	if err := g.Check(ctx); err != nil {
		return nil, err
	}
	if p.Blind {
		g = g.WithoutTest()
	}
	id, err := graph.Identify(g)
	if err != nil {
		return nil, err
	}
	return p.run(ctx, g, id, log, nil)
}

// run implements Run. If keep is not nil, every condensation is done, and its graph is passed to keep.
func (p Grid) run(
	ctx context.Context, g *graph.Graph, id graph.Identity, log *Log, keep func(*condense.Condensed),
) ([]Record, error) {
	nodes, err := p.check(g)
	if err != nil {
		return nil, err
	}
	w := &work{
		Grid: p, g: g, nodes: nodes, log: log, keep: keep, found: map[string]Record{}, queued: map[string]bool{},
		targets: map[condense.Setting]*gnn.Target{},
	}
	if err := w.plan(ctx, id); err != nil {
		return nil, err
	}
	defer func() {
		for _, t := range w.targets {
			t.Close()
		}
	}()
	w.begin(ctx)
	if err := w.condensations(ctx); err != nil {
		return nil, err
	}
	if err := w.wholes(ctx); err != nil {
		return nil, err
	}
	var records []Record
	for _, c := range slices.Concat(w.cells, w.whole) {
		r := w.found[c.key]
		r.Arm, r.Graph.Name = c.record.Arm, c.record.Graph.Name // the log may have other names
		records = append(records, r)
	}
	return records, nil
}

// check validates the grid and returns N′ of each arm.
func (p Grid) check(g *graph.Graph) (nodes []int, err error) {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(len(p.Arms) > 0, "0 arms, must be at least 1")
	check(p.Seeds >= 1, "%d seeds, must be at least 1", p.Seeds)
	check(p.Trainings >= 1 && p.Trainings <= 1000, "%d trainings, must be 1 to 1000", p.Trainings)
	check(len(p.Models) > 0, "0 models, must be at least 1")
	check(p.Whole >= 0, "%d trainings on the full graph, must be at least 0", p.Whole)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	models := map[string]bool{}
	for _, m := range p.Models {
		if models[m.Name()] {
			return nil, fmt.Errorf("model %s is listed twice, must be listed once", m.Name())
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
			return nil, fmt.Errorf("two arms are called %q and have %d nodes, must have another name for one",
				a.Name, n)
		}
		known[l] = true
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// check validates the arm and returns N′ on g.
func (a Arm) check(g *graph.Graph) (nodes int, err error) {
	if a.Method == nil {
		return 0, errors.New("no method (nil)")
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

// in adds the name of the arm to err, unless there is only one arm or err is a cancellation.
func (p Grid) in(a Arm, err error) error {
	if len(p.Arms) == 1 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("arm %s: %w", a.Name, err)
}

// cell is a planned training run. Its record lacks only the outcome.
type cell struct {
	record Record
	key    string
	arm    int // −1 stands for the full graph
	model  gnn.Model
}

// newCell returns the cell of a record.
func newCell(r Record, id graph.Identity, arm int, m gnn.Model) cell {
	r.Version, r.Graph, r.Model = recordVersion, id, m.Name()
	return cell{record: r, key: r.key(), arm: arm, model: m}
}

// plan lists the training runs on condensed graphs in w.cells, and the training runs on the full graph in w.whole.
func (w *work) plan(ctx context.Context, id graph.Identity) error {
	for i, a := range w.Arms {
		setting := a.setting()
		for _, m := range w.Models {
			for s := range uint64(w.Seeds) {
				if err := ctx.Err(); err != nil { // there may be many seeds
					return err
				}
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
		training.Weighted = false // nodes of the full graph have no weights
		for _, m := range w.Models {
			for s := range uint64(w.Grid.Whole) {
				if err := ctx.Err(); err != nil {
					return err
				}
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

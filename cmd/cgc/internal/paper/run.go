package paper

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/progress"
)

// Job is the measurement of a study. The command checks the bounds of its fields.
type Job struct {
	Study *Study
	// Sources are the graphs, at least one.
	Sources []Source
	// Left has a sentence for each omitted graph: see Choose.
	Left []string
	// Open opens a source.
	Open func(context.Context, Source) (*graph.Graph, error)
	// Seeds is the number of condensations of each arm, at least 1, each with its own training. Seed is the first seed.
	Seeds int
	Seed  uint64
	// Whole is the number of training runs on the full graph, for studies that compare with it. −1 means Seeds for graphs
	// of at most 20,000 nodes, and none for larger ones.
	Whole int
	// Ours selects the parameters of cgc.Defaults instead of the paper's.
	Ours bool
	// Authors selects, for each cell, the parameters that the authors' program sets. Cells for which it has none are left
	// out. It excludes Ours and Search.
	Authors bool
	// NormalizeFeatures first divides the features of each node by the sum of their absolute values, as is usual for Cora
	// and Citeseer.
	NormalizeFeatures bool
	// Models, if not nil, restricts the study to its models in this list.
	Models []gnn.Model
	// Training is the configuration of all training runs.
	Training gnn.Config
	// Methods lists additional methods to measure, in this order, if Study.Beside is set. They run in the setting of
	// the study.
	Methods []condense.Method
	// Search, if not nil, first searches the parameters of each cell. Then no model is trained on the full graph, because
	// the search does not cover that training.
	Search *Search
	// Log records each training run, and training runs in the log are not repeated. nil records nothing. Times are never
	// recorded.
	Log *experiment.Log

	// Show, if not nil, is called for each graph after its measurement, with the configuration of its first arm.
	Show func(ctx context.Context, s Source, g *graph.Graph, config cgc.Config) error
	// Note, if not nil, is called with each sentence for the user.
	Note func(sentence string)
}

// smallWhole is the largest number of nodes for which training on the full graph takes seconds.
const smallWhole = 20_000

// Run measures the study on one graph after another, and keeps only one in memory. Equal jobs on equal graphs give
// equal results, apart from times. Run honours cancellation; the log then contains the finished training runs. Run
// reports the number of training runs and timed condensations to ctx (package progress), separately for each graph.
func (j Job) Run(ctx context.Context) (*Result, error) {
	r := &Result{
		Study: j.Study.Name, Title: j.Study.Title, Source: Published().Source, DOI: Published().DOI, Settings: "paper",
		NormalizeFeatures: j.NormalizeFeatures, Seeds: j.Seeds, Seed: j.Seed, Training: j.Training, LeftOut: j.Left,
	}
	if j.Search != nil {
		r.Trials = j.Search.Trials
	}
	switch {
	case j.Ours:
		r.Settings = "ours"
	case j.Authors:
		r.Settings = "authors"
	}
	for _, s := range j.Sources {
		if err := j.on(ctx, s, r); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return r, nil
}

// on measures the study on one graph and adds the results to r.
func (j Job) on(ctx context.Context, s Source, r *Result) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.Made {
		j.note("%s is not available: a synthetic graph of its size replaces it", s.Name)
	}
	g, err := j.Open(ctx, s)
	if err != nil {
		return err
	}
	is, err := describe(s, g)
	if err != nil {
		return err
	}
	r.Graphs = append(r.Graphs, is)
	if j.Study.data {
		return nil
	}
	var plans []arm
	for _, size := range sizes(s.Name, g, j.Study.ratios) {
		base := j.settings(is.Inductive, size)
		for _, sw := range j.Study.all() {
			arms := append(slices.Clone(sw.arms), beside(j.Methods, base.Setting(), len(j.Study.models) > 1)...)
			for _, a := range arms {
				a.size, a.part, a.training, a.config = size, sw.name, j.Training, base
				if a.rival == nil {
					a.config.Variant = a.of.is
				}
				if a.change != nil {
					a.change(&a.config)
				}
				if j.Authors && !a.authors(s.Name) {
					continue
				}
				plans = append(plans, a)
			}
		}
	}
	if len(plans) == 0 {
		return fmt.Errorf("the authors' program sets no parameters for this graph in %s", j.Study.Name)
	}
	if j.Search != nil && len(j.Study.models) > 0 {
		for i := range plans {
			if err := j.search(ctx, g, j.settings(is.Inductive, plans[i].size), &plans[i]); err != nil {
				return fmt.Errorf("searching %s: %w", plans[i].name, err)
			}
		}
	}
	if j.Study.timed {
		if err := j.time(ctx, g, is, plans, r); err != nil {
			return err
		}
	}
	if len(j.Study.models) > 0 {
		if err := j.train(ctx, g, is, plans, r); err != nil {
			return err
		}
	}
	if j.Show == nil {
		return nil
	}
	return j.Show(ctx, s, g, plans[0].config)
}

func (j Job) note(format string, values ...any) {
	if j.Note != nil {
		j.Note(fmt.Sprintf(format, values...))
	}
}

// train runs an experiment with all planned arms, and adds the cells to r.
func (j Job) train(ctx context.Context, g *graph.Graph, is Graph, plans []arm, r *Result) error {
	grid := experiment.Grid{Seed: j.Seed, Seeds: j.Seeds, Trainings: 1, Models: among(j.Study.models, j.Models)}
	for _, p := range plans {
		grid.Arms = append(grid.Arms, experiment.Arm{
			Name: p.name, Method: p.method(), Size: condense.Size{Nodes: p.size.nodes}, Training: p.training,
		})
	}
	if j.Study.whole && j.Search == nil {
		switch grid.Whole = j.Whole; {
		case j.Whole >= 0:
		case g.Nodes() <= smallWhole:
			grid.Whole = j.Seeds
		default:
			grid.Whole = 0
			j.note("%s: nothing is trained on the full graph, which may take a long time (--whole 1 does)", is.Name)
		}
	}
	records, err := grid.Run(ctx, g, j.Log)
	if err != nil {
		return err
	}
	summaries := experiment.Summarize(records)
	for _, p := range plans {
		var of []experiment.Summary
		for _, s := range summaries {
			if s.Arm == p.name && s.Nodes == p.size.nodes && !s.IsWhole() {
				of = append(of, s)
			}
		}
		for _, s := range of {
			r.Cells = append(r.Cells, j.cell(is, p, s))
		}
		if len(of) > 1 {
			r.Cells = append(r.Cells, j.cell(is, p, average(of)))
		}
	}
	for _, s := range summaries {
		if s.IsWhole() { // the paper repeats the number at all ratios
			r.Cells = append(r.Cells, j.cell(is, arm{name: wholeName, column: wholeName, size: plans[0].size}, s))
		}
	}
	return nil
}

const (
	wholeName   = "Whole" // the name of the column in published.json
	averageName = "AVG"
)

// cell converts a summary to a cell of the result, and adds the paper's number.
func (j Job) cell(is Graph, a arm, s experiment.Summary) Cell {
	c := Cell{
		Graph: is.Name, Ratio: a.size.ratio, Nodes: s.Nodes, Part: a.part, Arm: a.name, X: a.x, Model: s.Model,
		Seeds: len(s.Seeds), Config: s.Config, Test: s.Test, Val: s.Val, Condense: s.Condense, Train: s.Train,
		Edges: s.Edges, Comparable: is.Comparable, Found: a.found,
	}
	for _, seed := range s.Seeds {
		c.Best = max(c.Best, seed.Test)
	}
	column := a.column
	if column == "" {
		column = printedModel(s.Model)
	}
	// The paper's average is over all models.
	if s.Model != averageName || len(among(j.Study.models, j.Models)) == len(j.Study.models) {
		c.Paper = printed(is.Name, a.size.ratio, a.row, column, j.Study.tables...)
	}
	if s.IsWhole() {
		c.Ratio = ""
	}
	return c
}

// printed returns the paper's number in the first of the tables that has it, or nil.
func printed(graph, ratio, method, column string, tables ...string) *Value {
	for _, name := range tables {
		if table := Published().Table(name); table != nil {
			if v, is := table.Value(graph, ratio, method, column); is {
				return &v
			}
		}
	}
	return nil
}

// average returns a summary that has, for each seed, the mean over the models.
func average(of []experiment.Summary) experiment.Summary {
	s := of[0]
	s.Model, s.Train = averageName, 0
	s.Seeds = slices.Clone(s.Seeds)
	var val, test []float64
	for i := range s.Seeds {
		seed := &s.Seeds[i]
		seed.Val, seed.Test = 0, 0
		for _, m := range of {
			seed.Val += m.Seeds[i].Val / float64(len(of))
			seed.Test += m.Seeds[i].Test / float64(len(of))
		}
		val, test = append(val, seed.Val), append(test, seed.Test)
	}
	for _, m := range of {
		s.Train += m.Train / float64(len(of))
	}
	s.Val, s.Test = experiment.EstimateOf(val), experiment.EstimateOf(test)
	return s
}

// time measures the median seconds of condensation of each arm. The arms are interleaved. Each condensation starts with
// only the graph in memory.
func (j Job) time(ctx context.Context, g *graph.Graph, is Graph, plans []arm, r *Result) error {
	seconds := make([][]condense.Seconds, len(plans))
	count := progress.NewCounter(0, j.Seeds*len(plans))
	for seed := range uint64(j.Seeds) {
		for i, p := range plans {
			debug.FreeOSMemory()
			// Condense must not report progress; only the counter does.
			small, err := p.method().Condense(progress.With(ctx, nil), g, p.size.nodes, j.Seed+seed)
			if err != nil {
				return err
			}
			seconds[i] = append(seconds[i], small.Seconds)
			count.Add(ctx, "timed "+p.name)
		}
	}
	for i, p := range plans {
		t := Time{
			Graph: is.Name, Ratio: p.size.ratio, Nodes: p.size.nodes, Arm: p.name, Runs: j.Seeds,
			Seconds: bench.Medians(seconds[i]),
		}
		t.Paper = printed(is.Name, p.size.ratio, "", p.column, j.Study.Name+secondsSuffix, "table4")
		r.Times = append(r.Times, t)
	}
	return nil
}

// among returns the models that are also in the list these, or all if it is nil.
func among(models, these []gnn.Model) (both []gnn.Model) {
	if these == nil {
		return models
	}
	for _, m := range models {
		if slices.ContainsFunc(these, func(n gnn.Model) bool { return n.Name() == m.Name() }) {
			both = append(both, m)
		}
	}
	return both
}

// Trains reports whether the study trains at least one of the given models; nil stands for all models. If models is not
// nil, it also returns true for a study that trains no model at all.
func (s *Study) Trains(models []gnn.Model) bool {
	if models == nil {
		return len(s.models) > 0
	}
	return len(s.models) == 0 || len(among(s.models, models)) > 0
}

// Work is the number of condensations and training runs in a study.
type Work struct {
	// Timed is the number of timed condensations. Trainings is the number of training runs on condensed graphs. Whole is
	// an upper bound on the number of training runs on full graphs.
	Timed     int `json:"timed"`
	Trainings int `json:"trainings"`
	Whole     int `json:"whole"`
}

// Work returns the work of measuring the study on the sources with the given number of seeds.
func (s *Study) Work(sources []Source, seeds int) Work {
	arms := 0
	for _, sw := range s.all() {
		arms += len(sw.arms)
	}
	each := seeds * len(sources)
	w := Work{Trainings: each * arms * len(s.models)}
	if s.timed {
		w.Timed = each * arms
	}
	if s.ratios {
		w.Trainings *= 3
	}
	for _, source := range sources {
		if of, _ := Published().Of(source.Name); s.whole && of.Nodes <= smallWhole { // 0 nodes if it is not in the paper
			w.Whole += seeds
		}
	}
	return w
}

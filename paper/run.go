package paper

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/bench"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/progress"
)

// Job says how a study is measured.
type Job struct {
	Study   *Study
	Sources []Source
	// Left says which graphs were left out, and why: see Choose.
	Left []string
	// Open opens a source.
	Open func(context.Context, Source) (*graph.Graph, error)
	// Seeds is the number of condensations of each arm, at least 1, each with a training of its own. Seed is the first.
	Seeds int
	Seed  uint64
	// Whole is the number of trainings on the whole graph, for studies that compare with it. −1 means Seeds for graphs of
	// at most 20,000 nodes, and none for larger ones.
	Whole int
	// Ours takes the parameters of cgc.Defaults instead of the paper's.
	Ours bool
	// NormalizeFeatures divides the features of each node by the sum of their absolute values first: what public programs
	// of the field do with Cora and Citeseer.
	NormalizeFeatures bool
	// Models, if not nil, leaves out the models of the study that are not in the list.
	Models []gnn.Model
	// Training says how models are trained.
	Training gnn.Config
	// Methods are measured beside those of the study, in their order, where Study.Beside says that it can have them. They
	// take the graph as it is: their setting is that of the study.
	Methods []condense.Method
	// Search, if not nil, searches the parameters of each cell first. Nothing is then trained on the whole graph, whose
	// parameters are not searched.
	Search *Search
	// Log keeps each training. A training that it holds is not done again. nil keeps nothing. Times are never kept.
	Log *experiment.Log

	// Show, if set, is called once for each graph, after it was measured, with the configuration of its first arm.
	Show func(ctx context.Context, s Source, g *graph.Graph, config cgc.Config) error
	// Note, if set, is called with a sentence for the user.
	Note func(sentence string)
}

// smallWhole is the largest number of nodes for which training on the whole graph takes seconds.
const smallWhole = 20_000

// Run measures the study on each graph, one in memory at a time. The result, times aside, depends only on the graphs,
// Seeds, Seed, Ours, NormalizeFeatures and Training. Run stops within moments of ctx's end, with ctx's error; the log
// then holds what was done. It reports each training and timed condensation to ctx (package progress), counted for each
// graph anew.
func (j Job) Run(ctx context.Context) (*Result, error) {
	if j.Seeds < 1 || j.Whole < -1 || len(j.Sources) == 0 {
		return nil, fmt.Errorf("paper: %d seeds, %d trainings on the whole graph, %d graphs, want at least 1, -1 and 1",
			j.Seeds,
			j.Whole, len(j.Sources))
	}
	if j.Search != nil && j.Search.Trials < 1 {
		return nil, fmt.Errorf("paper: %d trials, want at least 1", j.Search.Trials)
	}
	if len(j.Methods) > 0 && !j.Study.beside {
		return nil, fmt.Errorf("paper: %d methods beside those of %s, want 0", len(j.Methods), j.Study.Name)
	}
	r := &Result{
		Study: j.Study.Name, Title: j.Study.Title, Source: Published().Source, DOI: Published().DOI, Settings: "paper",
		Seeds: j.Seeds, Seed: j.Seed, Training: j.Training, LeftOut: j.Left,
	}
	r.NormalizeFeatures = j.NormalizeFeatures
	if j.Search != nil {
		r.Trials = j.Search.Trials
	}
	if j.Ours {
		r.Settings = "ours"
	}
	for _, s := range j.Sources {
		if err := j.on(ctx, s, r); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return r, nil
}

// on adds to r what the study finds on one graph.
func (j Job) on(ctx context.Context, s Source, r *Result) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.Made {
		j.note("%s is not here: a made graph of its size stands in", s.Name)
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
	b := j.settings(is.Inductive)
	var plans []planned
	for _, size := range sizes(s.Name, g, j.Study.ratios) {
		sized := func(m method) cgc.Config {
			c := b(m)
			c.Nodes, c.Seed = size.nodes, j.Seed
			return c
		}
		sweeps := j.Study.sweeps
		if sweeps == nil {
			sweeps = []sweep{{arms: j.Study.arms}}
		}
		for _, sw := range sweeps {
			arms := append(sw.arms(sized), beside(j.Methods, sized(full).Setting(), len(j.Study.models) > 1)...)
			for _, a := range arms {
				a.training = j.Training
				plans = append(plans, planned{size, sw.name, a})
			}
		}
	}
	if j.Search != nil && len(j.Study.models) > 0 {
		for i := range plans {
			if err := j.search(ctx, g, sizedBase(b, plans[i].size), &plans[i]); err != nil {
				return err
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
	return j.Show(ctx, s, g, plans[0].arm.config)
}

func (j Job) note(format string, values ...any) {
	if j.Note != nil {
		j.Note(fmt.Sprintf(format, values...))
	}
}

// planned is an arm at one size.
type planned struct {
	size size
	part string
	arm  arm
}

// train puts the arms through a grid.
func (j Job) train(ctx context.Context, g *graph.Graph, is Graph, plans []planned, r *Result) error {
	grid := experiment.Grid{Seed: j.Seed, Seeds: j.Seeds, Trainings: 1, Models: among(j.Study.models, j.Models)}
	for _, p := range plans {
		arm := experiment.Arm{
			Name: p.arm.name, Method: p.arm.method(), Size: condense.Size{Nodes: p.size.nodes},
			Training: p.arm.training,
		}
		grid.Arms = append(grid.Arms, arm)
	}
	if j.Study.whole && j.Search == nil {
		switch grid.Whole = j.Whole; {
		case j.Whole >= 0:
		case g.Nodes() <= smallWhole:
			grid.Whole = j.Seeds
		default:
			grid.Whole = 0
			j.note("%s: nothing is trained on the whole graph, which may take long (--whole 1 does)", is.Name)
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
			if s.Arm == p.arm.name && s.Nodes == p.size.nodes && !s.IsWhole() {
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
		if s.IsWhole() { // the paper has the same number at all ratios
			r.Cells = append(r.Cells, j.cell(is, planned{plans[0].size, "", arm{name: wholeName, column: wholeName}}, s))
		}
	}
	return nil
}

const (
	wholeName   = "Whole" // the column of published.json
	averageName = "AVG"
)

// cell turns a summary into a cell of the result, with the paper's number for it.
func (j Job) cell(is Graph, p planned, s experiment.Summary) Cell {
	a := p.arm
	c := Cell{
		Graph: is.Name, Ratio: p.size.ratio, Nodes: s.Nodes, Part: p.part, Arm: a.name, X: a.x, Model: s.Model,
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
	tables := j.Study.tables
	if s.Model == averageName && len(among(j.Study.models, j.Models)) < len(j.Study.models) {
		tables = nil // the paper's average is over all of them
	}
	for _, name := range tables {
		if v, ok := Published().Table(name).Value(is.Name, p.size.ratio, a.row, column); ok {
			c.Paper = &v
			break
		}
	}
	if s.IsWhole() {
		c.Ratio = ""
	}
	return c
}

// printedModel returns the paper's name of a model: "GCN" for "gcn". A model that the paper does not have keeps its
// name.
func printedModel(name string) string {
	for _, column := range Published().Table(modelsTable).Columns {
		if strings.EqualFold(column, name) {
			return column
		}
	}
	return name
}

// average returns the mean over the models, seed by seed.
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

// time takes the medians of the seconds of condensation, for each arm. The arms take turns. Each condensation begins
// with the graph in memory, and without memory of its own.
func (j Job) time(ctx context.Context, g *graph.Graph, is Graph, plans []planned, r *Result) error {
	seconds := make([][]condense.Seconds, len(plans))
	count := progress.NewCounter(0, j.Seeds*len(plans))
	for seed := range uint64(j.Seeds) {
		for i, p := range plans {
			debug.FreeOSMemory()
			// The counter reports, and not the methods.
			small, err := p.arm.method().Condense(progress.With(ctx, nil), g, p.size.nodes, j.Seed+seed)
			if err != nil {
				return err
			}
			seconds[i] = append(seconds[i], small.Seconds)
			count.Add(ctx, "timed "+p.arm.name)
		}
	}
	for i, p := range plans {
		t := Time{
			Graph: is.Name, Ratio: p.size.ratio, Nodes: p.size.nodes, Arm: p.arm.name, Runs: j.Seeds,
			Seconds: bench.Medians(seconds[i]),
		}
		for _, name := range []string{j.Study.Name + secondsSuffix, "table4"} {
			table := Published().Table(name)
			if table == nil {
				continue
			}
			if v, ok := table.Value(is.Name, p.size.ratio, "", p.arm.column); ok {
				t.Paper = &v
				break
			}
		}
		r.Times = append(r.Times, t)
	}
	return nil
}

// among returns the models of the first list that are in the second. A second list of nil holds all models.
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

// Trains says whether the study trains at least one of the models, or no model at all. nil asks whether it trains any.
func (s *Study) Trains(models []gnn.Model) bool {
	if models == nil {
		return len(s.models) > 0
	}
	return len(s.models) == 0 || len(among(s.models, models)) > 0
}

// Work is how much a study has to do.
type Work struct {
	// Timed counts condensations that are timed, Trainings trainings on condensed graphs. Whole is an upper bound of the
	// number of trainings on whole graphs.
	Timed, Trainings, Whole int
}

// Work returns how much there is to do to measure the study on the sources, with the given number of seeds.
func (s *Study) Work(sources []Source, seeds int) Work {
	arms := 0
	b := func(m method) cgc.Config { c := cgc.Defaults(); c.Variant = m.is; return c }
	if s.arms != nil {
		arms = len(s.arms(b))
	}
	for _, sw := range s.sweeps {
		arms += len(sw.arms(b))
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
		if of, _ := Published().Of(source.Name); s.whole && of.Nodes <= smallWhole { // 0 nodes if the paper does not have it
			w.Whole += seeds
		}
	}
	return w
}

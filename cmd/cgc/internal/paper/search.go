package paper

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/object"
)

// Search configures the search of appendix E.3. For each cell of a table, it searches the parameter grid in
// published.json for the highest validation accuracy. It has no access to labels of test nodes (experiment.Grid.Blind).
//
// It varies p, τ, T and α for cgc's methods that use them, the learning rate of condensation for methods that have one,
// and the dropout of the GNN. It keeps the parameter that defines a cell, such as the augmentation of "w/o AUG".
type Search struct {
	// Trials is the number of candidates of each cell, at least 1. The first is the cell's own configuration. The others
	// are drawn at random without repetition; a smaller space is searched completely.
	Trials int
	// Log records each training run of the search, so that an interrupted search can resume. nil records nothing.
	Log *experiment.Log
}

// A search has two rounds. In the first, each candidate is condensed with firstSeeds seeds. In the second, the best
// quarter, but at least finalists candidates, are condensed with moreSeeds further seeds. The highest mean validation
// accuracy over all seeds wins; ties go to the earlier candidate. The table uses other seeds, so that lucky candidates
// are measured afresh.
const (
	firstSeeds, moreSeeds = 2, 3
	finalists             = 2
	searchSeeds           = 1 << 20 // added to the seeds of the table
	searchStream          = 1 << 34 // stream of the random numbers
)

// Found is the result of a search.
type Found struct {
	// Trials is the number of candidates.
	Trials int `json:"trials"`
	// Changes lists the differences from the cell's own configuration.
	Changes []Change `json:"changes"`
	// Val is the mean validation accuracy of the winner in percent, over the seeds of the search. Base is the mean
	// validation accuracy of the cell's own configuration, over the seeds with which it was condensed.
	Val  float64 `json:"val"`
	Base float64 `json:"base_val"`
}

// Change is a parameter that a search changed.
type Change struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// dimension is a parameter that a search varies, over a few levels.
type dimension struct {
	name   string
	levels int
	show   func(level int) string
	set    func(a *arm, level int) error
}

// levels returns a dimension with the given values as levels.
func levels[V any](name string, values []V, set func(a *arm, v V) error) dimension {
	return dimension{
		name: name, levels: len(values), show: func(level int) string { return fmt.Sprint(values[level]) },
		set: func(a *arm, level int) error { return set(a, values[level]) },
	}
}

// space returns the dimensions of the search for an arm. base is the base configuration of the study. Parameters in
// which the arm differs from base define the arm and are not varied.
func space(a arm, base cgc.Config) (all []dimension) {
	sets := Published().Settings.Sets
	add := func(when bool, d dimension) {
		if when {
			all = append(all, d)
		}
	}
	if a.rival == nil {
		c := a.config
		add(c.Variant.Reads("augment") && c.Augment == base.Augment && c.Hops > 0,
			levels("p", sets.Augment, func(a *arm, v float64) error { a.config.Augment = v * float64(c.Hops); return nil }))
		add(c.Variant.Reads("temperature") && c.Temperature == base.Temperature,
			levels("τ", sets.Temperature, func(a *arm, v cgc.Temperature) error { a.config.Temperature = v; return nil }))
		add(c.Variant.Reads("threshold") && c.Threshold == base.Threshold,
			levels("T", sets.Threshold, func(a *arm, v float64) error { a.config.Threshold = v; return nil }))
		add(c.Variant.Reads("alpha") && c.Alpha == base.Alpha,
			levels("α", sets.Alpha, func(a *arm, v float64) error { a.config.Alpha = v; return nil }))
	} else {
		parameters, _ := object.Of(a.rival)
		add(slices.ContainsFunc(parameters, isRate), levels("learning rate", sets.LearningRate, setRates))
	}
	add(true, levels("dropout", sets.Dropout, func(a *arm, v float64) error { a.training.Dropout = v; return nil }))
	return all
}

// rateKeys lists the method parameters that are learning rates of the condensed graph.
var rateKeys = []string{"lr_feat", "lr_adj", "rate"}

// isRate reports whether a parameter is a learning rate.
func isRate(f object.Field) bool { return slices.Contains(rateKeys, f.Key) }

// setRates sets all learning rates of the arm's method to rate.
func setRates(a *arm, rate float64) error {
	all, err := object.Of(a.rival)
	if err != nil {
		return err
	}
	all = all.Without("normalize_features", "standardize", "inductive", "causal") // keys of the setting
	for i, f := range all {
		if isRate(f) {
			all[i].Value = json.RawMessage(fmt.Sprint(rate))
		}
	}
	m, err := condense.New(a.rival.Name(), all.Bytes())
	if err != nil {
		return err
	}
	a.rival = under(condense.SettingOf(a.rival), m)
	return nil
}

// trial is a candidate of a search.
type trial struct {
	arm     arm
	changes []Change
	vals    []float64 // mean over the models, by seed
}

func (t *trial) mean() float64 { return experiment.EstimateOf(t.vals).Mean }

// trials draws the candidates for an arm.
func (s *Search) trials(a arm, base cgc.Config, seed uint64) (all []*trial, err error) {
	dimensions := space(a, base)
	size := 1
	for _, d := range dimensions {
		size = min(size*d.levels, 1<<20)
	}
	random := rand.New(rand.NewPCG(seed, searchStream))
	seen := map[string]bool{}
	add := func(t *trial) {
		if key := t.key(); !seen[key] {
			seen[key] = true
			all = append(all, t)
		}
	}
	add(&trial{arm: a})
	for tries := 0; len(all) < s.Trials && tries < 20*size; tries++ {
		t := &trial{arm: a}
		for _, d := range dimensions {
			level, before := random.IntN(d.levels), t.key()
			if err := d.set(&t.arm, level); err != nil {
				return nil, err
			}
			if t.key() != before {
				t.changes = append(t.changes, Change{d.name, d.show(level)})
			}
		}
		add(t)
	}
	return all, nil
}

// key returns the configuration of a candidate. Equal candidates have equal keys.
func (t *trial) key() string {
	text, _ := json.Marshal([]any{t.arm.method(), t.arm.training}) // configurations can always be written
	return string(text)
}

// search replaces an arm with the best candidate of the search. base is the study's base configuration.
func (j Job) search(ctx context.Context, g *graph.Graph, base cgc.Config, p *arm) error {
	trials, err := j.Search.trials(*p, base, j.Seed)
	if err != nil {
		return err
	}
	first := slices.Clone(trials)
	if err := j.try(ctx, g, p.size.nodes, trials, 0, firstSeeds); err != nil {
		return err
	}
	better := func(a, b *trial) int { return cmp.Compare(b.mean(), a.mean()) }
	slices.SortStableFunc(trials, better)
	trials = trials[:min(max(len(trials)/4, finalists), len(trials))]
	if err := j.try(ctx, g, p.size.nodes, trials, firstSeeds, moreSeeds); err != nil {
		return err
	}
	slices.SortStableFunc(trials, better)
	best := trials[0]
	*p = best.arm
	p.found = &Found{
		Trials: len(first), Changes: append([]Change{}, best.changes...), Val: best.mean(), Base: first[0].mean(),
	}
	return nil
}

// try condenses and trains each trial with more seeds, starting at index from, and appends the results to vals.
func (j Job) try(ctx context.Context, g *graph.Graph, nodes int, trials []*trial, from, seeds int) error {
	grid := experiment.Grid{
		Seed: j.Seed + searchSeeds + uint64(from), Seeds: seeds, Trainings: 1,
		Models: among(j.Study.models, j.Models), Blind: true,
	}
	memory := map[string]*condense.Condensed{}
	for i, t := range trials {
		m := t.arm.method()
		if t.arm.rival != nil {
			m = remembered{wrapped{m}, memory}
		}
		grid.Arms = append(grid.Arms, experiment.Arm{
			Name: trialName(i), Method: m, Size: condense.Size{Nodes: nodes}, Training: t.arm.training,
		})
	}
	records, err := grid.Run(ctx, g, j.Search.Log)
	if err != nil {
		return err
	}
	of := map[string]map[uint64][]float64{}
	for _, r := range records {
		if of[r.Arm] == nil {
			of[r.Arm] = map[uint64][]float64{}
		}
		of[r.Arm][r.Seed] = append(of[r.Arm][r.Seed], r.Val)
	}
	for i, t := range trials {
		for seed := range uint64(seeds) {
			t.vals = append(t.vals, experiment.EstimateOf(of[trialName(i)][grid.Seed+seed]).Mean)
		}
	}
	return nil
}

func trialName(i int) string { return fmt.Sprintf("trial %d", i) }

// remembered wraps a method and caches its results, so that trials that differ only in their training condense once.
type remembered struct {
	wrapped
	memory map[string]*condense.Condensed // by configuration
}

// Condense returns the cached result for the same configuration, or condenses.
func (r remembered) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	config, err := condense.Configuration(r.Method, nodes, seed)
	if err != nil {
		return nil, err
	}
	if small := r.memory[string(config)]; small != nil {
		return small, nil
	}
	small, err := r.Method.Condense(ctx, g, nodes, seed)
	if err == nil {
		r.memory[string(config)] = small
	}
	return small, err
}

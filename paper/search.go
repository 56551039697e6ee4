package paper

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
)

// Search is the search of appendix E.3: for each cell of a table, over the sets of published.json, on the validation
// nodes. Labels of test nodes are not there to be read (experiment.Grid.Blind).
//
// What is searched: p, τ, T and α of the methods of cgc as far as they read them, the learning rate of condensation of
// methods that have one, and the dropout of the GNN for all. A parameter that the cell itself is about stays, such as
// the augmentation of "w/o AUG".
type Search struct {
	// Trials is the number of candidates of each cell, at least 1, the same for all methods. The first is the cell without
	// a search. The others are drawn at random, no two alike; a space that is smaller is searched whole.
	Trials int
	// Log keeps each training of the search. A search that was stopped goes on from it. nil keeps nothing.
	Log *experiment.Log
}

// A search has two rounds. In the first, each candidate has firstSeeds condensations. The best quarter, at least
// finalists of them, gets moreSeeds others. The highest mean validation accuracy over all seeds wins; of equal ones,
// the earlier. The seeds are not those of the table, so that a candidate that was lucky is judged afresh.
const (
	firstSeeds, moreSeeds = 2, 3
	finalists             = 2
	searchSeeds           = 1 << 20 // added to the seeds of the table
	searchStream          = 1 << 34 // of random numbers
)

// Found is what a search found.
type Found struct {
	// Trials is the number of candidates.
	Trials int `json:"trials"`
	// Changes lists what differs from the cell without a search.
	Changes []Change `json:"changes"`
	// Val is the mean validation accuracy of the winner in percent, over the seeds of the search. Base is that of the
	// cell without a search, over as many of these seeds as it had.
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

// levels returns the dimension of a list of values.
func levels[V any](name string, values []V, set func(a *arm, v V) error) dimension {
	return dimension{
		name: name, levels: len(values), show: func(level int) string { return fmt.Sprint(values[level]) },
		set: func(a *arm, level int) error { return set(a, values[level]) },
	}
}

// space returns what is searched for an arm. base is the configuration that the study began with: where the arm's
// differs from it, the arm is about the difference.
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
		add(len(rates(a.rival)) > 0, levels("learning rate", sets.LearningRate, setRates))
	}
	add(true, levels("dropout", sets.Dropout, func(a *arm, v float64) error { a.training.Dropout = v; return nil }))
	return all
}

// rateKeys are the parameters of methods that are learning rates of the condensed graph.
var rateKeys = []string{"lr_feat", "lr_adj", "rate"}

// rates returns those of rateKeys that a method has.
func rates(m condense.Method) (keys []string) {
	text, err := json.Marshal(m)
	var has map[string]json.RawMessage
	if err != nil || json.Unmarshal(text, &has) != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(rateKeys), func(key string) bool { return has[key] == nil })
}

// setRates gives the arm's method another learning rate.
func setRates(a *arm, rate float64) error {
	text, err := json.Marshal(a.rival)
	if err != nil {
		return err
	}
	var parameters map[string]json.RawMessage
	if err := json.Unmarshal(text, &parameters); err != nil {
		return err
	}
	setting := condense.SettingOf(a.rival)
	for _, key := range []string{"normalize_features", "standardize", "inductive"} { // of the setting
		delete(parameters, key)
	}
	for _, key := range rates(a.rival) {
		parameters[key] = json.RawMessage(fmt.Sprint(rate))
	}
	if text, err = json.Marshal(parameters); err != nil {
		return err
	}
	m, err := condense.New(a.rival.Name(), text)
	if err != nil {
		return err
	}
	a.rival = m
	if setting != (condense.Setting{}) {
		a.rival = condense.Under(setting, m)
	}
	return nil
}

// trial is a candidate of a search.
type trial struct {
	arm     arm
	changes []Change
	vals    []float64 // of each seed, the mean over the models
}

func (t *trial) mean() float64 { return experiment.EstimateOf(t.vals).Mean }

// trials draws the candidates of an arm.
func (s *Search) trials(a arm, base cgc.Config, seed uint64) (all []*trial, err error) {
	dimensions := space(a, base)
	size := 1
	for _, d := range dimensions {
		size = min(size*d.levels, 1<<20)
	}
	random := rand.New(rand.NewPCG(seed, searchStream))
	seen := map[string]bool{}
	add := func(t *trial) error {
		key, err := t.key()
		if err == nil && !seen[key] {
			seen[key] = true
			all = append(all, t)
		}
		return err
	}
	if err := add(&trial{arm: a}); err != nil {
		return nil, err
	}
	for tries := 0; len(all) < s.Trials && tries < 20*size; tries++ {
		t := &trial{arm: a}
		for _, d := range dimensions {
			level := random.IntN(d.levels)
			before, err := t.key()
			if err != nil {
				return nil, err
			}
			if err := d.set(&t.arm, level); err != nil {
				return nil, err
			}
			after, err := t.key()
			if err != nil {
				return nil, err
			}
			if before != after {
				t.changes = append(t.changes, Change{d.name, d.show(level)})
			}
		}
		if err := add(t); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// key is the same for equal candidates.
func (t *trial) key() (string, error) {
	method, err := json.Marshal(t.arm.method())
	if err != nil {
		return "", err
	}
	training, err := json.Marshal(t.arm.training)
	return string(method) + string(training), err
}

// search replaces the arm of p by the best that the search finds. base is the configuration of the study's size.
func (j Job) search(ctx context.Context, g *graph.Graph, base cgc.Config, p *planned) error {
	trials, err := j.Search.trials(p.arm, base, j.Seed)
	if err != nil {
		return fmt.Errorf("searching %s: %w", p.arm.name, err)
	}
	first := slices.Clone(trials)
	if err := j.try(ctx, g, p.size.nodes, trials, 0, firstSeeds); err != nil {
		return fmt.Errorf("searching %s: %w", p.arm.name, err)
	}
	better := func(a, b *trial) int {
		switch {
		case a.mean() > b.mean():
			return -1
		case a.mean() < b.mean():
			return 1
		}
		return 0
	}
	slices.SortStableFunc(trials, better)
	trials = trials[:min(max(len(trials)/4, finalists), len(trials))]
	if err := j.try(ctx, g, p.size.nodes, trials, firstSeeds, moreSeeds); err != nil {
		return fmt.Errorf("searching %s: %w", p.arm.name, err)
	}
	slices.SortStableFunc(trials, better)
	best := trials[0]
	p.arm = best.arm
	p.arm.found = &Found{
		Trials: len(first), Changes: append([]Change{}, best.changes...), Val: best.mean(), Base: first[0].mean(),
	}
	return nil
}

// try condenses and trains each trial with some more seeds.
func (j Job) try(ctx context.Context, g *graph.Graph, nodes int, trials []*trial, from, seeds int) error {
	grid := experiment.Grid{
		Seed: j.Seed + searchSeeds + uint64(from), Seeds: seeds, Trainings: 1,
		Models: among(j.Study.models, j.Models), Blind: true,
	}
	memory := map[string]*condense.Condensed{}
	for i, t := range trials {
		m := t.arm.method()
		if t.arm.rival != nil {
			m = remembered{m, memory}
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

// remembered condenses once for trials that differ in their training alone.
type remembered struct {
	condense.Method
	memory map[string]*condense.Condensed // by configuration
}

// Setting returns the method's setting.
func (r remembered) Setting() condense.Setting { return condense.SettingOf(r.Method) }

// MarshalJSON writes the method's parameters.
func (r remembered) MarshalJSON() ([]byte, error) { return json.Marshal(r.Method) }

// Check is the method's, if it has one.
func (r remembered) Check(g *graph.Graph, nodes int) error {
	if c, is := r.Method.(condense.Checker); is {
		return c.Check(g, nodes)
	}
	return nil
}

// Condense returns what the method made of the same configuration before, or has it condense.
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

// sizedBase returns the configuration of cgc that a study begins with at a size.
func sizedBase(b base, s size) cgc.Config {
	c := b(full)
	c.Nodes = s.nodes
	return c
}

var (
	_ condense.InSetting = remembered{}
	_ condense.Checker   = remembered{}
)

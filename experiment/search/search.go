// Package search chooses a GNN and its training configuration on a condensed graph, where training takes a fraction of
// a second.
//
// A Search trains many candidates on the condensed graph and validates them on the original graph. It stops the poor
// ones early (successive halving; Jamieson and Talwalkar, AISTATS 2016), trains the best few on the original graph, and
// chooses one of these by validation accuracy. An Agreement measures how far the choice can be trusted: it compares the
// ranks of candidates trained on the condensed graph with their ranks after training on the original graph.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/training"
	"github.com/graph-condensation/cgc/progress"
)

// Candidate is a model with the configuration of its training.
type Candidate struct {
	Model    string     `json:"model"`
	Training gnn.Config `json:"training"`
}

// Space lists the values of each parameter that a search varies. Each list has at least one value.
type Space struct {
	Models       []string  `json:"models"`
	Hidden       []int     `json:"hidden"`
	Dropout      []float64 `json:"dropout"`
	InputDropout []float64 `json:"input_dropout"`
	LearningRate []float64 `json:"learning_rate"`
	WeightDecay  []float64 `json:"weight_decay"`
	Weighted     []bool    `json:"weighted"`
}

// DefaultSpace returns a space of 12,720 candidates around gnn.Defaults. It has three variants of each model of package
// gnn, so that these models are drawn equally often, and every other registered model once.
func DefaultSpace() Space {
	models := []string{
		"sgc", "sgc:hops=3", "sgc:hops=4", // sgc:hops=1 is gcn:layers=1
		"gcn:layers=1", "gcn", "gcn:layers=3",
		"sage:layers=1", "sage", "sage:layers=3",
		"appnp:hops=5", "appnp", "appnp:alpha=0.2",
		"cheby:order=1", "cheby", "cheby:order=3",
		"gat:heads=1", "gat:heads=4", "gat",
	}
	for _, name := range gnn.Names() {
		if !slices.Contains(models, name) {
			models = append(models, name)
		}
	}
	return Space{
		Models: models, Hidden: []int{16, 32, 64, 128, 256}, Dropout: []float64{0, 0.25, 0.5, 0.75},
		InputDropout: []float64{0, 0.5}, LearningRate: []float64{0.002, 0.01, 0.05},
		WeightDecay: []float64{0, 5e-5, 5e-4, 5e-3}, Weighted: []bool{false, true},
	}
}

// lengths returns the number of values of each parameter.
func (s Space) lengths() []int {
	return []int{
		len(s.Models), len(s.Hidden), len(s.Dropout), len(s.InputDropout), len(s.LearningRate), len(s.WeightDecay),
		len(s.Weighted),
	}
}

func (s Space) parse() (models []gnn.Model, err error) {
	models = make([]gnn.Model, len(s.Models))
	for i, name := range s.Models {
		if models[i], err = gnn.Parse(name); err != nil {
			return nil, err
		}
	}
	return models, nil
}

// Size returns the number of candidates, or 0 if a model is unknown. Hidden and Dropout do not affect linear models, so
// their values do not count.
func (s Space) Size() int {
	models, _ := s.parse()
	all := 0
	for _, m := range models {
		n := len(s.InputDropout) * len(s.LearningRate) * len(s.WeightDecay) * len(s.Weighted)
		if !gnn.Linear(m) {
			n *= len(s.Hidden) * len(s.Dropout)
		}
		all += n
	}
	return all
}

// draw returns n random candidates, or all in random order if there are fewer. Models are drawn equally often, until
// all candidates of some are drawn. Equal models have equal names.
func (s Space) draw(n, epochs int, src rand.Source) ([]Candidate, error) {
	models, err := s.parse()
	if err != nil {
		return nil, err
	}
	combinations := 1
	for _, length := range s.lengths() {
		combinations *= length
	}
	drawn := make([]Candidate, 0, min(n, combinations))
	seen := map[Candidate]bool{} // linear models
	for _, i := range rand.New(src).Perm(combinations) {
		if len(drawn) == n {
			break
		}
		c := s.candidate(epochs, func(length int) int { // positions in the lists are the digits of i
			digit := i % length
			i /= length
			return digit
		})
		m := models[slices.Index(s.Models, c.Model)]
		if c.Model = m.Name(); gnn.Linear(m) {
			c.Training.Hidden, c.Training.Dropout = gnn.Defaults().Hidden, gnn.Defaults().Dropout
			if seen[c] {
				continue
			}
			seen[c] = true
		}
		drawn = append(drawn, c)
	}
	return drawn, nil
}

// candidate returns the candidate at the positions that pick chooses, given the length of each list.
func (s Space) candidate(epochs int, pick func(n int) int) Candidate {
	c := Candidate{Training: gnn.Defaults()}
	c.Training.Epochs = epochs
	c.Model = s.Models[pick(len(s.Models))]
	c.Training.Hidden = s.Hidden[pick(len(s.Hidden))]
	c.Training.Dropout = s.Dropout[pick(len(s.Dropout))]
	c.Training.InputDropout = s.InputDropout[pick(len(s.InputDropout))]
	c.Training.LearningRate = s.LearningRate[pick(len(s.LearningRate))]
	c.Training.WeightDecay = s.WeightDecay[pick(len(s.WeightDecay))]
	c.Training.Weighted = s.Weighted[pick(len(s.Weighted))]
	return c
}

// largestSpace bounds the size of a space, because a search draws from a permutation of it.
const largestSpace = 10_000_000

// Validate returns an error if the space is too large, or if a list is empty, repeats a value or has one that is out of
// range.
func (s Space) Validate() error {
	models, err := s.parse()
	if err != nil {
		return err
	}
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.Name() // equal models have equal names
	}
	if err := cmp.Or(distinct("models", names), distinct("hidden", s.Hidden), distinct("dropout", s.Dropout),
		distinct("input dropout", s.InputDropout), distinct("learning rate", s.LearningRate),
		distinct("weight decay", s.WeightDecay), distinct("weighted", s.Weighted)); err != nil {
		return err
	}
	size := 1
	for _, n := range s.lengths() {
		if size *= n; size > largestSpace {
			return fmt.Errorf("the space has more than %d candidates, must have at most as many", largestSpace)
		}
	}
	for i := range slices.Max(s.lengths()) { // together, these candidates contain every value of every parameter
		c := s.candidate(1, func(n int) int { return i % n })
		if err := c.Training.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// distinct returns an error unless a parameter has at least one value and no value twice.
func distinct[T comparable](name string, values []T) error {
	seen := map[T]bool{}
	for _, v := range values {
		if seen[v] {
			return parameter.Check(false, name, v, "listed only once")
		}
		seen[v] = true
	}
	return parameter.Check(len(values) > 0, name, values, "a list of at least 1 value")
}

// Search searches for the best candidate.
type Search struct {
	Space Space
	// Trials is the number of candidates, at least 1. A smaller space is searched completely.
	Trials int
	// Seconds, if above 0, limits the time of the search on the condensed graph: only as many candidates are tried as are
	// expected to end by then, and at least 27. Without it, the result does not depend on the time or on the number of
	// threads.
	Seconds float64
	// Epochs is the number of epochs of complete training runs, at least 1.
	Epochs int
	// Finalists is the number of candidates that are trained on the original graph too. With 0, the choice is the
	// candidate with the best validation accuracy after training on the condensed graph.
	Finalists int
	// Seed is the random seed of candidates and training.
	Seed uint64
	// Memory limits the memory of testing, as in experiment.Evaluation.
	Memory int64
	// Log keeps the training runs on the original graph. Runs that it already has are not repeated. nil keeps nothing.
	Log *experiment.Log
	// Graph is the identity of the original graph (graph.Identify) for the records of Log. Without Log it may be empty.
	Graph graph.Identity
}

// Trial is a candidate that was trained on the condensed graph.
type Trial struct {
	Candidate
	// Epochs is the number of epochs of the candidate's longest training run. Val is the validation accuracy after it,
	// in percent; 0 if the run diverged. A run that was stopped early may have been validated on a sample of the nodes.
	Epochs   int     `json:"epochs"`
	Val      float64 `json:"val"`
	diverged bool    // of that run
}

// Result is the outcome of a search. No choice in it depends on test nodes.
type Result struct {
	// Best is the choice: the first of Finalists, or of Trials if there are none.
	Best Candidate `json:"best"`
	// Trials holds all candidates, the best first: by the epochs they reached, then by validation accuracy.
	Trials []Trial `json:"trials"`
	// Finalists holds the candidates that were trained on the original graph, the best first. The best trial of each model
	// becomes a finalist, then the second best of each, and so on. Variants of a model count as one model.
	Finalists []Finalist `json:"finalists"`
	// Seconds is the time of the search on the condensed graph.
	Seconds float64 `json:"seconds"`
}

// Total returns the seconds of the search and of training the finalists.
func (r *Result) Total() float64 {
	total := r.Seconds
	for _, f := range r.Finalists {
		total += f.Seconds
	}
	return total
}

// bracket is the largest number of candidates that compete for more epochs. rounds is the number of training rounds.
// After each round but the last, the best third of the candidates is trained for three times (keep) as many epochs.
// With a time limit, a bracket of least candidates comes first. It shows how long the others will take.
const (
	bracket = 250
	least   = 27
	keep    = 3
	rounds  = 4
)

// searchStream is the random stream of a search; sampleStream is for its sample of validation nodes.
const (
	searchStream = 1 << 35
	sampleStream = 1<<35 + 3
)

// sampled is the number of validation nodes that decide which trials are trained for more epochs. The standard error of
// an accuracy is then at most 1.1 points, and the standard error of the difference between two trials is similar.
const sampled = 2048

// Run searches on a condensed graph of g. It reports candidates and finalists to ctx (package progress). The labels of
// test nodes are read only for Finalist.WholeTest.
//
// On large graphs, nearly all of the time of a search is validation. If there are more than 2,048 validation nodes, and
// the setting is transductive, incomplete training runs are validated two or three times, on 2,048 nodes that are drawn
// once.
func (s Search) Run(ctx context.Context, small *condense.Condensed, g *graph.Graph) (_ *Result, err error) {
	defer memory.Recover(&err)
	begun := time.Now()
	if g, err = s.check(ctx, small, g); err != nil {
		return nil, err
	}
	drawn, err := s.Space.draw(s.Trials, s.Epochs, rand.NewPCG(s.Seed, searchStream))
	if err != nil {
		return nil, err
	}
	wide := len(g.Split.Val) > sampled && !small.Inductive // inductive testing needs all edges among validation nodes
	t, err := s.newTrainer(ctx, small, g, wide)
	if err != nil {
		return nil, err
	}
	defer func() { t.target.Close() }()
	t.count = progress.NewCounter(0, len(drawn))
	r := new(Result)
	var last []Trial // the survivors of all brackets
	ready := time.Now()
	for len(drawn) > 0 {
		n := min(bracket, len(drawn))
		if s.Seconds > 0 {
			n = min(n, s.fitting(len(last)+len(r.Trials), time.Since(ready).Seconds(), time.Since(begun).Seconds()))
		}
		if n == 0 {
			break
		}
		var trials []Trial
		for _, c := range drawn[:n] {
			trials = append(trials, Trial{Candidate: c})
		}
		left, err := t.halve(ctx, trials)
		if err != nil {
			return nil, err
		}
		last, r.Trials, drawn = append(last, trials[:left]...), append(r.Trials, trials[left:]...), drawn[n:]
	}
	if wide {
		t.target.Close() // keep only one target in memory
		full, err := s.newTrainer(ctx, small, g, false)
		if err != nil {
			return nil, err
		}
		t = full
	}
	if err := t.train(ctx, last, s.Epochs, false); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(last, func(t Trial) bool { return !t.diverged }) {
		return nil, fmt.Errorf("every candidate of the last round (%d) %w, at least 1 must not: scale the features, or "+
			"search lower learning rates", len(last), gnn.ErrDiverged)
	}
	r.Trials = append(last, r.Trials...)
	slices.SortStableFunc(r.Trials, better)
	r.Best, r.Seconds = r.Trials[0].Candidate, time.Since(begun).Seconds()
	if r.Finalists, err = s.confirm(ctx, finalists(r.Trials, s.Finalists), small, g); err != nil {
		return nil, err
	}
	slices.SortStableFunc(r.Finalists, func(a, b Finalist) int { return cmp.Compare(b.WholeVal, a.WholeVal) })
	if len(r.Finalists) > 0 {
		r.Best = r.Finalists[0].Candidate
	}
	return r, nil
}

// fitting returns the number of further candidates that fit into Seconds: 0, or at least as many as the first bracket.
// tried is the number of candidates that were tried in the given seconds, without the last round. All rounds take about
// the same time.
func (s Search) fitting(tried int, seconds, elapsed float64) int {
	if tried == 0 {
		return least
	}
	round := seconds / float64(tried*(rounds-1)) // for one candidate
	if n := (s.Seconds-elapsed)/(round*rounds) - float64(tried)/rounds; n >= least {
		return int(min(n, bracket))
	}
	return 0
}

// sampled returns g with a sample of its validation nodes.
func (s Search) sampled(g *graph.Graph) *graph.Graph {
	nodes := slices.Clone(g.Split.Val)
	rand.New(rand.NewPCG(s.Seed, sampleStream)).Shuffle(len(nodes), func(i, j int) {
		nodes[i], nodes[j] = nodes[j], nodes[i]
	})
	part := *g
	part.Split.Val = slices.Sorted(slices.Values(nodes[:sampled]))
	return &part
}

// better orders trials by the epochs that they reached, and then by validation accuracy.
func better(a, b Trial) int {
	return cmp.Or(cmp.Compare(b.Epochs, a.Epochs), cmp.Compare(b.Val, a.Val))
}

// check validates the search, and returns g with the classes and features of small.
func (s Search) check(ctx context.Context, small *condense.Condensed, g *graph.Graph) (*graph.Graph, error) {
	if s.Trials < 1 || s.Epochs < 1 || s.Finalists < 0 || !(s.Seconds >= 0) {
		return nil, fmt.Errorf("%d trials, %d epochs, %d finalists, %v seconds, must be at least 1, 1, 0 and 0", s.Trials,
			s.Epochs, s.Finalists, s.Seconds)
	}
	if s.Log != nil && s.Graph.Fingerprint == "" {
		return nil, errors.New("the log needs the identity of the graph with its fingerprint")
	}
	if err := s.Space.Validate(); err != nil {
		return nil, err
	}
	if err := g.Check(ctx); err != nil {
		return nil, err
	}
	if err := g.NeedVal(); err != nil {
		return nil, err
	}
	g, err := g.WithFeatures(small.FeatureNames) // once, since it may copy them
	if err != nil {
		return nil, err
	}
	compared, err := small.CheckTarget(g)
	if err != nil {
		return nil, err
	}
	g, _ = g.WithClasses(small.Classes, small.ClassNames)
	return g, compared.Err()
}

// trainer trains candidates on a condensed graph.
type trainer struct {
	sample      *gnn.Sample
	target      *gnn.Target
	validations int // approximate number in a training run
	seed        uint64
	count       *progress.Counter
}

// newTrainer returns a trainer that validates on g. If rough is set, it validates two or three times, on a sample of
// the nodes.
func (s Search) newTrainer(
	ctx context.Context, small *condense.Condensed, g *graph.Graph, rough bool,
) (*trainer, error) {
	validations := 5
	if rough {
		g, validations = s.sampled(g), 2
	}
	target, err := s.target(ctx, small, g.WithoutTest(), s.Space.Models, slices.Max(s.Space.Hidden))
	if err != nil {
		return nil, err
	}
	return &trainer{sample: experiment.Sample(small), target: target, validations: validations, seed: s.Seed}, nil
}

// target returns g as small sees it, for testing the given models with at most the given number of hidden units.
func (s Search) target(
	ctx context.Context, small *condense.Condensed, g *graph.Graph, names []string, hidden int,
) (*gnn.Target, error) {
	models, err := Space{Models: names}.parse()
	if err != nil {
		return nil, err
	}
	seen, err := small.Seen(ctx, g)
	if err != nil {
		return nil, err
	}
	return training.Target(ctx, seen, small.Inductive, s.Memory, models, hidden, nil)
}

// halve trains the trials in all rounds but the last, each with fewer trials and more epochs. It sorts them and returns
// the number that are left for the last round.
func (t *trainer) halve(ctx context.Context, trials []Trial) (left int, err error) {
	left = len(trials)
	for round := range rounds - 1 {
		epochs := trials[0].Training.Epochs
		for range rounds - 1 - round {
			epochs /= keep
		}
		if err := t.train(ctx, trials[:left], max(epochs, 1), round == 0); err != nil {
			return 0, err
		}
		slices.SortStableFunc(trials[:left], better)
		left = (left + keep - 1) / keep
	}
	return left, nil
}

// train trains each trial from scratch for the given number of epochs. counted says whether to report progress.
func (t *trainer) train(ctx context.Context, trials []Trial, epochs int, counted bool) error {
	quiet := progress.With(ctx, nil)
	return parallel.Try(ctx, len(trials), 1, func(lo, _ int) error {
		trial := &trials[lo]
		m, err := gnn.Parse(trial.Model)
		if err != nil {
			return err
		}
		config := trial.Training
		config.Epochs = epochs
		config.ValidateEvery = max(epochs/t.validations, 1) // validating takes longer than an epoch
		r, err := gnn.Train(quiet, m, t.sample, t.target, config, training.Source(m, t.seed))
		trial.Epochs, trial.Val, trial.diverged = epochs, 0, err != nil // a trial that diverges is the worst
		switch {
		case err == nil:
			trial.Val = r.Validation
		case ctx.Err() != nil || !errors.Is(err, gnn.ErrDiverged):
			return cmp.Or(ctx.Err(), err)
		}
		if counted {
			t.count.Add(ctx, "searching")
		}
		return nil
	})
}

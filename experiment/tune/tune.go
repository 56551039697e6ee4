// Package tune searches for the parameters of cgc, cgc-x, simdm and cgc-d for one graph, by accuracy on the graph's
// validation nodes.
//
// A Search starts from the method that package auto chooses, or from a given one. It ranks many candidates by
// surrogates of GNNs (package judge) and confirms the best of them by training. The initial configuration is kept
// unless another one is better by more than noise. The same threshold applies to every candidate. Labels of test nodes
// are never read. docs/notes/2026-11-search.md has the measurements behind these choices.
package tune

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/distill"
	"github.com/graph-condensation/cgc/internal/judge"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Search searches for a configuration.
type Search struct {
	// Base is the configuration to improve on. It is kept unless another one is clearly better. If its method is an
	// auto.Method, the base is the candidate that auto chooses, and auto's other candidates are ranked next.
	Base Candidate
	// Nodes is N′, and Seed is the random seed.
	Nodes int
	Seed  uint64
	// Space lists the parameters to vary; empty means Space(). Other parameters stay as in Base. If features are sparse,
	// Standardize stays too.
	Space []Dimension
	// Models lists the models that are trained to confirm candidates, at least one. Candidates are compared by their mean
	// accuracy.
	Models []gnn.Model
	// Training configures the training of these models. Candidate.Weighted replaces Training.Weighted.
	Training gnn.Config
	// Trials is the number of candidates to rank, at least 0. 0 means as many as the time allows, up to 1000: more would
	// overfit a few hundred validation nodes.
	Trials int
	// Seconds limits the wall-clock time of the search; 0 sets no limit. Without a limit the result does not depend on the
	// time or on the number of threads: the same search on the same graph gives the same Result.
	Seconds float64
	// Memory limits the memory of testing a model, in bytes; 0 means no limit.
	Memory int64
}

// Trial is a candidate that was ranked.
type Trial struct {
	Candidate
	// Changes lists the differences from the base; empty for the base.
	Changes []Change
	// Verdict is the mean verdict over some condensation seeds. Confirmation uses other seeds.
	Verdict
}

// Finalist is a candidate that was trained.
type Finalist struct {
	Trial
	// Val holds the validation accuracy of each repetition in percent, the mean over the models. Repetition i equals
	// repetition i of an experiment.Plan with the candidate's configuration.
	Val []float64
}

// Result is the outcome of a search. No number in it depends on test nodes.
type Result struct {
	// Choice is auto's account if it chose the base; nil otherwise.
	Choice *auto.Account
	// Best is the candidate to use: the base, unless another is better by more than noise. If there was no time to train
	// any candidate, it is the first of Ranked.
	Best Trial
	// Ranked holds the candidates that were ranked, the best first.
	Ranked []Trial
	// Confirmed holds the candidates that were trained, including the base. The last round comes first; within a round,
	// the best comes first.
	Confirmed []Finalist
	// Gain is the mean difference in validation accuracy between Best and the base, in points, over their common
	// repetitions. Noise is the threshold that Gain had to exceed. If the base is kept, both refer to the first candidate
	// of Confirmed that is not the base.
	Gain, Noise float64
	// Trainings is the number of training runs.
	Trainings int
}

// Run searches for a configuration for g.
//
// Candidates are drawn at random: each parameter stays as in the base with probability two thirds. In later batches,
// two thirds are drawn near the best candidates so far. The base and the other candidates of auto are ranked first. A
// closed form, averaged over condensation seeds, ranks all candidates.
//
// The best candidates that differ enough are confirmed in rounds by training with the seeds of experiment.Plan. Each
// round has fewer candidates and more seeds, and the base takes part in each. The base is kept unless a candidate of
// the last round is better by more than 1.5 standard errors of the paired difference, over seeds and over validation
// nodes. Of these, Run chooses the best.
//
// Run reports candidates as the stage "ranked" and training runs as the stage "confirmed" to ctx (package progress). A
// stage may end before its first total. If ctx ends, Run returns the best result so far and ctx's error.
func (s Search) Run(ctx context.Context, g *graph.Graph) (_ *Result, err error) {
	defer memory.Recover(&err)
	begun := time.Now()
	if len(s.Models) == 0 || s.Trials < 0 || !(s.Seconds >= 0) || s.Trials == 0 && s.Seconds == 0 {
		return nil, fmt.Errorf("%d models, %d trials, %v seconds, must be at least 1 model, and trials or seconds "+
			"above 0",
			len(s.Models), s.Trials, s.Seconds)
	}
	if s.Base.Method == nil {
		return nil, errors.New("no base method (nil)")
	}
	if err := g.Check(ctx); err != nil {
		return nil, err
	}
	if err := g.NeedVal(); err != nil {
		return nil, err
	}
	if len(s.Space) == 0 {
		s.Space = Space()
	}
	if _, sparse := g.X.(*mat.CSR); sparse {
		// Standardised features are dense, and training on them is many times slower. Bags of words did not gain from it.
		s.Space = without(s.Space, "standardize")
	}
	w := &searcher{
		Search: s, g: g.WithoutTest(), begun: begun, random: rand.New(rand.NewPCG(s.Seed, searchStream)),
		seen: map[string]bool{}, views: map[condense.Setting]*graph.Graph{}, judges: map[condense.Setting]*judge.Judge{},
		targets: map[condense.Setting]*gnn.Target{},
		scores:  map[string][]float64{}, right: map[string][][]int{},
	}
	if w.shown = w.g; s.Base.Setting.Inductive {
		w.shown = w.g.TrainingGraph()
	}
	err = w.run(ctx)
	for _, t := range w.targets {
		t.Close()
	}
	if err != nil && ctx.Err() != nil {
		return w.result(), ctx.Err() // err may name the step that was interrupted
	}
	if err != nil {
		return nil, err
	}
	return w.result(), nil
}

const (
	// searchStream and judgeStream are the random streams of the search and of the surrogate's sample.
	searchStream = 1 << 33
	judgeStream  = searchStream + 1
	// rankingSeeds offsets the seeds of ranking from the seeds of confirmation, so that a candidate that was lucky in
	// ranking is judged afresh.
	rankingSeeds = 1 << 20
)

// most is the largest number of candidates that are ranked if Trials is 0.
const most = 1000

// searcher is a running Search.
type searcher struct {
	Search
	g      *graph.Graph // without test labels
	shown  *graph.Graph // the part of it that is condensed; its features may be scaled
	limit  rival.Memory // the Memory of cgc-d without the memory limit of the search
	space  space
	random *rand.Rand
	begun  time.Time

	choice   *auto.Account
	seen     map[string]bool // points that were drawn
	ranked   []trial         // the best first
	prepared []*preparation

	views   map[condense.Setting]*graph.Graph // the full graph, with the features of a setting
	judges  map[condense.Setting]*judge.Judge
	targets map[condense.Setting]*gnn.Target

	scores    map[string][]float64 // by point: the validation accuracy of each repetition, NaN if it is missing
	right     map[string][][]int   // by point: how many models are right, for each repetition and validation node
	confirmed []trial              // in the order of Result.Confirmed
	final     int                  // the number of confirmed trials in the last round
	repeats   int                  // the repetitions of that round
	trainings int
}

// Verdict is the verdict of the surrogates on a candidate.
type Verdict = judge.Verdict

// trial is a point with its verdict.
type trial struct {
	point
	Verdict
}

// run ranks and confirms until everything is done or the time is up.
func (w *searcher) run(ctx context.Context) error {
	if w.Seconds > 0 {
		var cancel func()
		ctx, cancel = context.WithDeadline(ctx, w.begun.Add(w.share(0.97)))
		defer cancel()
	}
	first, err := w.first(ctx)
	if err == nil {
		err = w.rank(ctx, first)
	}
	if err != nil {
		return w.late(err)
	}
	var cost time.Duration
	if w.Seconds > 0 {
		cost, err = w.cost(ctx)
	}
	if err == nil {
		err = w.search(ctx)
	}
	if err == nil {
		err = w.confirm(ctx, cost)
	}
	return w.late(err)
}

// first sets the base, and returns the points that are ranked first, at most Trials: the base, and the other candidates
// of auto if it chose the base.
func (w *searcher) first(ctx context.Context) ([]point, error) {
	others, config, soft, err := w.start(ctx)
	if err != nil {
		return nil, err
	}
	if w.space.base, err = take(w.Base, config, soft); err == nil {
		err = w.check(w.Base)
	}
	if err != nil {
		return nil, err
	}
	w.space.dimensions = w.Space
	var points []point
	for _, c := range append([]Candidate{w.Base}, others...) {
		same, err := take(c, w.space.base.config, w.space.base.soft)
		if err != nil {
			return nil, err
		}
		p, is := w.space.of(same)
		if is && !w.seen[p.key()] && (len(points) < w.Trials || w.Trials == 0) {
			w.seen[p.key()] = true
			points = append(points, p)
		}
	}
	return points, nil
}

// start lets auto choose the base, if Base asks for that, and returns auto's candidates. config and soft are the
// initial parameters of candidates whose method is not the base's.
func (w *searcher) start(ctx context.Context) (
	candidates []Candidate, config cgc.Config, soft distill.Method, err error,
) {
	config, soft = cgc.Defaults(), distill.New()
	soft.Unlabelled = distill.Always
	if distill.SmoothingWork(w.shown) > distill.MostSmoothing {
		soft.Smoothing = distill.Depth{}
		w.Space = without(w.Space, "smoothing")
	}
	w.limit = soft.Memory
	switch m := w.Base.Method.(type) {
	case cgc.Config:
		config = m
	case distill.Method:
		w.limit = m.Memory
	}
	chooser, chooses := w.Base.Method.(auto.Method)
	engine, _ := config.Engine.(blocked.Engine)
	if max(config.Memory, engine.Memory, chooser.Memory) > 0 {
		soft.Memory = 1 // cgc-d has no room, unless auto finds that it has
	}
	if !chooses {
		return nil, config, soft, nil
	}
	chooser.NormalizeFeatures, chooser.Standardize = w.Base.Setting.NormalizeFeatures, w.Base.Setting.Standardize
	chooser.Inductive, chooser.Causal, chooser.Lossless = w.Base.Setting.Inductive, w.Base.Setting.Causal, 0
	account, methods, err := chooser.Choose(progress.With(ctx, nil), w.g, w.Nodes)
	if err != nil {
		return nil, config, soft, err
	}
	for i, m := range methods {
		if m == nil {
			continue
		}
		if own, is := m.(distill.Method); is {
			soft.Memory, soft.Within = own.Memory, own.Within
		}
		c := Candidate{m, w.Base.Setting, w.Base.Weighted}
		if candidates = append(candidates, c); account.Candidates[i].Name == account.Chosen {
			w.Base = c
		}
	}
	w.choice = account
	return candidates, methods[0].(cgc.Config), soft, nil
}

// check returns an error if c is invalid, or does not suit the graph or the number of condensed nodes.
func (w *searcher) check(c Candidate) error {
	return c.Method.(condense.Checker).Check(w.shown, w.Nodes)
}

// without returns a space without the dimension of one name.
func without(space []Dimension, name string) []Dimension {
	return slices.DeleteFunc(slices.Clone(space), func(d Dimension) bool { return d.Name == name })
}

// late returns nil if err only means that the time is up, and err otherwise.
func (w *searcher) late(err error) error {
	if w.Seconds > 0 && errors.Is(err, context.DeadlineExceeded) && time.Since(w.begun) >= w.share(0.97) {
		return nil
	}
	return err
}

// share returns a part of the time limit. Longer limits count as 146 years: a time.Duration would overflow.
func (w *searcher) share(part float64) time.Duration {
	return time.Duration(min(part*w.Seconds*float64(time.Second), 1<<62))
}

// search ranks candidates in batches. The first batch is random; later, two thirds are drawn near the best. It uses at
// most a third of the remaining time, since training is more reliable.
func (w *searcher) search(ctx context.Context) error {
	const batch, elite = 48, 8
	trials := w.Trials
	if trials == 0 {
		trials = most
	}
	until := time.Now().Add((w.share(1) - time.Since(w.begun)) / 3)
	for len(w.ranked) < trials && (w.Seconds == 0 || time.Now().Before(until)) {
		best := slices.Clone(w.ranked[:min(elite, len(w.ranked))])
		var points []point
		for tries := 0; len(points) < min(batch, trials-len(w.ranked)) && tries < 100*batch; tries++ {
			p := w.space.draw(w.random)
			if near := w.random.IntN(3) > 0; near && len(w.ranked) > batch {
				p = w.space.near(best[w.random.IntN(len(best))].point, w.random)
			}
			if key := p.key(); !w.seen[key] {
				w.seen[key] = true
				points = append(points, p)
			}
		}
		if len(points) == 0 { // the space is used up
			return nil
		}
		limited, cancel := ctx, func() {}
		if w.Seconds > 0 {
			limited, cancel = context.WithDeadline(ctx, until)
		}
		err := w.rank(limited, points)
		cancel()
		if err != nil && (ctx.Err() != nil || limited.Err() == nil) {
			return err
		}
	}
	return nil
}

package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Tuning says what Tune does.
type Tuning struct {
	// Base is the configuration to improve on, which has the last word where nothing is clearly better. Its Config.Seed decides all random choices.
	Base Candidate
	// Space is what is varied; empty means Space(Base.Config.Variant). What it does not name stays as in Base, and so does Standardize where features are sparse.
	Space []Dimension
	// Models are trained to confirm, at least one; a candidate counts by the mean of their accuracies.
	Models []gnn.Model
	// Training says how; Weighted is the candidate's.
	Training gnn.Config
	// Trials is the number of candidates to rank, at least 0; 0 leaves it to the time, up to a thousand: more would fit the chance of a few hundred validation nodes.
	Trials int
	// Seconds bounds the time that all of it takes by the wall clock; 0 sets no bound. Then the same Tuning gives the same Tuned for any number of threads.
	Seconds float64
}

// Trial is a candidate that was ranked.
type Trial struct {
	Candidate
	// Changes lists what differs from the base; empty for the base itself.
	Changes []Change
	// Verdict is the mean over some condensation seeds, none of which confirmation uses.
	Verdict
}

// Finalist is a candidate that was trained.
type Finalist struct {
	Trial
	// Val holds the validation accuracy of repetition i in percent, the mean over the models: that of Run with the candidate's configuration.
	Val []float64
}

// ValMean returns the mean validation accuracy, in percent, and its standard deviation over the repetitions (n−1 in the denominator; 0 for one).
func (f Finalist) ValMean() (mean, std float64) { return meanStd(f.Val) }

// Tuned is what came of a Tuning. No number in it has to do with test nodes.
type Tuned struct {
	// Best is the candidate to use: the base unless another is better by more than noise. If there was no time to train any, it is the first of Ranked.
	Best Trial
	// Ranked holds the candidates that were ranked, the best first.
	Ranked []Trial
	// Confirmed holds those that were trained, the base among them: those of the last round first, and of one round the best first.
	Confirmed []Finalist
	// Gain is the mean difference in validation accuracy between Best and the base, in points, over the repetitions that both have, and Noise what it had to exceed; if the base stays, those of the
	// first of Confirmed that is not the base.
	Gain, Noise float64
	// Trainings is the number of trainings that confirmed.
	Trainings int
}

// Tune searches a configuration for g by accuracy on its validation nodes. Labels of test nodes are never read: what Tune works on does not have them.
//
// Candidates are drawn at random, two thirds of their parameters as in the base, and later near the best so far. A closed form ranks them (see judge), for a mean
// over condensation seeds. The best of them, no two alike, are confirmed in rounds by training with the seeds of Run, each round with fewer candidates
// and more seeds; the base takes part in each. It stays unless one of the last round is ahead by more than one and a half times the standard error of the
// paired difference, over seeds and over validation nodes; of several, the best is taken. On a graph with few labels, a training node in ten or fewer, a configuration that did well on other such graphs takes part in each round too,
// and has to be ahead by more than the chance of the seeds alone.
//
// If ctx ends, Tune returns the best so far beside ctx's error.
func Tune(ctx context.Context, g *graph.Graph, t Tuning) (*Tuned, error) {
	begun := time.Now()
	if len(t.Models) == 0 || t.Trials < 0 || !(t.Seconds >= 0) || t.Trials == 0 && t.Seconds == 0 {
		return nil, fmt.Errorf("experiment: %d models, %d trials, %v seconds, want at least 1 model, and trials or seconds above 0", len(t.Models), t.Trials, t.Seconds)
	}
	if err := g.Check(); err != nil {
		return nil, fmt.Errorf("tune: graph %s is not valid: %w", g.Name, err)
	}
	if len(g.Split.Val) == 0 {
		return nil, fmt.Errorf("experiment: graph %s has 0 validation nodes, want at least 1", g.Name)
	}
	if len(t.Space) == 0 {
		t.Space = Space(t.Base.Config.Variant)
	}
	if len(t.Base.Config.HopWeights) > 0 { // as many as the base's hops want
		t.Space = slices.DeleteFunc(slices.Clone(t.Space), func(d Dimension) bool { return d.Name == "hops" })
	}
	if _, sparse := g.X.(*mat.CSR); sparse { // standardised they would be dense, and a training take many times as long; on bags of words they were no better
		t.Space = slices.DeleteFunc(slices.Clone(t.Space), func(d Dimension) bool { return d.Name == "standardize" })
	}
	w := &tuner{
		Tuning: t, g: withoutTest(g), space: space{t.Base, t.Space}, random: rand.New(rand.NewPCG(t.Base.Config.Seed, searchStream)), begun: begun,
		seen: map[string]bool{}, views: map[bool]*graph.Graph{}, judges: map[bool]*judge{}, targets: map[bool]*gnn.Target{}, scores: map[string][]float64{}, right: map[string][][]int{},
	}
	err := w.run(ctx)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	return w.tuned(), err
}

// withoutTest returns g without test nodes and their labels.
func withoutTest(g *graph.Graph) *graph.Graph {
	blind := *g
	blind.Y = slices.Clone(g.Y)
	for _, i := range g.Split.Test {
		blind.Y[i] = graph.Unlabelled
	}
	blind.Split.Test = nil
	_ = blind.Seal() // checked once and not for each candidate; there is no error, since g is valid
	return &blind
}

// The streams of random numbers of the search and of the judge's sample, and the distance between the seeds of ranking and those of confirmation: what is chosen by luck with the former has none with the latter.
const (
	searchStream = 1 << 33
	judgeStream  = searchStream + 1
	rankingSeeds = 1 << 20
)

// most is the number of candidates that are ranked if only time bounds them.
const most = 1000

// tuner is a Tuning while it runs.
type tuner struct {
	Tuning
	g      *graph.Graph // without test labels
	space  space
	random *rand.Rand
	begun  time.Time

	proven   string          // the key of space.proven; empty if it is not for this graph
	seen     map[string]bool // points that were drawn
	ranked   []trial         // the best first
	prepared []*preparation

	views   map[bool]*graph.Graph // by Config.Standardize
	judges  map[bool]*judge
	targets map[bool]*gnn.Target

	scores    map[string][]float64 // of a point, the validation accuracy of each repetition; NaN where there is none
	right     map[string][][]int   // likewise, at each validation node the number of models that find its class
	confirmed []trial              // in the order of Tuned.Confirmed
	final     int                  // the number of them that were in the last round
	repeats   int                  // and its repetitions
	trainings int
}

// trial is a point with what the judge says of it.
type trial struct {
	point
	Verdict
}

// run ranks and confirms until the work or the time is at its end.
func (w *tuner) run(ctx context.Context) error {
	if err := w.Base.Config.Validate(); err != nil {
		return err
	}
	if _, err := w.Base.Config.NodesFor(w.g); err != nil {
		return err
	}
	if w.Seconds > 0 {
		var cancel func()
		ctx, cancel = context.WithDeadline(ctx, w.begun.Add(w.share(0.97)))
		defer cancel()
	}
	first := []point{slices.Repeat(point{asBase}, len(w.Space))}
	if p, is := w.space.proven(); is && w.Trials != 1 && len(w.g.Split.Train) <= w.g.Nodes()/10 {
		first, w.proven = append(first, p), p.key()
	}
	for _, p := range first {
		w.seen[p.key()] = true
	}
	if err := w.rank(ctx, first); err != nil {
		return w.late(err)
	}
	cost, err := w.cost(ctx)
	if err == nil {
		err = w.search(ctx)
	}
	if err == nil {
		err = w.confirm(ctx, cost)
	}
	return w.late(err)
}

// late turns the end of the time that was given into success.
func (w *tuner) late(err error) error {
	if w.Seconds > 0 && errors.Is(err, context.DeadlineExceeded) && time.Since(w.begun) >= w.share(0.97) {
		return nil
	}
	return err
}

// share returns a part of the time that was given.
func (w *tuner) share(part float64) time.Duration {
	return time.Duration(part * w.Seconds * float64(time.Second))
}

// search ranks candidates in batches: at first random ones, then two in three near the best. At most a third of the time that is left is for it, since a training tells more.
func (w *tuner) search(ctx context.Context) error {
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
		if len(points) == 0 { // there are no more
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

// tuned gathers what there is.
func (w *tuner) tuned() *Tuned {
	t := &Tuned{Best: Trial{Candidate: w.Base}, Trainings: w.trainings}
	for _, r := range w.ranked {
		t.Ranked = append(t.Ranked, w.trial(r))
	}
	for i, r := range w.confirmed {
		f := Finalist{Trial: w.trial(r)}
		for _, v := range w.scores[r.key()] {
			if math.IsNaN(v) || i < w.final && len(f.Val) == w.repeats {
				break
			}
			f.Val = append(f.Val, v)
		}
		t.Confirmed = append(t.Confirmed, f)
	}
	if w.final == 0 {
		if len(t.Ranked) > 0 {
			t.Best = t.Ranked[0]
		}
		return t
	}
	last := t.Confirmed[:min(w.final, len(t.Confirmed))]
	base := slices.IndexFunc(last, func(f Finalist) bool { return len(f.Changes) == 0 })
	if base < 0 {
		return t
	}
	t.Best = last[base].Trial
	behind := w.confirmed[base].key()
	first := true
	for i, challenger := range last {
		if i == base {
			continue
		}
		ahead := w.confirmed[i].key()
		gain, noise := lead(challenger.Val, last[base].Val, w.right[ahead], w.right[behind], len(w.Models), ahead == w.proven)
		if first || gain > noise {
			t.Gain, t.Noise, first = gain, noise, false
		}
		if gain > noise {
			t.Best = challenger.Trial
			break
		}
	}
	return t
}

func (w *tuner) trial(t trial) Trial {
	return Trial{w.space.at(t.point), w.space.changes(t.point), t.Verdict}
}

// margin is the number of standard errors by which a candidate must be ahead of the base. It was picked among many, on the same validation nodes.
const margin = 1.5

// lead returns the mean of a − b over the repetitions that both have, and what of it may be chance. right tells for each repetition how many models find the class of each validation node.
//
// Chance has two parts. Other condensation seeds would give other differences: s²/n for n repetitions, where few tell little of their own spread, so that s counts as half a point at least, and as
// one for a single repetition. And other validation nodes would: the variance, over the nodes, of the difference in how often each is found, by their number. On some hundred nodes the second is
// the larger one. It is not counted against the proven configuration, which was not picked among many by how these nodes took to it.
func lead(a, b []float64, rightA, rightB [][]int, models int, proven bool) (gain, noise float64) {
	n := min(len(a), len(b))
	differences := make([]float64, n)
	nodes := make([]float64, len(rightA[0]))
	for i := range differences {
		differences[i] = a[i] - b[i]
		for v := range nodes {
			nodes[v] += 100 * float64(rightA[i][v]-rightB[i][v]) / float64(n*models)
		}
	}
	gain, std := meanStd(differences)
	if n < 2 {
		std = 1
	}
	std = max(0.5, std)
	_, spread := meanStd(nodes)
	if proven {
		spread = 0
	}
	return gain, margin * math.Sqrt(std*std/float64(n)+spread*spread/float64(len(nodes)))
}

package tune

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/distill"
	"github.com/graph-condensation/cgc/internal/training"
	"github.com/graph-condensation/cgc/progress"
)

// round is a round of confirmation: the number of candidates, including the base, and the number of repetitions that
// each has after the round.
type round struct{ candidates, repetitions int }

// schedules lists ways to confirm, the most thorough first.
var schedules = [][]round{
	{{24, 2}, {8, 5}, {3, 20}},
	{{16, 2}, {6, 5}, {3, 15}},
	{{12, 2}, {5, 5}, {3, 10}},
	{{12, 1}, {4, 4}, {2, 8}},
	{{11, 1}, {3, 3}, {2, 5}},
	{{11, 1}, {2, 3}},
	{{6, 1}, {2, 2}},
	{{2, 1}},
}

// usual is the schedule that is used without a time limit.
var usual = schedules[2]

// repetitions returns the total number of repetitions in a schedule.
func repetitions(schedule []round) (n int) {
	had := 0
	for _, r := range schedule {
		n += r.candidates * (r.repetitions - had)
		had = r.repetitions
	}
	return n
}

// cost trains the base for its first repetitions, at most one per thread, and returns the elapsed time per repetition.
// Confirmation reuses the results.
func (w *searcher) cost(ctx context.Context) (time.Duration, error) {
	begun := time.Now()
	n := min(runtime.GOMAXPROCS(0), usual[0].repetitions)
	base := slices.IndexFunc(w.ranked, func(t trial) bool { return t.size() == 0 })
	err := w.train(ctx, w.ranked[base:base+1], n, nil)
	return time.Since(begun) / time.Duration(n), err
}

// confirm trains the best candidates, in the most thorough schedule that the remaining time allows. cost is the time of
// a repetition. If repetitions are faster than expected and time is left, confirm continues with a more thorough
// schedule.
func (w *searcher) confirm(ctx context.Context, cost time.Duration) error {
	if w.Seconds == 0 {
		return w.carryOut(ctx, usual)
	}
	last := len(schedules)
	for {
		left := time.Until(w.begun.Add(w.share(0.9)))
		had := w.trainings / len(w.Models)
		i := slices.IndexFunc(schedules, func(s []round) bool {
			return time.Duration(repetitions(s)-had)*cost <= left
		})
		if i < 0 && last == len(schedules) {
			i = last - 1
		}
		if i < 0 || i >= last {
			return nil
		}
		begun := time.Now()
		if err := w.carryOut(ctx, schedules[i]); err != nil {
			return err
		}
		if did := w.trainings/len(w.Models) - had; did > 0 {
			cost = time.Since(begun) / time.Duration(did)
		}
		last = i
	}
}

// carryOut runs the rounds of a schedule.
func (w *searcher) carryOut(ctx context.Context, schedule []round) error {
	trials := w.finalists(schedule[0].candidates)
	count := progress.NewCounter(w.trainings, max(w.trainings, repetitions(schedule)*len(w.Models)))
	for _, r := range schedule {
		trials = w.reduce(trials, r.candidates)
		err := w.train(ctx, trials, r.repetitions, count)
		w.order(trials)
		if err != nil {
			return err
		}
	}
	return nil
}

// reduce keeps the base and the first number−1 other trials, in their order.
func (w *searcher) reduce(trials []trial, number int) []trial {
	others := 0
	return slices.DeleteFunc(slices.Clone(trials), func(t trial) bool {
		if t.size() > 0 {
			others++
		}
		return t.size() > 0 && others >= number
	})
}

// order sorts trials by their mean accuracy over their common repetitions, and puts them before the earlier confirmed
// trials. Trials without a repetition are left out.
func (w *searcher) order(trials []trial) {
	had := slices.DeleteFunc(slices.Clone(trials), func(t trial) bool { return len(w.had(t)) == 0 })
	if len(had) == 0 {
		return
	}
	common := math.MaxInt
	for _, t := range had {
		common = min(common, len(w.had(t)))
	}
	mean := func(t trial) float64 { return stat.Mean(w.had(t)[:common], nil) }
	slices.SortStableFunc(had, func(a, b trial) int {
		return cmp.Or(cmp.Compare(mean(b), mean(a)), cmp.Compare(a.size(), b.size()))
	})
	copy(trials, had)
	before := slices.DeleteFunc(w.confirmed, func(t trial) bool {
		return slices.ContainsFunc(had, func(u trial) bool { return slices.Equal(t.point, u.point) })
	})
	w.confirmed, w.final, w.repeats = append(had, before...), len(had), common
}

// had returns the accuracies of a trial's repetitions before the first missing one.
func (w *searcher) had(t trial) []float64 {
	scores := w.scores[t.key()]
	if i := slices.IndexFunc(scores, math.IsNaN); i >= 0 {
		return scores[:i]
	}
	return scores
}

// train brings each trial to the given number of repetitions. Repetition i is a condensation with seed Seed+i and a
// training run of each model. The first repetitions of all trials come before the second ones.
func (w *searcher) train(ctx context.Context, trials []trial, repetitions int, count *progress.Counter) error {
	quiet := progress.With(ctx, nil) // condensing takes milliseconds
	type cell struct {
		trial      string
		repetition int
	}
	var jobs []training.Job
	var cells []cell
	for i := range repetitions {
		for _, t := range trials {
			if had := w.scores[t.key()]; i < len(had) && !math.IsNaN(had[i]) {
				continue
			}
			c, seed := w.space.at(t.point).candidate(), w.Seed+uint64(i)
			p, err := w.prepare(quiet, c)
			if err != nil {
				return err
			}
			small, err := p.prepared.Condense(quiet, c.Method, w.Nodes, seed)
			if err != nil {
				return err
			}
			target, err := w.target(quiet, c.Setting)
			if err != nil {
				return err
			}
			how := w.Training
			how.Weighted = c.Weighted
			cells = append(cells, cell{t.key(), i})
			for _, m := range w.Models {
				jobs = append(jobs, training.Job{
					Model: m, Sample: experiment.Sample(small), Target: target, Training: how, Seed: seed,
				})
			}
		}
	}
	for _, t := range trials {
		for len(w.scores[t.key()]) < repetitions {
			w.scores[t.key()] = append(w.scores[t.key()], math.NaN())
			w.right[t.key()] = append(w.right[t.key()], nil)
		}
	}
	right := make([][]int, len(cells))
	for i := range right {
		right[i] = make([]int, len(w.g.Split.Val))
	}
	models := len(w.Models)
	found, ended := make([]float64, len(jobs)), make([]int, len(cells))
	return training.Run(ctx, jobs, false, func(i int, r *gnn.Result) error {
		found[i] = r.Validation
		at := i / models
		w.mark(r, right[at])
		if ended[at]++; ended[at] == models {
			w.right[cells[at].trial][cells[at].repetition] = right[at]
			w.scores[cells[at].trial][cells[at].repetition] = stat.Mean(found[at*models:(at+1)*models], nil)
		}
		w.trainings++
		if count != nil {
			count.Add(ctx, "confirmed")
		}
		return nil
	})
}

// mark adds 1 at each validation node that the trained model classifies correctly.
func (w *searcher) mark(r *gnn.Result, right []int) {
	for i, y := range w.g.Labels(w.g.Split.Val) {
		if r.Validated[i] == y {
			right[i]++
		}
	}
}

// target returns the target of candidates in a setting.
func (w *searcher) target(ctx context.Context, setting condense.Setting) (*gnn.Target, error) {
	return made(w.targets, setting, func() (*gnn.Target, error) {
		g, err := w.view(ctx, setting)
		if err != nil {
			return nil, err
		}
		return training.Target(ctx, g, setting.Inductive, w.Memory, w.Models, w.Training.Hidden, nil)
	})
}

// result collects the outcome, and chooses the best candidate.
func (w *searcher) result() *Result {
	r := &Result{Choice: w.choice, Best: Trial{Candidate: w.Base}, Trainings: w.trainings}
	for _, t := range w.ranked {
		r.Ranked = append(r.Ranked, w.trial(t))
	}
	for i, t := range w.confirmed {
		f := Finalist{Trial: w.trial(t)}
		for _, v := range w.scores[t.key()] {
			if math.IsNaN(v) || i < w.final && len(f.Val) == w.repeats {
				break
			}
			f.Val = append(f.Val, v)
		}
		r.Confirmed = append(r.Confirmed, f)
	}
	if w.final == 0 {
		if len(r.Ranked) > 0 {
			r.Best = r.Ranked[0]
		}
		return r
	}
	last := r.Confirmed[:min(w.final, len(r.Confirmed))]
	base := slices.IndexFunc(last, func(f Finalist) bool { return len(f.Changes) == 0 })
	if base < 0 {
		return r
	}
	r.Best = last[base].Trial
	behind := w.right[w.confirmed[base].key()]
	first := true
	for i, challenger := range last {
		if i == base {
			continue
		}
		gain, noise := lead(challenger.Val, last[base].Val, w.right[w.confirmed[i].key()], behind, len(w.Models))
		if first || gain > noise {
			r.Gain, r.Noise, first = gain, noise, false
		}
		if gain > noise {
			r.Best = challenger.Trial
			break
		}
	}
	return r
}

// trial converts a ranked trial to a Trial of the result. cgc-d in it has no limit that the search computed for it.
func (w *searcher) trial(t trial) Trial {
	c := w.space.at(t.point).candidate()
	if soft, is := c.Method.(distill.Method); is {
		soft.Memory, soft.Within = w.limit, 0
		c.Method = soft
	}
	return Trial{c, w.space.changes(t.point), t.Verdict}
}

// margin is the number of standard errors by which a candidate must beat the base. It compensates for picking the
// candidate among many on the same validation nodes.
const margin = 1.5

// lead returns the mean of a − b over their n common repetitions, and margin times its standard error. rightA and
// rightB hold, for each repetition and validation node, the number of models that classify the node correctly.
//
// The variance has two parts, s²/n + v/m.
//
//	s²: the variance of the differences over condensation seeds. A few repetitions estimate s poorly, so it is set to
//	    at least half a point, and to one point for one repetition.
//	v:  the variance, over the m validation nodes, of the difference in how often a node is classified correctly.
//	    With a few hundred nodes this part is the larger one.
func lead(a, b []float64, rightA, rightB [][]int, models int) (gain, noise float64) {
	n := min(len(a), len(b))
	differences := make([]float64, n)
	nodes := make([]float64, len(rightA[0]))
	for i := range differences {
		differences[i] = a[i] - b[i]
		for v := range nodes {
			nodes[v] += 100 * float64(rightA[i][v]-rightB[i][v]) / float64(n*models)
		}
	}
	over := experiment.EstimateOf(differences)
	std := over.Std
	if n < 2 {
		std = 1
	}
	std = max(0.5, std)
	spread := experiment.EstimateOf(nodes).Std
	return over.Mean, margin * math.Sqrt(std*std/float64(n)+spread*spread/float64(len(nodes)))
}

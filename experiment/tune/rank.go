package tune

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/distill"
	"github.com/graph-condensation/cgc/internal/judge"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/progress"
)

// preparation is a graph prepared for some candidates.
type preparation struct {
	candidate Candidate
	prepared  condense.Prepared
	bytes     int64
}

// serves reports whether c can be condensed from what was prepared.
func (p *preparation) serves(c Candidate) bool {
	return p.candidate.Setting == c.Setting && p.candidate.Method.(condense.Preparer).SharesPreparation(c.Method)
}

// preparationMemory limits, in bytes, the preparations that are kept for later candidates. The last one is always kept.
const preparationMemory = 512 << 20

// prepare returns the graph prepared for c. It reuses a kept preparation if one fits.
func (w *searcher) prepare(ctx context.Context, c Candidate) (*preparation, error) {
	for i, p := range w.prepared {
		if p.serves(c) {
			w.prepared = append(slices.Delete(w.prepared, i, i+1), p) // the last is the most recently used
			return p, nil
		}
	}
	g, err := w.view(ctx, c.Setting)
	if err != nil {
		return nil, err
	}
	if c.Setting.Inductive {
		g = g.TrainingGraph()
	}
	n := preparation{candidate: c}
	switch m := c.Method.(type) {
	case cgc.Config:
		n.bytes = 4 * int64(m.Hops+1) * int64(len(g.Split.Train)) * int64(g.Features())
	case distill.Method:
		n.bytes = m.Kept(g)
	}
	total := n.bytes
	for _, p := range w.prepared {
		total += p.bytes
	}
	for len(w.prepared) > 0 && total > preparationMemory {
		total -= w.prepared[0].bytes
		w.prepared = slices.Delete(w.prepared, 0, 1)
	}
	if n.prepared, err = c.Method.(condense.Preparer).Prepare(ctx, g); err != nil {
		return nil, err
	}
	w.prepared = append(w.prepared, &n)
	return &n, nil
}

// view returns the full graph with the features of a setting.
func (w *searcher) view(ctx context.Context, setting condense.Setting) (*graph.Graph, error) {
	return made(w.views, setting, func() (*graph.Graph, error) {
		view, _, err := setting.Features(ctx, w.g)
		return view, err
	})
}

// made returns the value of a setting, which is made by f the first time.
func made[V any](values map[condense.Setting]V, setting condense.Setting, f func() (V, error)) (v V, err error) {
	if v, is := values[setting]; is {
		return v, nil
	}
	if v, err = f(); err == nil {
		values[setting] = v
	}
	return v, err
}

// judge returns the surrogate that ranks candidates in a setting.
func (w *searcher) judge(ctx context.Context, setting condense.Setting) (*judge.Judge, error) {
	return made(w.judges, setting, func() (*judge.Judge, error) {
		linear := !slices.ContainsFunc(w.Models, func(m gnn.Model) bool { return m.Name() != gnn.SGC().Name() })
		g, err := w.view(ctx, setting)
		if err != nil {
			return nil, err
		}
		return judge.New(ctx, g, setting.Inductive, linear, rand.NewPCG(w.Seed, judgeStream))
	})
}

// manyRows is the smallest number of training nodes for which candidates are ranked one after another, with one seed
// each. On such graphs, condensing keeps all threads busy and differs little between seeds.
const manyRows = 20_000

// rank computes the verdicts of the candidates at the given points and adds them to w.ranked, except of those that need
// too much memory. Candidates with the same preparation are ranked together. If ctx ends, the verdicts so far are kept.
func (w *searcher) rank(ctx context.Context, points []point) error {
	seeds, chunk := 3, 1
	if len(w.g.Split.Train) >= manyRows {
		seeds, chunk = 1, len(points)
	}
	left := slices.DeleteFunc(slices.Clone(points), func(p point) bool {
		return w.check(w.space.at(p).candidate()) != nil
	})
	done := make([]*trial, 0, len(points))
	defer func() {
		for _, t := range done {
			if t.Accuracy >= 0 {
				w.ranked = append(w.ranked, *t)
			}
		}
		w.sort(w.ranked)
	}()
	count := progress.NewCounter(len(w.ranked), w.Trials) // the total is unknown if the time is the limit
	quiet := progress.With(ctx, nil)                      // a candidate takes milliseconds: its steps are not reported
	for len(left) > 0 {
		first := w.space.at(left[0]).candidate()
		p, err := w.prepare(quiet, first)
		if err != nil {
			return err
		}
		j, err := w.judge(quiet, first.Setting)
		if err != nil {
			return err
		}
		from := len(done)
		left = slices.DeleteFunc(left, func(at point) bool {
			shares := p.serves(w.space.at(at).candidate())
			if shares {
				done = append(done, &trial{point: at, Verdict: Verdict{Accuracy: -1}})
			}
			return shares
		})
		batch := done[from:]
		err = parallel.Try(quiet, len(batch), chunk, func(lo, hi int) error {
			for _, t := range batch[lo:hi] {
				v, err := w.meanVerdict(quiet, j, p.prepared, w.space.at(t.point).candidate(), seeds)
				if err != nil {
					return err
				}
				t.Verdict = v
				count.Add(ctx, "ranked")
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// meanVerdict returns the mean verdict of j on c over condensation seeds.
func (w *searcher) meanVerdict(
	ctx context.Context, j *judge.Judge, prepared condense.Prepared, c Candidate, seeds int,
) (mean Verdict, err error) {
	if soft, is := c.Method.(distill.Method); is {
		c.Method = soft.ForTrial(w.g.Nodes())
	}
	verdicts := make([]Verdict, seeds)
	for i := range verdicts {
		small, err := prepared.Condense(ctx, c.Method, w.Nodes, w.Seed+rankingSeeds+uint64(i))
		if err != nil {
			return mean, err
		}
		if verdicts[i], err = j.Of(ctx, small, c.Weighted, nil); err != nil {
			return mean, err
		}
	}
	mean = judge.Mean(verdicts...)
	mean.Each = nil // would be kept for each of thousands of candidates
	return mean, nil
}

// sort orders trials by descending score. Ties are broken by the number of changes, the fewest first, and then by
// point.
func (w *searcher) sort(trials []trial) {
	slices.SortStableFunc(trials, func(a, b trial) int {
		return cmp.Or(
			cmp.Compare(b.Score(), a.Score()), cmp.Compare(a.size(), b.size()), slices.Compare(a.point, b.point))
	})
}

// finalists picks the candidates that training confirms: the base and others by rank for two thirds of the places, then
// one third for diversity. Any two differ in at least three parameters (or in all that they change, if fewer).
//
// The surrogate can be biased for or against a parameter. So each diverse pick is the best-ranked candidate that
// changes a parameter that no earlier finalist changes, and at most half of the finalists share a change.
func (w *searcher) finalists(number int) []trial {
	var chosen []trial
	shared := make([]int, len(w.Space)) // the number of chosen candidates that change the parameter
	take := func(t trial) {
		chosen = append(chosen, t)
		for d, level := range t.point {
			if level != asBase {
				shared[d]++
			}
		}
	}
	take(w.ranked[slices.IndexFunc(w.ranked, func(t trial) bool { return t.size() == 0 })])
	add := func(upTo, distance, most int, diverse bool) {
		for _, t := range w.ranked {
			if len(chosen) >= upTo {
				return
			}
			crowded, unseen := false, false
			for d, level := range t.point {
				crowded = crowded || level != asBase && shared[d] >= most
				unseen = unseen || level != asBase && shared[d] == 0
			}
			near := slices.ContainsFunc(chosen, func(c trial) bool {
				return c.apart(t.point) < min(distance, max(1, t.size(), c.size()))
			})
			if near || crowded || diverse && !unseen {
				continue
			}
			take(t)
		}
	}
	const distance = 3
	add((2*number+2)/3, distance, number/2, false)
	add(number, distance, number/2, true)
	for d := distance; d > 0; d-- { // relax the limits if there are too few
		add(number, d, number, false)
	}
	return chosen
}

package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/progress"
)

// Agreement says how well the condensed graph ranks candidates. It compares candidates that were drawn at random from
// the space of a search and trained completely on both graphs.
type Agreement struct {
	// Compared holds the candidates in the order in which they were drawn.
	Compared []Finalist `json:"compared"`
	// Spearman and Kendall are the rank correlations (ρ and τ-b) of validation accuracy after training on the condensed
	// graph and on the original graph.
	Spearman Correlation `json:"spearman"`
	Kendall  Correlation `json:"kendall"`
	// Best is the candidate with the best validation accuracy after training on the original graph.
	Best Finalist `json:"best"`
}

// Correlation is a coefficient from −1 to 1 with its 95% bootstrap interval over candidates.
type Correlation struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// agreementStream is the random stream for the candidates of an Agreement; bootstrapStream is for its intervals.
const (
	agreementStream = 1<<35 + 1
	bootstrapStream = 1<<35 + 2
)

// Agree trains candidates on the condensed graph and on the original graph.
func (s Search) Agree(
	ctx context.Context, small *condense.Condensed, g *graph.Graph, candidates int,
) (_ *Agreement, err error) {
	defer memory.Recover(&err)
	if g, err = s.check(ctx, small, g); err != nil {
		return nil, err
	}
	if candidates < 3 || candidates > s.Space.Size() {
		return nil, fmt.Errorf("%d candidates to compare, must be 3 to %d, the size of the space", candidates,
			s.Space.Size())
	}
	t, err := s.newTrainer(ctx, small, g, false)
	if err != nil {
		return nil, err
	}
	defer t.target.Close()
	drawn, err := s.Space.draw(candidates, s.Epochs, rand.NewPCG(s.Seed, agreementStream))
	if err != nil {
		return nil, err
	}
	var trials []Trial
	for _, c := range drawn {
		trials = append(trials, Trial{Candidate: c})
	}
	t.count = progress.NewCounter(0, candidates)
	if err := t.train(ctx, trials, s.Epochs, true); err != nil {
		return nil, err
	}
	a := new(Agreement)
	if a.Compared, err = s.confirm(ctx, trials, small, g); err != nil {
		return nil, err
	}
	a.Best = slices.MaxFunc(a.Compared, func(a, b Finalist) int { return cmp.Compare(a.WholeVal, b.WholeVal) })
	a.Spearman = bootstrap(a.Compared, spearman, s.Seed)
	a.Kendall = bootstrap(a.Compared, kendall, s.Seed)
	return a, nil
}

// Random estimates the validation and test accuracies of a random search on the original graph that takes the given
// time. The search draws as many of the compared candidates as can be trained in this time, at least one, and chooses
// by validation accuracy. Random averages 1000 searches. candidates is the number drawn in each.
func (a *Agreement) Random(seconds float64, seed uint64) (candidates int, val, test float64) {
	var total float64
	for _, f := range a.Compared {
		total += f.Seconds
	}
	n := len(a.Compared)
	candidates = min(max(int(seconds*float64(n)/total), 1), n)
	random := rand.New(rand.NewPCG(seed, bootstrapStream))
	const draws = 1000
	for range draws {
		best := Finalist{WholeVal: math.Inf(-1)}
		for _, i := range random.Perm(n)[:candidates] {
			if a.Compared[i].WholeVal > best.WholeVal {
				best = a.Compared[i]
			}
		}
		val, test = val+best.WholeVal/draws, test+best.WholeTest/draws
	}
	return candidates, val, test
}

// bootstrap returns a coefficient between Val and WholeVal, with its confidence interval.
func bootstrap(all []Finalist, of func(x, y []float64) float64, seed uint64) Correlation {
	x, y := make([]float64, len(all)), make([]float64, len(all))
	for i, f := range all {
		x[i], y[i] = f.Val, f.WholeVal
	}
	const draws = 1000
	values := make([]float64, draws)
	parallel.For(draws, 1, func(d, _ int) {
		random := rand.New(rand.NewPCG(seed+uint64(d), bootstrapStream))
		u, v := make([]float64, len(x)), make([]float64, len(x))
		for i := range u {
			at := random.IntN(len(x))
			u[i], v[i] = x[at], y[at]
		}
		values[d] = of(u, v)
	})
	slices.Sort(values)
	return Correlation{of(x, y), values[draws*25/1000], values[draws*975/1000-1]}
}

// spearman returns the correlation of the ranks; 0 if all values of x or of y are equal. Ties get their mean rank.
func spearman(x, y []float64) float64 { return orZero(stat.Correlation(ranks(x), ranks(y), nil)) }

func orZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// ranks returns the rank of each value, from 0.
func ranks(x []float64) []float64 {
	order := memory.Range(0, len(x))
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(x[a], x[b]) })
	r := make([]float64, len(x))
	for lo := 0; lo < len(order); {
		hi := lo + 1
		for hi < len(order) && x[order[hi]] == x[order[lo]] {
			hi++
		}
		for _, i := range order[lo:hi] {
			r[i] = float64(lo+hi-1) / 2
		}
		lo = hi
	}
	return r
}

// kendall returns τ-b: the concordant pairs minus the discordant ones, divided by √(pairs untied in x · pairs untied in
// y); 0 if all values of x or of y are equal.
func kendall(x, y []float64) float64 {
	var same, xs, ys float64
	for i := range x {
		for j := range i {
			a, b := cmp.Compare(x[i], x[j]), cmp.Compare(y[i], y[j])
			same, xs, ys = same+float64(a*b), xs+float64(a*a), ys+float64(b*b)
		}
	}
	return orZero(same / math.Sqrt(xs*ys))
}

package bench

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// steps returns the steps of a condensation of g with their work. adj is A′, or nil if none is generated. budget holds
// the number of condensed nodes of each class.
func steps(g *graph.Graph, config cgc.Config, adj *mat.CSR, budget []int, account cgc.Account) []Step {
	hops, d, train := config.Hops, g.Features(), len(g.Split.Train)
	judged := 1 // confidence is computed only for H⁽ᴷ⁾, unless augmentation drew from other hops
	if account.Assessed.Augmented > 0 {
		judged += hops
	}
	var generated *Work
	if adj != nil {
		generated = generation(adj, d, hops)
	}
	return []Step{
		{Name: "propagate", Work: propagation(g.Adj, g.X, g.Split.Train, hops, config.Precision)},
		{Name: "assess", Work: assessment(train, d, g.Classes, judged)},
		{Name: "augment", Work: augmentation(train, d, account.Assessed.Augmented)},
		{Name: "partition", Work: partitioning(g.Counts(g.Split.Train), d, config.Partition, budget, account)},
		{Name: "generate", Work: generated},
	}
}

// edgeless returns an A′ of n nodes without edges.
func edgeless(n int) *mat.CSR { return &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)} }

// Steps returns the steps that condensed g to small, with their work and their shares of the ceilings c. g is the graph
// as the condensation saw it (condense.Setting.View). It returns an error if small was not condensed by package cgc.
func Steps(g *graph.Graph, small *cgc.Condensed, c Ceilings) ([]Step, error) {
	config, err := cgc.ConfigOf(small)
	if err != nil {
		return nil, err
	}
	return c.timed(g, small, config, small.Seconds)
}

// timed returns the time, the work and the share of the ceiling of each step, and the total time.
func (c Ceilings) timed(g *graph.Graph, small *cgc.Condensed, config cgc.Config, s condense.Seconds) ([]Step, error) {
	account, err := cgc.AccountOf(small)
	if err != nil {
		return nil, err
	}
	adj := small.Adj
	if adj == nil { // condense.Load returns nil for a graph without edges
		adj = edgeless(small.Nodes())
	}
	all := steps(g, config, adj, small.Budget, account)
	for i := range all {
		all[i].Seconds = s.Of(all[i].Name)
		all[i].Share = c.share(all[i])
	}
	return append(all, Step{Name: "condense", Seconds: s.Total}), nil
}

// share returns the share of its ceiling that s reached; 0 if s has no work or took no time.
func (c Ceilings) share(s Step) float64 {
	if s.Work == nil || s.Seconds <= 0 {
		return 0
	}
	share := s.Amount / s.Seconds / c.of(s.Ceiling)
	if math.IsInf(share, 0) || math.IsNaN(share) {
		return 0
	}
	return share
}

// least returns the time that the work of all steps takes at the ceilings, in seconds.
func (c Ceilings) least(all []Step) (seconds float64) {
	for _, s := range all {
		if s.Work != nil && s.Amount > 0 {
			seconds += s.Amount / c.of(s.Ceiling)
		}
	}
	return seconds
}

// median returns the median of each ceiling. all must not be empty.
func median(all []Ceilings) (m Ceilings) {
	values := make([]float64, len(all))
	for _, of := range []func(*Ceilings) *float64{
		func(c *Ceilings) *float64 { return &c.Stream }, func(c *Ceilings) *float64 { return &c.Gather },
		func(c *Ceilings) *float64 { return &c.Compute }, func(c *Ceilings) *float64 { return &c.Fresh },
	} {
		for i := range all {
			values[i] = *of(&all[i])
		}
		*of(&m) = Median(values)
	}
	return m
}

// Growth describes how the time of a step grows with the graph: seconds ∝ scaleᵉ, where nodes and edges grow by the
// same factor.
type Growth struct {
	// Size, Partition, Precision and Step identify the measurements.
	Size      string            `json:"size"`
	Partition string            `json:"partition"`
	Precision blocked.Precision `json:"precision,omitzero"`
	Step      string            `json:"step"`
	// Exponent is e in seconds ∝ scaleᵉ, fitted by least squares in logarithms. 1 means linear time.
	Exponent float64 `json:"exponent"`
}

// growth fits an exponent for every combination of size, partition, precision and step with times at two or more
// scales.
func growth(cases []Case) (fits []Growth) {
	type times struct{ scales, seconds []float64 }
	found := map[Growth]*times{}
	var order []Growth // the keys of found, in first-seen order
	for _, c := range cases {
		for _, s := range c.Steps {
			key := Growth{Size: c.Size, Partition: c.Partition, Precision: c.Precision, Step: s.Name}
			if found[key] == nil {
				found[key] = new(times)
				order = append(order, key)
			}
			t := found[key]
			t.scales, t.seconds = append(t.scales, c.Scale), append(t.seconds, s.Seconds)
		}
	}
	for _, fit := range order {
		t := found[fit]
		var ok bool
		if fit.Exponent, ok = exponent(t.scales, t.seconds); ok {
			fits = append(fits, fit)
		}
	}
	return fits
}

// exponent returns e in seconds ∝ scaleᵉ, fitted by least squares in logarithms. It ignores times that are not
// positive. ok is false if fewer than two different scales remain.
func exponent(scales, seconds []float64) (e float64, ok bool) {
	var x, y []float64
	for i, s := range seconds {
		if s > 0 {
			x, y = append(x, math.Log(scales[i])), append(y, math.Log(s))
			ok = ok || x[0] != x[len(x)-1]
		}
	}
	if !ok {
		return 0, false
	}
	_, e = stat.LinearRegression(x, y, nil, false)
	return e, true
}

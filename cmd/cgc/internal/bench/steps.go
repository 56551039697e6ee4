package bench

import (
	"math"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// steps returns the steps of a condensation of g with their work. adj is A′, or nil if none is generated. budget holds
// the number of condensed nodes of each class.
func steps(g *graph.Graph, config cgc.Config, adj *mat.CSR, budget []int, account cgc.Account) []Step {
	hops, d, train := config.Hops, g.Features(), len(g.Split.Train)
	judged := 1 // only H⁽ᴷ⁾ is judged, unless augmentation drew from other hops
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

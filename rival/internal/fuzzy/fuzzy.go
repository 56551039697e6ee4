// Package fuzzy condenses a graph to the centres of fuzzy clusters of each class. It implements the static part of
// GECC of Gong et al. (KDD 2026, "Scalable Graph Condensation with Evolving Capabilities").
//
// With F = Σ_l a_l·ÂˡX, the n rows of a class in F, and u_ji the membership of row i in cluster j, fuzzy c-means
// minimises
//
//	Σ_ij u_jiᵐ·‖f_i − c_j‖² with Σ_j u_ji = 1.
//
// Of several runs, the one with the lowest sum of this objective and balance·Σ_j (Σ_i u_ji − n/k)² is kept. Its k
// centres are the condensed nodes of the class.
//
// What differs from the authors' program: the first run starts with the memberships that c-means defines for k random
// rows as centres (theirs are divided by sums over the rows); a cluster whose memberships are all 0 restarts at a
// random row; all hops are used in the inductive setting; the numbers of nodes of the classes add up to N′; features
// are used as they are (theirs are row-normalised on Cora, Citeseer and Pubmed, so that balance decides between runs).
// The other part of the paper, which clusters a grown graph starting from the old centres, is left out.
package fuzzy

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// propagateStep and clusterStep are the names of the steps in Seconds.
const (
	propagateStep = "propagate"
	clusterStep   = "cluster"
)

// gecc clusters the propagated features of each class by fuzzy c-means. The centres are X′, without edges: A′ = I.
// Nothing is trained. Source: Gong et al., Scalable graph condensation with evolving capabilities (KDD 2026).
type gecc struct {
	// HopWeights are the weights of X, ÂX, Â²X, … in the features that are clustered: from 1 to 21 finite numbers.
	HopWeights []float64 `json:"hop_weights"`
	// Fuzziness is the exponent m of fuzzy c-means, from 1 to 10. With 1, each row belongs to the nearest centre:
	// k-means.
	Fuzziness float64 `json:"fuzziness"`
	// Restarts is the number of runs, of which the best is kept, at least 1. Balance is the weight of unequal cluster
	// sizes in the choice of the best run, at least 0.
	Restarts int     `json:"restarts"`
	Balance  float64 `json:"balance"`
	// Memory limits the memory for the propagated features of the training nodes and for their memberships.
	Memory rival.Memory `json:"memory"`
}

// New returns gecc with the parameters of the authors' program for Cora.
func New() condense.Method {
	return gecc{
		HopWeights: []float64{-0.1, 0.9, 0.9}, Fuzziness: 1.3, Restarts: 50, Balance: 1, Memory: rival.DefaultMemory,
	}
}

// Name returns "gecc".
func (gecc) Name() string { return "gecc" }

// Check validates the parameters, g, nodes and the memory limit.
func (m gecc) Check(g *graph.Graph, nodes int) error {
	ok := len(m.HopWeights) >= 1 && len(m.HopWeights) <= 21
	for _, a := range m.HopWeights {
		ok = ok && math.Abs(a) <= math.MaxFloat32
	}
	err := rival.Check(g, nodes,
		parameter.Check(ok, "hop weights", m.HopWeights, "1 to 21 finite numbers"),
		parameter.Check(m.Fuzziness >= 1 && m.Fuzziness <= 10, "fuzziness", m.Fuzziness, "from 1 to 10"),
		parameter.Check(m.Restarts >= 1, "restarts", m.Restarts, "at least 1"),
		parameter.Check(m.Balance >= 0 && m.Balance <= math.MaxFloat32, "balance", m.Balance, "at least 0 and finite"),
	)
	if err != nil {
		return err
	}
	// Counted: the embeddings of the training nodes for each hop, their inner products and their memberships.
	counts := g.Counts(g.Split.Train)
	budget, err := partition.Budgets(counts, nodes)
	if err != nil {
		return err
	}
	n, d := float64(len(g.Split.Train)), float64(g.Features())
	bytes := 4 * float64(len(m.HopWeights)+1) * n * d
	for c, k := range budget {
		bytes += 8 * float64(counts[c]) * (min(float64(counts[c]), d) + 6*float64(k))
	}
	return m.Memory.Fits(rival.Training(m.Name(), g), bytes)
}

// Condense clusters each class. A restart for a class of n nodes with k condensed nodes costs at most 300·n·k·min(n, d)
// operations.
func (m gecc) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return rival.Run(ctx, m, g, nodes, seed, m.work, propagateStep, clusterStep)
}

// work propagates the features and clusters each class.
func (m gecc) work(ctx context.Context, task *rival.Task) (*condense.Condensed, error) {
	features, err := m.propagate(ctx, task)
	if err != nil {
		return nil, err
	}
	defer task.Clock.Step(clusterStep)()
	classes := make([]class, task.Graph.Classes)
	for c := range classes {
		classes[c].k = task.Budget[c]
	}
	for i, c := range task.Graph.Labels(task.Graph.Split.Train) {
		classes[c].rows = append(classes[c].rows, features.Row(i))
		classes[c].nodes = append(classes[c].nodes, task.Graph.Split.Train[i])
	}
	err = parallel.Try(ctx, len(classes), 1, func(c, _ int) error { return classes[c].prepare(ctx) })
	if err != nil {
		return nil, err
	}
	err = parallel.Try(ctx, len(classes)*m.Restarts, 1, func(at, _ int) error {
		c, restart := at%len(classes), at/len(classes)
		if classes[c].k == 0 {
			return nil
		}
		r, err := m.run(ctx, &classes[c], restart, rand.New(rand.NewPCG(task.Seed, uint64(at))))
		if err == nil {
			classes[c].keep(r)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return condensed(classes, task.Nodes, task.Graph), nil
}

// propagate returns F for the training nodes, in the order of the split.
func (m gecc) propagate(ctx context.Context, task *rival.Task) (*mat.Dense, error) {
	defer task.Clock.Step(propagateStep)()
	g := task.Graph
	h, err := propagate.Run(ctx, blocked.Engine{}, propagate.Propagation{Rule: propagate.SGC, Hops: len(m.HopWeights) - 1},
		propagate.Input{Adj: g.Adj, X: g.X, Rows: g.Split.Train, Classes: g.Labels(g.Split.Train), Mapped: g.Mapped})
	if err != nil {
		return nil, err
	}
	const rowChunk = 256
	mixture := mat.NewDense(h[0].Dims())
	parallel.For(mixture.Rows, rowChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for l, hop := range h {
				kernel.Axpy(float32(m.HopWeights[l]), hop.Row(i), mixture.Row(i))
			}
		}
	})
	return mixture, nil
}

// condensed returns the centres of the best runs. The source nodes of a centre are the nodes whose share in it is not
// negligible.
func condensed(classes []class, nodes int, g *graph.Graph) *condense.Condensed {
	const negligible = 1e-6
	small := &condense.Condensed{
		X:       mat.NewDense(nodes, g.Features()),
		Members: &mat.CSR{Rows: nodes, Cols: g.Nodes(), Indptr: make([]int64, 1, nodes+1)},
	}
	centre := make([]float64, g.Features())
	for c := range classes {
		for j := range classes[c].k {
			shares := classes[c].best.shares(j, len(classes[c].rows))
			classes[c].mean(centre, shares)
			for f, v := range centre {
				small.X.Row(len(small.Y))[f] = float32(v)
			}
			for i, share := range shares {
				if share >= negligible {
					small.Members.Indices = append(small.Members.Indices, classes[c].nodes[i])
					small.Members.Data = append(small.Members.Data, float32(share))
				}
			}
			small.Members.Indptr = append(small.Members.Indptr, int64(len(small.Members.Indices)))
			small.Y = append(small.Y, int32(c))
		}
	}
	return small
}

// Package kernel condenses a graph by kernel ridge regression with the structure neural tangent kernel: GC-SNTK of Wang
// et al. (2023, "Fast Graph Condensation with Structure-based Neural Tangent Kernel"), here SNTK and SNTK-X.
//
// The condensed graph is the training set of a regression that predicts the training nodes. No GNN is trained. The
// features X′ follow the gradient of the squared error:
//
//	min_X′ (1/nC)·‖Y − K_ts(K_ss + ridge·tr(K_ss)/N′·I)⁻¹Y′‖²,
//
// with the kernel K between the n training nodes (t) and the condensed nodes (s). docs/rivals.md says what the paper
// leaves open.
package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/rival"
	"github.com/graph-condensation/cgc/rival/learn"
)

// Parameters are those of both methods.
type Parameters struct {
	// Hops is K, the number of propagations of the kernel: 1 or 2.
	Hops int `json:"hops"`
	// Layers is L, the number of layers after each propagation, from 1 to 10.
	Layers int `json:"layers"`
	// Ridge is the ridge as a share of the mean of K_ss's diagonal, above 0.
	Ridge float64 `json:"ridge"`
	// Epochs is the number of steps of Adam, at least 1. FeatureRate is their size, above 0: for X′ over
	// learn.Start.Unit, and for Y′.
	Epochs      int     `json:"epochs"`
	FeatureRate float64 `json:"lr_feat"`
	// InitHops is the number of propagations of the features with which X′ begins, at least 0.
	InitHops int `json:"init_hops"`
	// LearnLabels learns Y′ too, from one-hot rows. A GNN then learns the rows of Y′ as distributions
	// (Condensed.Soft). The class of a condensed node stays what it was.
	LearnLabels bool `json:"learn_labels"`
	learn.Choice
	// Memory bounds what the kernels take.
	Memory rival.Memory `json:"memory"`
}

// SNTK learns X′ over edges A′ that are fixed at the start. The edges join the pairs of condensed nodes whose first
// features are closest, as many as make a mean degree of Degree.
type SNTK struct {
	Parameters
	// Degree is the mean degree of A′, at least 0.
	Degree float64 `json:"degree"`
}

// SNTKX is SNTK without edges: A′ = I.
type SNTKX struct{ Parameters }

// defaults are the parameters of the authors' program for Cora, but for FeatureRate, which validation nodes of Cora and
// Citeseer chose, InitHops and LearnLabels.
func defaults() Parameters {
	return Parameters{
		Hops: 2, Layers: 2, Ridge: 1, Epochs: 500, FeatureRate: 0.01, Memory: rival.DefaultMemory,
		Choice: learn.Choice{JudgeEvery: 25, JudgeEpochs: 200},
	}
}

// NewSNTK returns SNTK with default parameters. Validation nodes of Cora and Citeseer chose Degree.
func NewSNTK() SNTK { return SNTK{Parameters: defaults(), Degree: 0.2} }

// NewSNTKX returns SNTK-X with default parameters.
func NewSNTKX() SNTKX { return SNTKX{defaults()} }

// Name returns "sntk".
func (SNTK) Name() string { return "sntk" }

// Name returns "sntk-x".
func (SNTKX) Name() string { return "sntk-x" }

// Check returns what is wrong with the parameters, or with g or nodes for them.
func (m SNTK) Check(g *graph.Graph, nodes int) error {
	return errors.Join(
		m.check(m.Name(), g, nodes),
		learn.Want(m.Degree >= 0 && m.Degree <= math.MaxInt32, "degree", m.Degree, "at least 0"),
	)
}

// Check returns what is wrong with the parameters, or with g or nodes for them.
func (m SNTKX) Check(g *graph.Graph, nodes int) error { return m.check(m.Name(), g, nodes) }

// Condense learns X′ for edges A′.
func (m SNTK) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return m.run(ctx, g, m, m.Degree, nodes, seed)
}

// Condense learns X′.
func (m SNTKX) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return m.run(ctx, g, m, 0, nodes, seed)
}

// check returns what is wrong with the parameters, or with g or nodes for them.
func (p Parameters) check(name string, g *graph.Graph, nodes int) error {
	if err := rival.Check(g, nodes); err != nil {
		return err
	}
	err := errors.Join(
		learn.Want(p.Hops == 1 || p.Hops == 2, "hops", p.Hops, "1 or 2"),
		learn.Want(p.Layers >= 1 && p.Layers <= 10, "layers", p.Layers, "from 1 to 10"),
		learn.Want(p.Ridge > 0 && p.Ridge <= 1e6, "ridge", p.Ridge, "above 0 and at most 1e+06"),
		learn.Want(p.Epochs >= 1, "epochs", p.Epochs, "at least 1"),
		learn.Want(p.FeatureRate > 0, "lr feat", p.FeatureRate, "above 0"),
		learn.Want(p.InitHops >= 0, "init hops", p.InitHops, "at least 0"),
		p.Choice.Check(),
	)
	if err != nil {
		return err
	}
	return p.fits(name, g, nodes)
}

// fits refuses what exceeds the bound on memory: the features of the nodes that one propagation reaches, and the
// matrices of kernel and gradient.
func (p Parameters) fits(name string, g *graph.Graph, nodes int) error {
	near, _ := Structure{p.Hops, p.Layers}.reached(g.Adj, g.Split.Train)
	d, n, reached := float64(g.Features()), float64(nodes), float64(len(near))
	// For each layer and propagation some 8 matrices on the way there, and twice as many on the way back.
	matrices := float64(24*p.Layers*p.Hops + 16)
	what := fmt.Sprintf("%s on %s training nodes, which %s reach in a hop, with %s condensed nodes", name,
		rival.Count(len(g.Split.Train)), rival.Count(len(near)), rival.Count(nodes))
	return p.Memory.Fits(what, 4*(reached*d+matrices*(reached+n)*n+8*n*d))
}

// run checks everything and learns. degree is the mean degree of A′; 0 for none.
func (p Parameters) run(
	ctx context.Context, g *graph.Graph, method condense.Checker, degree float64, nodes int, seed uint64,
) (_ *condense.Condensed, err error) {
	defer memory.Recover(&err)
	if err := method.Check(g, nodes); err != nil {
		return nil, err
	}
	plan := learn.Plan{Method: method, Nodes: nodes, Seed: seed, Epochs: p.Epochs, Choice: p.Choice}
	return learn.Run(ctx, g, plan, func(start *learn.Start) (learn.Learner, error) {
		if p.InitHops > 0 {
			if err := start.Propagate(ctx, p.InitHops, rand.New(rand.NewPCG(seed, beginStream))); err != nil {
				return nil, err
			}
		}
		return newRegression(ctx, start, p, degree)
	})
}

// beginStream seeds the choice of the nodes with which X′ begins if their features are propagated.
const beginStream = 1<<40 + 2

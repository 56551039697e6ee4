// Package kernel condenses a graph by kernel ridge regression with the structure-based neural tangent kernel. It
// implements GC-SNTK of Wang et al. (2023, "Fast Graph Condensation with Structure-based Neural Tangent Kernel") as the
// methods SNTK and SNTK-X.
//
// The condensed graph is the training set of a regression that predicts the training nodes. No GNN is trained. The
// features X′ are learnt by gradient descent on the squared error:
//
//	min_X′ (1/nC)·‖Y − K_ts(K_ss + ridge·tr(K_ss)/N′·I)⁻¹Y′‖²,
//
// where K is the kernel on the n training nodes (t) and the condensed nodes (s). docs/notes/2026-11-baselines.md
// explains what the paper leaves open.
package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/digits"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// Methods returns the methods of the package with their default parameters.
func Methods() []condense.Method {
	return []condense.Method{newSNTK(), newSNTKX()}
}

// Parameters holds the parameters of both methods.
type Parameters struct {
	// Hops is K, the number of propagations of the kernel: 1 or 2.
	Hops int `json:"hops"`
	// Layers is L, the number of layers after each propagation, from 1 to 10.
	Layers int `json:"layers"`
	// Ridge is the ridge relative to the mean of the diagonal of K_ss, above 0.
	Ridge float64 `json:"ridge"`
	// Epochs is the number of steps of Adam, at least 1. FeatureRate is the step size for X′ and Y′, above 0.
	Epochs      int     `json:"epochs"`
	FeatureRate float64 `json:"lr_feat"`
	// InitHops is the number of propagations of the initial X′, at least 0.
	InitHops int `json:"init_hops"`
	// LearnLabels learns Y′ too, from one-hot rows. GNNs then learn the rows of Y′ as soft labels. The class
	// of a condensed node does not change.
	LearnLabels bool `json:"learn_labels"`
	learn.Choice
	// Memory limits the memory that the kernels use.
	Memory rival.Memory `json:"memory"`
}

// sntk learns X′ as the examples of a kernel ridge regression that predicts the training nodes. The kernel is the
// neural tangent kernel of a GNN of infinite width. Source: Wang et al., Fast graph condensation with structure-based
// neural tangent kernel (2023).
//
// A′ is fixed at the start. Its edges connect the pairs of condensed nodes with the closest initial features. There are
// as many edges as needed for the mean degree Degree.
type sntk struct {
	Parameters
	// Degree is the mean degree of A′, at least 0.
	Degree float64 `json:"degree"`
}

// sntkX learns X′ as sntk does, without edges: A′ = I. Source: as sntk.
type sntkX struct{ Parameters }

// defaults returns the parameters of the authors' program for Cora, except for InitHops, LearnLabels and FeatureRate.
// FeatureRate was chosen on validation nodes of Cora and Citeseer.
func defaults() Parameters {
	return Parameters{
		Hops: 2, Layers: 2, Ridge: 1, Epochs: 500, FeatureRate: 0.01, Memory: rival.DefaultMemory,
		Choice: learn.Choice{JudgeEvery: 25, JudgeEpochs: 200},
	}
}

// newSNTK returns SNTK with default parameters. Degree was chosen on validation nodes of Cora and Citeseer.
func newSNTK() sntk { return sntk{Parameters: defaults(), Degree: 0.2} }

// newSNTKX returns SNTK-X with default parameters.
func newSNTKX() sntkX { return sntkX{defaults()} }

// Name returns "sntk".
func (sntk) Name() string { return "sntk" }

// Name returns "sntk-x".
func (sntkX) Name() string { return "sntk-x" }

// Check validates the parameters, g, nodes and the memory limit.
func (m sntk) Check(g *graph.Graph, nodes int) error {
	return errors.Join(
		m.check(m.Name(), g, nodes),
		parameter.Check(m.Degree >= 0 && m.Degree <= math.MaxInt32, "degree", m.Degree, "at least 0"),
	)
}

// Check validates the parameters, g, nodes and the memory limit.
func (m sntkX) Check(g *graph.Graph, nodes int) error { return m.check(m.Name(), g, nodes) }

// Condense learns X′ for a fixed A′.
func (m sntk) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return m.run(ctx, g, m, m.Degree, nodes, seed)
}

// Condense condenses g to the given number of nodes.
func (m sntkX) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return m.run(ctx, g, m, 0, nodes, seed)
}

// check validates the parameters, g, nodes and the memory limit.
func (p Parameters) check(name string, g *graph.Graph, nodes int) error {
	if err := rival.Check(g, nodes); err != nil {
		return err
	}
	err := errors.Join(
		parameter.Check(p.Hops == 1 || p.Hops == 2, "hops", p.Hops, "1 or 2"),
		parameter.Check(p.Layers >= 1 && p.Layers <= 10, "layers", p.Layers, "from 1 to 10"),
		parameter.Check(p.Ridge > 0 && p.Ridge <= 1e6, "ridge", p.Ridge, "above 0 and at most 1e+06"),
		parameter.Check(p.Epochs >= 1, "epochs", p.Epochs, "at least 1"),
		parameter.Check(p.FeatureRate > 0, "lr feat", p.FeatureRate, "above 0"),
		parameter.Check(p.InitHops >= 0, "init hops", p.InitHops, "at least 0"),
		p.Choice.Check(),
	)
	if err != nil {
		return err
	}
	return p.fits(name, g, nodes)
}

// fits returns an error if the features of the nodes within one hop and the matrices for kernel and gradient exceed the
// memory limit.
func (p Parameters) fits(name string, g *graph.Graph, nodes int) error {
	near, _ := structure{p.Hops, p.Layers}.reached(g.Adj, g.Split.Train)
	d, n, reached := float64(g.Features()), float64(nodes), float64(len(near))
	// For each layer and propagation, there are about 8 matrices in the forward pass and 16 in the backward pass.
	matrices := float64(24*p.Layers*p.Hops + 16)
	what := fmt.Sprintf("%s on %s training nodes, which %s reach in a hop, with %s condensed nodes", name,
		digits.Group(len(g.Split.Train)), digits.Group(len(near)), digits.Group(nodes))
	return p.Memory.Fits(what, 4*(reached*d+matrices*(reached+n)*n+8*n*d))
}

// run condenses g. degree is the mean degree of A′; 0 means A′ = I.
func (p Parameters) run(
	ctx context.Context, g *graph.Graph, method condense.Checker, degree float64, nodes int, seed uint64,
) (*condense.Condensed, error) {
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

// beginStream is the random stream that chooses the nodes of the initial X′ if InitHops is not 0.
const beginStream = 1<<40 + 2

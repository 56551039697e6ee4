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
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/rival"
)

// Parameters are those of both methods.
type Parameters struct {
	// Hops is K, the number of propagations of the kernel: 1 or 2.
	Hops int `json:"hops"`
	// Layers is L, the number of layers after each propagation, from 1 to 10.
	Layers int `json:"layers"`
	// Ridge is the ridge as a share of the mean of K_ss's diagonal, above 0.
	Ridge float64 `json:"ridge"`
	// Steps is the number of steps of Adam, at least 0. Rate is its learning rate, at least 0.
	Steps int     `json:"steps"`
	Rate  float64 `json:"rate"`
	// Init says what X′ starts from. "propagated": ÂᴷX of random training nodes of the class. "sample": X of such nodes.
	// "uniform": random numbers in [0, 1), as in the authors' program.
	Init string `json:"init"`
	// LearnLabels learns Y′ too, from one-hot rows. A GNN then learns the rows of Y′ as distributions
	// (Condensed.Soft). The class of a condensed node stays what it was.
	LearnLabels bool `json:"learn_labels"`
	// Every is the number of steps from one look at the validation nodes to the next, at least 1. The iterate that
	// predicts most of them is kept, of equal ones the first. Without validation nodes the last one is kept.
	Every int `json:"every"`
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

// defaults are the parameters of the authors' program for Cora, but for Init and LearnLabels.
func defaults() Parameters {
	return Parameters{
		Hops: 2, Layers: 2, Ridge: 1, Steps: 500, Rate: 0.01, Init: sampled, Every: 10, Memory: rival.DefaultMemory,
	}
}

// NewSNTK returns SNTK with default parameters. Validation nodes of Cora and Citeseer chose Degree.
func NewSNTK() SNTK { return SNTK{Parameters: defaults(), Degree: 0.5} }

// NewSNTKX returns SNTK-X with default parameters.
func NewSNTKX() SNTKX { return SNTKX{defaults()} }

// Name returns "sntk".
func (SNTK) Name() string { return "sntk" }

// Name returns "sntk-x".
func (SNTKX) Name() string { return "sntk-x" }

// Check returns what is wrong with the parameters, or with g or nodes for them.
func (m SNTK) Check(g *graph.Graph, nodes int) error {
	if !(m.Degree >= 0 && m.Degree <= math.MaxInt32) {
		return outOfRange("degree", m.Degree, "at least 0")
	}
	return m.check(m.Name(), g, nodes)
}

// Check returns what is wrong with the parameters, or with g or nodes for them.
func (m SNTKX) Check(g *graph.Graph, nodes int) error { return m.check(m.Name(), g, nodes) }

// Condense learns X′ for edges A′. It reports each look at the validation nodes.
func (m SNTK) Condense(
	ctx context.Context, g *graph.Graph, nodes int, seed uint64,
) (_ *condense.Condensed, err error) {
	defer memory.Recover(&err)
	if err := m.Check(g, nodes); err != nil {
		return nil, err
	}
	return m.condense(ctx, m, m.Degree, g, nodes, seed)
}

// Condense learns X′. It reports each look at the validation nodes.
func (m SNTKX) Condense(
	ctx context.Context, g *graph.Graph, nodes int, seed uint64,
) (_ *condense.Condensed, err error) {
	defer memory.Recover(&err)
	if err := m.Check(g, nodes); err != nil {
		return nil, err
	}
	return m.condense(ctx, m, 0, g, nodes, seed)
}

// Account is what the methods put into Condensed.Account.
type Account struct {
	// Loss is the mean squared error over the training nodes at the first step and at the kept one.
	Loss [2]float64 `json:"loss"`
	// Step is the step of the kept iterate.
	Step int `json:"step"`
	// Validation is the share of the validation nodes that the regression on the kept iterate predicts, in percent; 0
	// without validation nodes.
	Validation float64 `json:"validation"`
}

func outOfRange(field string, value any, want string) error {
	return &condense.FieldError{Package: "kernel", Field: field, Value: value, Want: want}
}

// check returns what is wrong with the parameters, or with g or nodes for them.
func (p Parameters) check(name string, g *graph.Graph, nodes int) error {
	switch {
	case p.Hops < 1 || p.Hops > 2:
		return outOfRange("hops", p.Hops, "1 or 2")
	case p.Layers < 1 || p.Layers > 10:
		return outOfRange("layers", p.Layers, "from 1 to 10")
	case !(p.Ridge > 0 && p.Ridge <= 1e6):
		return outOfRange("ridge", p.Ridge, "above 0 and at most 1e+06")
	case p.Steps < 0 || p.Steps > 1e6:
		return outOfRange("steps", p.Steps, "from 0 to 1000000")
	case !(p.Rate >= 0 && p.Rate <= 1e6):
		return outOfRange("rate", p.Rate, "from 0 to 1e+06")
	case p.Init != propagated && p.Init != sampled && p.Init != uniform:
		return outOfRange("init", p.Init, "propagated, sample or uniform")
	case p.Every < 1:
		return outOfRange("every", p.Every, "at least 1")
	}
	if err := rival.Check(g, nodes); err != nil {
		return err
	}
	return p.fits(name, g, nodes)
}

// fits refuses what exceeds the bound on memory: the features of the nodes that one propagation reaches, and the
// matrices of kernel and gradient, for training and validation nodes.
func (p Parameters) fits(name string, g *graph.Graph, nodes int) error {
	s := Structure{p.Hops, p.Layers}
	train, _ := s.reached(g.Adj, g.Split.Train)
	val, _ := s.reached(g.Adj, judged(g))
	d := float64(g.Features())
	// For each layer and propagation some 8 matrices on the way there, and twice as many on the way back.
	matrices := float64(24*p.Layers*p.Hops + 16)
	n := float64(nodes)
	values := float64(len(train)+len(val))*d + matrices*(float64(len(train))+n)*n + matrices/3*float64(len(val))*n + 8*n*d
	what := fmt.Sprintf("%s on %s training nodes, which %s reach in a hop, with %s condensed nodes", name,
		rival.Count(len(g.Split.Train)), rival.Count(len(train)), rival.Count(nodes))
	return p.Memory.Fits(what, 4*values)
}

// judged returns the validation nodes that choose the iterate: at most 1000, evenly spaced.
func judged(g *graph.Graph) []int32 {
	const most = 1000
	all := g.Split.Val
	if len(all) <= most {
		return all
	}
	some := make([]int32, most)
	for i := range some {
		some[i] = all[i*len(all)/most]
	}
	return some
}

// condense is Condense of both methods. degree is the mean degree of A′; 0 for none.
func (p Parameters) condense(
	ctx context.Context, m condense.Method, degree float64, g *graph.Graph, nodes int, seed uint64,
) (*condense.Condensed, error) {
	task, err := rival.Begin(ctx, g, m, nodes, seed, prepareStep, learnStep)
	if err != nil {
		return nil, err
	}
	done := task.Clock.Step(prepareStep)
	s, err := p.start(ctx, task, degree, rand.New(rand.NewPCG(seed, 1)))
	if err != nil {
		return nil, err
	}
	done()
	done = task.Clock.Step(learnStep)
	account, err := s.learn(ctx)
	if err != nil {
		return nil, err
	}
	done()
	small := &condense.Condensed{X: s.kept, Adj: s.adj, Y: s.y, Soft: s.soft}
	if small.Account, err = json.Marshal(account); err != nil {
		return nil, err
	}
	return task.Finish(ctx, small)
}

// What X′ starts from.
const (
	propagated = "propagated"
	sampled    = "sample"
	uniform    = "uniform"
)

// The steps, as Seconds names them.
const (
	prepareStep = "prepare"
	learnStep   = "learn"
)

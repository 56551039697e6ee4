// Package kernel condenses a graph by kernel ridge regression. It implements GC-SNTK of Wang et al. (2024, "Fast Graph
// Condensation with Structure-based Neural Tangent Kernel") as the methods SNTK and SNTK-X, and GCGP of Wang and Li
// (2025, "Efficient Graph Condensation via Gaussian Process").
//
// The condensed graph is the training set of a regression that predicts the training nodes. No GNN is trained. The
// features, which SNTK standardises by column, are propagated by Âᵏ. X′ and Y′ are learnt in that space by gradient
// descent on
//
//	min_{X′,Y′} (1/nC)·‖Y − softmax(K_ts(K_ss + ridge·tr(K_ss)/N′·I)⁻¹Y′)‖²,
//
// where K is the kernel on the n training nodes (t) and the condensed nodes (s). The structure-based neural tangent
// kernel of SNTK also uses the edges between training nodes. GCGP interprets the regression as the posterior mean of a
// Gaussian process. Its kernel belongs to a wide network and depends on the graph only through Âᵏ.
//
// Departures of SNTK from the authors' program (WANGLin0126/GCSNTK, main.py):
//   - Y′ starts from uniform random numbers, plus 1 in the class of each condensed node, so that each class keeps its
//     share of N′. The program adds no 1.
//   - The authors train GNNs on X′ and Y′ as they are, with a squared error. Here the scaling of X′ is undone, because
//     GNNs are tested on the features of the graph, and labels are the softmax of Y′. The result is the best iterate on
//     the validation nodes, not the last one.
//   - κ₀ is applied to the cosine before a layer, as in the paper, not to the cosine after it. Cosines are not clipped
//     at ±0.9999, and the diagonal of Σ is exact.
//   - Edge weights are used.
//   - K is 1 or 2. All training nodes are in one batch. The programs for large graphs use batches of 500 nodes (arxiv)
//     and 2,000 (Flickr).
//
// The first two departures and the single batch apply to GCGP too (WANGLin0126/GCGP, gcgp/main.py with the kernel
// SGNK), except that its features are not scaled. Further, A′ = I: the A′ that the program can learn does not enter
// this kernel. The program reports the epoch with the best test accuracy of the regression itself. It tests GNNs on
// propagated features; here they are tested on the features of the graph.
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
	return []condense.Method{newSNTK(), newSNTKX(), newGCGP()}
}

// Parameters holds the parameters of sntk and sntk-x.
type Parameters struct {
	// Filter is how often Â propagates the standardised features before the kernel is computed, from 0 to 20.
	Filter int `json:"filter"`
	structure
	Descent
}

// Descent holds the parameters of the regression and its gradient descent, which all methods share.
type Descent struct {
	// Ridge is the ridge penalty as a multiple of the mean diagonal of the condensed nodes' kernel matrix, above 0 and
	// at most 10⁶.
	Ridge float64 `json:"ridge"`
	// Epochs is the number of Adam steps, at least 1. FeatureRate is the learning rate for X′ and Y′, above 0.
	Epochs      int     `json:"epochs"`
	FeatureRate float64 `json:"lr_feat"`
	learn.Choice
	// Memory limits the memory that the kernels use.
	Memory rival.Memory `json:"memory"`
}

// sntk learns X′ and soft labels as the examples of a kernel ridge regression that predicts the training nodes. The
// kernel is the neural tangent kernel of a GNN of infinite width. Source: Wang et al., Fast graph condensation with
// structure-based neural tangent kernel (2024).
//
// A′ is fixed at the start. Its edges connect the pairs of condensed nodes with the closest initial features, which are
// random. There are as many edges as needed for the mean degree Degree.
type sntk struct {
	Parameters
	// Degree is the mean degree of A′, at least 0.
	Degree float64 `json:"degree"`
}

// sntkX learns X′ and soft labels as sntk does, without edges: A′ = I. Source: as sntk.
type sntkX struct{ Parameters }

// defaults returns the parameters of the authors' program for Cora.
func defaults() Parameters {
	return Parameters{
		Filter: 3, structure: structure{2, 2, Average}, Descent: descent(1),
	}
}

// descent returns the default parameters of gradient descent with a ridge.
func descent(ridge float64) Descent {
	return Descent{
		Ridge: ridge, Epochs: 200, FeatureRate: 0.01, Memory: rival.DefaultMemory,
		Choice: learn.Choice{JudgeEvery: 25, JudgeEpochs: 200},
	}
}

// newSNTK returns SNTK with default parameters. The degree of 4 in the authors' program counts each edge twice.
func newSNTK() sntk { return sntk{Parameters: defaults(), Degree: 2} }

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

// Condense learns X′ and soft labels for a fixed A′.
func (m sntk) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return m.learn(ctx, g, m, nodes, seed, m.regression(m.Degree))
}

// Condense implements condense.Method.
func (m sntkX) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return m.learn(ctx, g, m, nodes, seed, m.regression(0))
}

// check validates the parameters, g, nodes and the memory limit.
func (p Parameters) check(name string, g *graph.Graph, nodes int) error {
	err := rival.Check(g, nodes,
		parameter.Check(p.Hops == 1 || p.Hops == 2, "hops", p.Hops, "1 or 2"),
		parameter.Check(p.Layers >= 1 && p.Layers <= 10, "layers", p.Layers, "from 1 to 10"),
		parameter.Check(p.Filter >= 0 && p.Filter <= 20, "filter", p.Filter, "from 0 to 20"),
		parameter.Check(p.Scale == Average || p.Scale == Add, "scale", p.Scale, "average or add"),
		p.Descent.check(),
	)
	if err != nil {
		return err
	}
	d, n, train := float64(g.Features()), float64(nodes), float64(len(g.Split.Train))
	// Counted: the standardised features and the matrices for the kernel and its gradient. For each layer and propagation,
	// there are about 8 matrices in the forward pass and 16 in the backward pass.
	matrices := float64(24*p.Layers*p.Hops + 16)
	bytes := 4 * ((float64(g.Nodes())+float64(p.Filter+2)*train+8*n)*d + matrices*(train+n)*n)
	return p.Memory.Fits(regressed(name, g, nodes), bytes)
}

// check returns an error for each parameter that is out of range.
func (d Descent) check() error {
	return errors.Join(
		parameter.Check(d.Ridge > 0 && d.Ridge <= 1e6, "ridge", d.Ridge, "above 0 and at most 1e+06"),
		parameter.Check(d.Epochs >= 1, "epochs", d.Epochs, "at least 1"),
		parameter.Check(d.FeatureRate > 0, "lr feat", d.FeatureRate, "above 0"),
		d.Choice.Check(),
	)
}

// regressed describes the work of a method for memory errors.
func regressed(name string, g *graph.Graph, nodes int) string {
	return fmt.Sprintf("%s on %s training nodes with %s condensed nodes", name, digits.Group(len(g.Split.Train)),
		digits.Group(nodes))
}

// beginning returns the Learner for the graph of start.
type beginning func(ctx context.Context, start *learn.Start, random *rand.Rand) (*regression, error)

// learn condenses g by the regression that begin returns.
func (d Descent) learn(
	ctx context.Context, g *graph.Graph, method condense.Checker, nodes int, seed uint64, begin beginning,
) (*condense.Condensed, error) {
	plan := learn.Plan{Method: method, Nodes: nodes, Seed: seed, Epochs: d.Epochs, Choice: d.Choice}
	return learn.Run(ctx, g, plan, func(start *learn.Start) (learn.Learner, error) {
		return begin(ctx, start, rand.New(rand.NewPCG(seed, beginStream)))
	})
}

// beginStream is the random stream of the initial X′ and Y′.
const beginStream = 1<<40 + 2

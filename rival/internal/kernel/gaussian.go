package kernel

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// gcgp learns X′ and soft labels as the observations of a Gaussian process whose posterior mean predicts the training
// nodes. The covariance is the kernel of a network of infinite width on propagated features. A′ = I. Source: Wang and
// Li, Efficient graph condensation via Gaussian process (2025).
type gcgp struct {
	// Filter is how often Â propagates the features before the kernel is computed, from 0 to 20.
	Filter int `json:"filter"`
	// Layers is L, the number of layers of the kernel's network, from 1 to 10.
	Layers int `json:"layers"`
	Descent
}

// newGCGP returns gcgp with the parameters of the authors' program for Cora with 70 nodes (gcgp/config.txt, SGNK).
func newGCGP() gcgp { return gcgp{Filter: 4, Layers: 2, Descent: descent(0.5)} }

// Name returns "gcgp".
func (gcgp) Name() string { return "gcgp" }

// Check validates the parameters, g, nodes and the memory limit.
func (m gcgp) Check(g *graph.Graph, nodes int) error {
	err := rival.Check(g, nodes,
		parameter.Check(m.Filter >= 0 && m.Filter <= 20, "filter", m.Filter, "from 0 to 20"),
		parameter.Check(m.Layers >= 1 && m.Layers <= 10, "layers", m.Layers, "from 1 to 10"),
		m.Descent.check(),
	)
	if err != nil {
		return err
	}
	d, n, train := float64(g.Features()), float64(nodes), float64(len(g.Split.Train))
	// Each layer has about 8 matrices in the forward pass, and 16 in the backward pass.
	products := float64(24*m.Layers+16) * (train + n) * n
	return m.Memory.Fits(regressed(m.Name(), g, nodes),
		learn.EmbeddingBytes(len(g.Split.Train), g.Features(), m.Filter)+4*(8*n*d+products))
}

// Condense implements condense.Method.
func (m gcgp) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return m.learn(ctx, g, m, nodes, seed, m.regression)
}

func (m gcgp) regression(ctx context.Context, start *learn.Start, random *rand.Rand) (*regression, error) {
	r := m.draw(start, random)
	all, err := start.Embeddings(ctx, m.Filter, start.Graph.Split.Train)
	if err != nil {
		return nil, err
	}
	h := all[m.Filter]
	r.kernel = func(x *autodiff.Var) (cross, own *autodiff.Var) { return m.between(h, x) }
	return r, nil
}

// between returns the kernel between the rows of h and the rows of x, and the kernel among the rows of x. If Σ⁽⁰⁾ holds
// the inner products of rows, the kernel is
//
//	K = Σ_{l≤L} Σ⁽ˡ⁾,  Σ⁽ˡ⁺¹⁾_ij = (2/π)·arcsin(2Σ⁽ˡ⁾_ij / √((1 + 2Σ⁽ˡ⁾_ii)(1 + 2Σ⁽ˡ⁾_jj))).
//
// Σ⁽ˡ⁺¹⁾ is the expected product of two units erf(wᵀz) whose inputs z have the covariance Σ⁽ˡ⁾ (Williams 1997).
func (m gcgp) between(h *mat.Dense, x *autodiff.Var) (cross, own *autodiff.Var) {
	t := x.Tape()
	rows := t.Var(h)
	crossSigma, ownSigma := t.MatMulTB(rows, x), t.MatMulTB(x, x)
	left, right := t.RowSums(t.Mul(rows, rows)), t.RowSums(t.Mul(x, x)) // the diagonals of Σ
	cross, own = crossSigma, ownSigma
	for range m.Layers {
		a, b := narrowed(left), narrowed(right)
		crossSigma = arcsine(t.Mul(crossSigma, t.MatMulTB(a, b)))
		ownSigma = arcsine(t.Mul(ownSigma, t.MatMulTB(b, b)))
		left, right = arcsine(t.Mul(left, t.Mul(a, a))), arcsine(t.Mul(right, t.Mul(b, b)))
		cross, own = t.Add(cross, crossSigma), t.Add(own, ownSigma)
	}
	return cross, own
}

// narrowed returns √(2/(1+2s)) of each entry s of a column.
func narrowed(s *autodiff.Var) *autodiff.Var {
	t := s.Tape()
	return t.Power(t.Add(s, t.Var(learn.Filled(s.Value.Rows, 1, 0.5))), -0.5)
}

// arcsine returns (2/π)·arcsin(c), element by element. This is κ₀(c) − κ₀(−c), because κ₀(c) = ½ + arcsin(c)/π.
func arcsine(c *autodiff.Var) *autodiff.Var {
	t := c.Tape()
	return t.Sub(t.ArcCosine0(c), t.ArcCosine0(t.Scale(-1, c)))
}

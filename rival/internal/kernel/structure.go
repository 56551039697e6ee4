package kernel

import (
	"context"
	"math"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/ntk"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// structure is the structure-based neural tangent kernel (SNTK) of Wang et al. (2024, "Fast Graph Condensation with
// Structure-based Neural Tangent Kernel"): the kernel of a GNN of infinite width whose K propagations are each followed
// by L layers with ReLU.
//
// Let M be D̃⁻¹(A+I), or A+I, on each of the two graphs. Σ and Θ are initially the inner products XX′ᵀ. Each
// propagation computes
//
//	Σ ← MΣM′ᵀ,  Θ ← MΘM′ᵀ,
//
// and each layer after it, with c = Σ_ij/√(Σ_ii·Σ′_jj),
//
//	Θ ← Θ ⊙ κ₀(c) + Σ̂,  Σ ← Σ̂ = √(Σ_ii·Σ′_jj)·κ₁(c).
//
// κ₀ and κ₁ are the arc-cosine kernels of degree 0 and 1 (Cho and Saul 2009). κ₁(1) = 1, so layers preserve the
// diagonal of Σ. Θ is the kernel. For K = L = 1 it equals ntk.Kernel.
type structure struct {
	// Hops is K, the number of propagations of the kernel: 1 or 2.
	Hops int `json:"hops"`
	// Layers is L, the number of layers after each propagation, from 1 to 10.
	Layers int `json:"layers"`
	// Scale is how a propagation of the kernel combines a node with its neighbours: average, or add for their sum.
	Scale string `json:"scale"`
}

// Average and Add are the values of structure.Scale.
const (
	Average = "average"
	Add     = "add"
)

// side holds the real nodes for the kernel between real and condensed nodes.
type side struct {
	// features holds the rows of MX.
	features *mat.Dense
	// gather is M.
	gather *learn.Sparse
	// length[k] and inverse[k] are √Σ_ii after propagation k+1 and its inverse, as columns.
	length, inverse []*mat.Dense
}

// of returns the side of nodes with features x and adjacency matrix a. After the second propagation, the diagonal of Σ
// needs the products of all pairs of neighbours of a node, which takes deg²·d operations.
func (s structure) of(ctx context.Context, x *mat.Dense, a *mat.CSR) (*side, error) {
	nodes := memory.Range(0, a.Rows)
	_, place := learn.Near(a, nodes)
	m := learn.Between(s.operator(a), nodes, place)
	side := &side{features: new(mat.Dense), gather: &learn.Sparse{Matrix: m}}
	mat.MulSparse(side.features, m, x)
	norms := ntk.Norms(side.features)
	side.add(norms)
	if s.Hops == 1 {
		return side, nil
	}
	lengths, err := s.second(ctx, side.features, norms, m)
	side.add(lengths)
	return side, err
}

// operator returns M for an adjacency matrix.
func (s structure) operator(a *mat.CSR) graph.Operator {
	m := graph.Mean(a)
	if s.Scale == Add {
		for i := range m.Left {
			m.Left[i] = 1
		}
	}
	return m
}

// add appends the lengths after a propagation, and their inverses.
func (s *side) add(lengths []float32) {
	length, inverse := mat.NewDense(len(lengths), 1), mat.NewDense(len(lengths), 1)
	for i, v := range lengths {
		length.Data[i] = v
		if v > 0 {
			inverse.Data[i] = 1 / v
		}
	}
	s.length, s.inverse = append(s.length, length), append(s.inverse, inverse)
}

// second returns √Σ_ii after the second propagation, whose weights are m: Σ_ii = Σ_uv m_iu·m_iv·Σ_uv over the closed
// neighbourhood of i.
func (s structure) second(ctx context.Context, x *mat.Dense, norms []float32, m *mat.CSR) ([]float32, error) {
	lengths := make([]float32, m.Rows)
	err := parallel.ForContext(ctx, m.Rows, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			columns, weights := m.Indices[m.Indptr[i]:m.Indptr[i+1]], m.Data[m.Indptr[i]:m.Indptr[i+1]]
			sum := 0.0
			for a, u := range columns {
				if len(columns) > 1000 && ctx.Err() != nil { // a node with many neighbours takes a long time
					return
				}
				w := float64(weights[a]) * float64(norms[u])
				sum += w * w
				for b, v := range columns[:a] {
					if size := float64(norms[u]) * float64(norms[v]); size != 0 {
						cosine := s.cosine(x.Row(int(u)), x.Row(int(v)), size)
						sum += 2 * float64(weights[a]) * float64(weights[b]) * size * cosine
					}
				}
			}
			lengths[i] = float32(math.Sqrt(sum))
		}
	})
	return lengths, err
}

// cosine returns Σ_uv divided by size after the L layers. size is the product of the lengths of rows u and v.
func (s structure) cosine(u, v []float32, size float64) float64 {
	dot := 0.0
	for j, e := range u {
		dot += float64(e) * float64(v[j])
	}
	c := max(-1, min(1, dot/size))
	for range s.Layers {
		c = min(1, (math.Sqrt(1-c*c)+c*(math.Pi-math.Acos(c)))/math.Pi)
	}
	return c
}

// condensed is a condensed graph on a tape: features, and M′ as a dense matrix or nil for A′ = I.
type condensed struct {
	x, m *autodiff.Var
}

// between returns the kernel Θ between the nodes of side and the condensed nodes, and the kernel among the condensed
// nodes. Both are on the tape of c.
func (s structure) between(t *autodiff.Tape, side *side, c condensed) (cross, own *autodiff.Var) {
	x := c.x
	if c.m != nil {
		x = t.MatMul(c.m, c.x)
	}
	cross = t.MatMulTB(t.Var(side.features), x)
	own = t.MatMulTB(x, x)
	crossSigma, ownSigma := cross, own
	lengths := t.Power(floored(t, t.RowSums(t.Mul(x, x))), 0.5)
	for k := range s.Hops {
		if k > 0 {
			if c.m != nil {
				turn := func(v *autodiff.Var) *autodiff.Var { return t.MatMulTB(v, c.m) }
				cross, crossSigma = turn(cross), turn(crossSigma)
				own, ownSigma = t.MatMul(c.m, turn(own)), t.MatMul(c.m, turn(ownSigma))
				identity := t.Var(learn.Identity(own.Value.Rows))
				lengths = t.Power(floored(t, t.RowSums(t.Mul(ownSigma, identity))), 0.5)
			}
			cross, crossSigma = t.Linear(side.gather, cross), t.Linear(side.gather, crossSigma)
		}
		inverse := t.Power(lengths, -1)
		size := t.MatMulTB(t.Var(side.length[k]), lengths)
		shrink := t.MatMulTB(t.Var(side.inverse[k]), inverse)
		cross, crossSigma = s.layers(t, cross, crossSigma, size, shrink)
		own, ownSigma = s.layers(t, own, ownSigma, t.MatMulTB(lengths, lengths), t.MatMulTB(inverse, inverse))
	}
	return cross, own
}

// layers applies the L layers after a propagation. size is √(Σ_ii·Σ′_jj), and shrink is its inverse.
func (s structure) layers(t *autodiff.Tape, theta, sigma, size, shrink *autodiff.Var) (_, _ *autodiff.Var) {
	cosine := t.Mul(sigma, shrink)
	for range s.Layers {
		next := t.ArcCosine1(cosine)
		sigma = t.Mul(next, size)
		theta = t.Add(t.Mul(theta, t.ArcCosine0(cosine)), sigma)
		cosine = next
	}
	return theta, sigma
}

// floored returns x plus 10⁻²⁰, so that the square root is differentiable at 0.
func floored(t *autodiff.Tape, x *autodiff.Var) *autodiff.Var {
	return t.Add(x, t.Var(learn.Filled(x.Value.Rows, 1, 1e-20)))
}

package kernel

import (
	"context"
	"math"

	"github.com/graph-condensation/cgc/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/kernelridge"
	"github.com/graph-condensation/cgc/mat"
)

// Structure is the structure neural tangent kernel (SNTK) of Wang et al. (2023, "Fast Graph Condensation with
// Structure-based Neural Tangent Kernel"): the kernel of a GNN of infinite width whose K propagations are each followed
// by L layers with ReLU.
//
// With M = D̃⁻¹(A+I) on either side, Σ and Θ start as the inner products XX′ᵀ. Each propagation does
//
//	Σ ← MΣM′ᵀ,  Θ ← MΘM′ᵀ,
//
// and each layer after it, with c = Σ_ij/√(Σ_ii·Σ′_jj),
//
//	Θ ← Θ ⊙ κ₀(c) + Σ̂,  Σ ← Σ̂ = √(Σ_ii·Σ′_jj)·κ₁(c).
//
// κ₀ and κ₁ are the arc-cosine kernels of degree 0 and 1 (Cho and Saul 2009). κ₁(1) = 1, so layers keep the diagonal of
// Σ. Θ is the kernel. For K = L = 1 it is that of kernelridge.Wide.
type Structure struct {
	// Hops is K, 1 or 2. Layers is L, at least 1.
	Hops, Layers int
}

// Side is one side of the kernel between real nodes and condensed ones: the real nodes.
type Side struct {
	// features are the rows of MX for near, the nodes that one propagation less than Hops reaches.
	features *mat.Dense
	// gather is M from near to the nodes of the side; nil for one hop, where both are the same.
	gather *sparse
	// length[k] and inverse[k] are √Σ_ii and its inverse after propagation k+1, as columns.
	length, inverse []*mat.Dense
}

// Nodes returns the number of rows of the kernel.
func (s *Side) Nodes() int { return s.length[len(s.length)-1].Rows }

// reached returns the nodes of rows, and with two hops their neighbours too, ascending; and where each stands.
func (s Structure) reached(a *mat.CSR, rows []int32) (near, position []int32) {
	position = make([]int32, a.Rows)
	for _, v := range rows {
		position[v] = 1
		if s.Hops > 1 {
			for j := range a.Row(int(v)) {
				position[j] = 1
			}
		}
	}
	for v := range position {
		if position[v] == 0 {
			position[v] = -1
			continue
		}
		position[v] = int32(len(near))
		near = append(near, int32(v))
	}
	return near, position
}

// Of returns the side of the given nodes of g, in ascending order. Beside the features of the nodes within K−1 hops it
// computes the diagonal of Σ. After the second propagation that takes the products of all pairs of neighbours of a
// node: deg²·d operations.
func (s Structure) Of(ctx context.Context, g *graph.Graph, rows []int32) (*Side, error) {
	near, position := s.reached(g.Adj, rows)
	mean := graph.Mean(g.Adj)
	side := &Side{features: new(mat.Dense)}
	if err := mean.ApplyRows(ctx, side.features, g.X, near, nil); err != nil {
		return nil, err
	}
	norms := kernelridge.Norms(side.features)
	side.add(norms)
	if s.Hops == 1 {
		return side, nil
	}
	m := &mat.CSR{Rows: len(rows), Cols: len(near), Indptr: make([]int64, 1, len(rows)+1)}
	for _, v := range rows {
		self := position[v]
		add := func(column int32, weight float32) {
			m.Indices = append(m.Indices, column)
			m.Data = append(m.Data, weight*mean.Left[v])
		}
		waits := true
		for j, w := range g.Adj.Row(int(v)) {
			if waits && position[j] > self {
				add(self, 1)
				waits = false
			}
			add(position[j], w)
		}
		if waits {
			add(self, 1)
		}
		m.Indptr = append(m.Indptr, int64(len(m.Indices)))
	}
	side.gather = newSparse(m)
	lengths, err := s.second(ctx, side.features, norms, m)
	side.add(lengths)
	return side, err
}

// add adds the lengths of a propagation.
func (s *Side) add(lengths []float32) {
	length, inverse := mat.NewDense(len(lengths), 1), mat.NewDense(len(lengths), 1)
	for i, v := range lengths {
		length.Data[i] = v
		if v > 0 {
			inverse.Data[i] = 1 / v
		}
	}
	s.length, s.inverse = append(s.length, length), append(s.inverse, inverse)
}

// second returns √Σ_ii after the second propagation m: Σ_ii = Σ_uv m_iu·m_iv·Σ_uv over the closed neighbourhood of i.
func (s Structure) second(ctx context.Context, x *mat.Dense, norms []float32, m *mat.CSR) ([]float32, error) {
	lengths := make([]float32, m.Rows)
	err := parallel.ForContext(ctx, m.Rows, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			columns, weights := m.Indices[m.Indptr[i]:m.Indptr[i+1]], m.Data[m.Indptr[i]:m.Indptr[i+1]]
			sum := 0.0
			for a, u := range columns {
				if len(columns) > 1000 && ctx.Err() != nil { // all pairs of so many neighbours take long
					return
				}
				w := float64(weights[a]) * float64(norms[u])
				sum += w * w
				for b, v := range columns[:a] {
					size := float64(norms[u]) * float64(norms[v])
					if size == 0 {
						continue
					}
					dot := 0.0
					other := x.Row(int(v))
					for j, e := range x.Row(int(u)) {
						dot += float64(e) * float64(other[j])
					}
					c := max(-1, min(1, dot/size))
					for range s.Layers {
						c = (math.Sqrt(1-c*c) + c*(math.Pi-math.Acos(c))) / math.Pi
						c = min(1, c)
					}
					sum += 2 * float64(weights[a]) * float64(weights[b]) * size * c
				}
			}
			lengths[i] = float32(math.Sqrt(sum))
		}
	})
	return lengths, err
}

// Condensed is a condensed graph on a tape: features, and M′ as a dense matrix or nil for A′ = I.
type Condensed struct {
	X, M *autodiff.Var
}

// Between returns the kernel Θ between the nodes of a side and those of a condensed graph, and that of the condensed
// graph with itself. Both are on the tape of c.
func (s Structure) Between(t *autodiff.Tape, side *Side, c Condensed) (cross, own *autodiff.Var) {
	x := c.X
	if c.M != nil {
		x = t.MatMul(c.M, c.X)
	}
	cross = t.MatMulTB(t.Var(side.features), x)
	own = t.MatMulTB(x, x)
	crossSigma, ownSigma := cross, own
	lengths := t.Power(floored(t, t.RowSums(t.Mul(x, x))), 0.5)
	for k := range s.Hops {
		if k > 0 {
			if c.M != nil {
				turn := func(v *autodiff.Var) *autodiff.Var { return t.MatMulTB(v, c.M) }
				cross, crossSigma = turn(cross), turn(crossSigma)
				own, ownSigma = t.MatMul(c.M, turn(own)), t.MatMul(c.M, turn(ownSigma))
				identity := t.Var(identity(own.Value.Rows))
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

// layers does the L layers after a propagation. size and shrink are √(Σ_ii·Σ′_jj) and its inverse.
func (s Structure) layers(t *autodiff.Tape, theta, sigma, size, shrink *autodiff.Var) (_, _ *autodiff.Var) {
	cosine := t.Mul(sigma, shrink)
	for range s.Layers {
		next := t.ArcCosine1(cosine)
		sigma = t.Mul(next, size)
		theta = t.Add(t.Mul(theta, t.ArcCosine0(cosine)), sigma)
		cosine = next
	}
	return theta, sigma
}

// floored returns x plus a constant far below any squared length that counts, so that its root has a derivative.
func floored(t *autodiff.Tape, x *autodiff.Var) *autodiff.Var {
	least := mat.NewDense(x.Value.Rows, 1)
	for i := range least.Data {
		least.Data[i] = 1e-20
	}
	return t.Add(x, t.Var(least))
}

// identity returns I, n×n.
func identity(n int) *mat.Dense {
	m := mat.NewDense(n, n)
	for i := range n {
		m.Row(i)[i] = 1
	}
	return m
}

// sparse is a sparse matrix as a map on a tape.
type sparse struct {
	m *mat.CSR
	t *sparse
}

func newSparse(m *mat.CSR) *sparse {
	turned, _ := m.Transpose()
	s := &sparse{m: m, t: &sparse{m: turned}}
	s.t.t = s
	return s
}

// Apply sets dst to the product with x.
func (s *sparse) Apply(dst, x *mat.Dense) { mat.MulSparse(dst, s.m, x) }

// T returns the transpose.
func (s *sparse) T() autodiff.Linear { return s.t }

package gradient

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// plan measures how far A′ is from a sample of the original graph by optimal transport (Dong and Sawin, COPT:
// Coordinated optimal transport on graphs, NeurIPS 2020). A plan P, samples × N′, assigns the nodes of the sample to
// condensed nodes. It is learnt too. With M = L(A′) + ρI, K = (L + ρI)⁻¹ of the sample and L = I − D^-½AD^-½, the
// distance is
//
//	|N′·tr M⁻¹ − 2·tr (M^-½·QᵀKQ·M^-½)^½|.
//
// Q is |P| after five Sinkhorn steps. Each step divides the rows and then the columns by their sums.
type plan struct {
	weights, gradient *mat.Dense // P, and the gradient of the weighted distance
	inverse           *mat.Dense // K
	tape              *autodiff.Tape
	sign              mat.Dense // of P
	first             []int32   // zeros, which repeat a row
}

// ridge is ρ, which makes Laplacians invertible. sinkhorn is the number of Sinkhorn steps.
const (
	ridge    = 0.01
	sinkhorn = 5
)

// newPlan draws a plan for N′ nodes and a sample of g's nodes.
func newPlan(ctx context.Context, g *graph.Graph, sample, nodes int, src rand.Source) (*plan, error) {
	random := rand.New(src)
	chosen := neighbourhoods(g, sample, random)
	n := len(chosen)
	l := laplacian(normalise(autodiff.NewTape().Var(g.Induced(chosen).Adj.Dense())).Value)
	cholesky, err := l.Cholesky(ctx)
	if err != nil {
		return nil, fmt.Errorf("inverse of the Laplacian of %d nodes: %w", n, err)
	}
	inverse, err := cholesky.SolveDense(ctx, learn.Identity(n))
	if err != nil {
		return nil, err
	}
	p := &plan{
		weights: mat.NewDense(n, nodes), gradient: mat.NewDense(n, nodes), inverse: inverse, tape: autodiff.NewTape(),
		first: make([]int32, n),
	}
	for i := range p.weights.Data {
		p.weights.Data[i] = random.Float32()
	}
	return p, nil
}

// neighbourhoods returns random training nodes and their neighbourhoods, added hop by hop up to the given number.
func neighbourhoods(g *graph.Graph, sample int, random *rand.Rand) (nodes []int32) {
	chosen := map[int32]bool{}
	add := func(v int32) {
		if !chosen[v] && len(nodes) < sample {
			chosen[v] = true
			nodes = append(nodes, v)
		}
	}
	for _, at := range random.Perm(len(g.Split.Train)) {
		if len(nodes) >= sample {
			break
		}
		from := len(nodes)
		add(g.Split.Train[at])
		for i := from; i < len(nodes) && len(nodes) < sample; i++ {
			for u := range g.Adj.Row(int(nodes[i])) {
				add(int32(u))
			}
		}
	}
	slices.Sort(nodes)
	return nodes
}

// normalise returns D^-½AD^-½.
func normalise(a *autodiff.Var) *autodiff.Var {
	t, n := a.Tape(), a.Value.Rows
	degrees := t.Add(t.RowSums(a), t.Var(learn.Filled(n, 1, isolated)))
	root := t.RepeatColumn(t.Power(degrees, -0.5), n)
	return t.Mul(t.Mul(root, a), t.Transpose(root))
}

// isolated is added to degrees, so that no degree is 0.
const isolated = 1e-8

// laplacian returns I − s + ρI.
func laplacian(s *mat.Dense) *factor.Symmetric {
	l := factor.NewSymmetric(s.Rows)
	for i := range s.Rows {
		for j, w := range s.Row(i) {
			l.Row(i)[j] = -float64(w)
		}
		l.Row(i)[i] += 1 + ridge
	}
	return l
}

// distance returns the distance for M = L + ρI and its gradient with respect to M, and sets the gradient with respect
// to P, multiplied by weight. With S = M^-½, B = QᵀKQ and C = SBS, the gradients of tr C^½ are, as for the Bures
// distance,
//
//	∂/∂B = ½·S·C^-½·S,  ∂/∂M = −½·S·C^½·S,
//
// without differences of eigenvalues in a denominator, so they are finite even if eigenvalues repeat.
func (p *plan) distance(ctx context.Context, m *factor.Symmetric, weight float64) (
	loss float64, dm *mat.Dense, err error,
) {
	values, vectors, err := m.Eigen(ctx)
	if err != nil {
		return 0, nil, fmt.Errorf("spectrum of A′ of sgdd: %w", err)
	}
	n := float64(m.N)
	root := power(values, vectors, m.N, -0.5)
	t := p.tape
	t.Reset()
	vp := t.Var(p.weights)
	q := p.balanced(vp)
	b := t.MatMulTA(q, t.MatMul(t.Var(p.inverse), q))
	own, directions, err := factor.SymmetricPart(between(root, b.Value)).Eigen(ctx)
	if err != nil {
		return 0, nil, fmt.Errorf("transport to A′ of sgdd: %w", err)
	}
	own = own[:factor.Rank(own, len(own))] // the square root has no derivative at 0
	for _, v := range values {
		loss += n / v
	}
	for _, v := range own {
		loss -= 2 * math.Sqrt(v)
	}
	sign := float32(1)
	if loss < 0 {
		loss, sign = -loss, -1
	}
	dm = between(root, power(own, directions, m.N, 0.5))
	for i, v := range power(values, vectors, m.N, -2).Data {
		dm.Data[i] = sign * (dm.Data[i] - float32(n)*v)
	}
	db := between(root, power(own, directions, m.N, -0.5))
	for i, v := range db.Data {
		db.Data[i] = -sign * float32(weight) * v
	}
	copy(p.gradient.Data, t.Grad(learn.Along(b, db), vp)[0].Value.Data)
	return loss, dm, nil
}

// balanced returns Q.
func (p *plan) balanced(v *autodiff.Var) *autodiff.Var {
	t := p.tape
	p.sign.Reshape(p.weights.Dims())
	for i, w := range p.weights.Data {
		p.sign.Data[i] = float32(math.Copysign(1, float64(w)))
	}
	q := t.Mul(v, t.Var(&p.sign))
	for range sinkhorn {
		q = t.Mul(q, t.RepeatColumn(t.Power(t.RowSums(q), -1), q.Value.Cols))
		q = t.Mul(q, t.Rows(t.Power(t.ColumnSums(q), -1), p.first))
	}
	return q
}

// power returns Σ_k values_kᵉ·v_k·v_kᵀ for vectors v_k of length n, the rows of vectors.
func power(values, vectors []float64, n int, e float64) *mat.Dense {
	v, scaled, sum := factor.Rounded(vectors[:len(values)*n], n), mat.NewDense(len(values), n), mat.NewDense(n, n)
	for k, value := range values {
		s := float32(math.Pow(value, e))
		for j, x := range v.Row(k) {
			scaled.Row(k)[j] = s * x
		}
	}
	mat.MulTA(sum, v, scaled)
	return sum
}

// between returns s·b·s.
func between(s, b *mat.Dense) *mat.Dense {
	var left mat.Dense
	both := mat.NewDense(s.Dims())
	mat.Mul(&left, s, b)
	mat.Mul(both, &left, s)
	return both
}

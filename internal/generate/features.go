package generate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/reach"
	"github.com/graph-condensation/cgc/mat"
)

// Singular describes the singular systems. Each component of A′ has one system.
type Singular struct {
	// Components is the number of components with a singular system, and Nodes is the number of nodes in them.
	Components int `json:"components"`
	Nodes      int `json:"nodes"`
	// Rank is the sum of the ranks of these systems. If it is below Nodes, X′ is the solution of smallest norm.
	Rank int `json:"rank"`
	// Condition is the largest λ_max/λ_min of QᵀQ + αL′ over the nonzero eigenvalues, within a factor of two.
	Condition float64 `json:"condition"`
}

// Solve returns X′ = (QᵀQ + αL′)⁻¹QᵀH′ with Q = Â′ᴷ and L′ = D′ − A′: the minimiser of ‖QX′ − H′‖² + α tr(X′ᵀL′X′)
// (eq. 17, proposition 4).
//
// a is A′, n×n and symmetric, with all weights 1; h is H′, n×d. hops is K ≥ 0 and alpha is α ≥ 0.
//
// Each connected component of A′ has a separate system, which is solved in float64. A node without neighbours keeps its
// embedding. For α > 0 the system is positive definite: a vector with L′v = 0 is constant on each component, and Q,
// whose entries are not negative, does not map it to 0. With α = 0, Q may be singular. Then X′ is the minimiser of
// smallest norm, X′ = Q⁺H′. Singular values of Q below 3·10⁻⁵ of its Frobenius norm count as 0, because dividing by
// them would magnify the rounding errors of H′ in float32. For α > 0, this cutoff applies only if rounding makes the
// system singular.
//
// A component of m nodes costs m³/3 operations. The result is the same for any number of threads. It is an error if
// hops or alpha is negative, if alpha is not finite, or if h or X′ contains a number that is not finite in float32.
// Otherwise the only error is ctx.Err().
//
// Solve also describes the singular systems; nil means that there were none.
func Solve(ctx context.Context, a *mat.CSR, h *mat.Dense, hops int, alpha float64) (*mat.Dense, *Singular, error) {
	if hops < 0 {
		return nil, nil, fmt.Errorf("hops %d, must be at least 0", hops)
	}
	if !(alpha >= 0) || math.IsInf(alpha, 1) {
		return nil, nil, fmt.Errorf("alpha %v, must be a finite number of at least 0", alpha)
	}
	if a.Rows != h.Rows || a.Cols != h.Rows {
		panic(fmt.Sprintf("generate: a %d×%d adjacency for %d embeddings", a.Rows, a.Cols, h.Rows))
	}
	if err := checkFinite(ctx, "H′", h); err != nil {
		return nil, nil, err
	}
	x := h.Clone()
	var singular *Singular
	operator := graph.Symmetric(a)
	for _, nodes := range reach.Components(a) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if len(nodes) == 1 {
			continue
		}
		solution, direct, err := solve(ctx, x, h, operator, nodes, hops, alpha)
		if err != nil {
			return nil, nil, fmt.Errorf("component of node %d with %d nodes, alpha %v: %w",
				nodes[0], len(nodes), alpha, err)
		}
		if direct || solution.Rank == len(nodes) {
			continue
		}
		if singular == nil {
			singular = new(Singular)
		}
		singular.Components++
		singular.Nodes += len(nodes)
		singular.Rank += solution.Rank
		singular.Condition = max(singular.Condition, solution.Condition)
	}
	return x, singular, checkFinite(ctx, "X′", x)
}

// solve sets the rows of x for the nodes of one component. Its system is QᵀQ + αL′ = Q² + αL′, because Â′ is symmetric.
// Â′ is applied as a sparse matrix: for a component of m nodes, that takes 2K products with m columns. direct reports
// whether a Cholesky factor solved the system; found then has neither rank nor condition.
func solve(ctx context.Context, x, h *mat.Dense, operator graph.Operator, nodes []int32, hops int, alpha float64) (
	found factor.Solution, direct bool, err error,
) {
	m, d := len(nodes), h.Cols
	normal := local(operator, nodes)
	system, target := factor.NewSymmetric(m), memory.Make[float64](m*d)
	for i, v := range nodes {
		system.Data[i*m+i] = 1
		for j, value := range h.Row(int(v)) {
			target[i*d+j] = float64(value)
		}
	}
	for range 2 * hops {
		if system.Data, err = normal.times(ctx, system.Data, m); err != nil {
			return found, false, err
		}
	}
	for range hops {
		if target, err = normal.times(ctx, target, d); err != nil {
			return found, false, err
		}
	}
	for i, row := range normal {
		for _, j := range row.nodes {
			if int(j) != i {
				system.Data[i*m+int(j)] -= alpha
				system.Data[i*m+i] += alpha
			}
		}
	}
	found, direct, err = solution(ctx, system, target, d, alpha)
	if err != nil {
		return found, false, err
	}
	for i, v := range nodes {
		for j := range d {
			x.Row(int(v))[j] = float32(found.X[i*d+j])
		}
	}
	return found, direct, nil
}

// cut is the share of the trace of QᵀQ below which an eigenvalue counts as 0.
const cut = 1e-9

// solution returns system⁻¹·target or, if the system is singular, the least-squares solution of smallest norm. direct
// reports whether a Cholesky factor solved the system.
func solution(ctx context.Context, system *factor.Symmetric, target []float64, d int, alpha float64) (
	found factor.Solution, direct bool, err error,
) {
	if alpha > 0 {
		cholesky, err := system.Cholesky(ctx)
		if err == nil {
			found.X, err = cholesky.Solve(ctx, target, d)
			return found, true, err
		}
		if not := (factor.NotPositive{}); !errors.As(err, &not) {
			return found, false, err
		}
	}
	found, err = system.PseudoSolve(ctx, target, d, cut)
	return found, false, err
}

// component is Â′ of one component in float64: for each of its nodes, numbered from 0, the neighbours and itself.
type component []struct {
	nodes   []int32
	weights []float64
}

func local(operator graph.Operator, nodes []int32) component {
	position := make(map[int32]int32, len(nodes))
	for i, v := range nodes {
		position[v] = int32(i)
	}
	c := make(component, len(nodes))
	for i, v := range nodes {
		scale := float64(operator.Left[v])
		add := func(j int32) {
			c[i].nodes = append(c[i].nodes, position[j])
			c[i].weights = append(c[i].weights, scale*float64(operator.Right[j]))
		}
		add(v)
		for j := range operator.Adj.Row(int(v)) {
			add(int32(j))
		}
	}
	return c
}

func vector(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Inc: 1, Data: v} }

// times returns Â′·b for a row-major b that has a row for each node of c, and cols columns. The only error is
// ctx.Err().
func (c component) times(ctx context.Context, b []float64, cols int) ([]float64, error) {
	product := make([]float64, len(b))
	const chunk = 16
	err := parallel.ForContext(ctx, len(c), chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := vector(product[i*cols : (i+1)*cols])
			for e, j := range c[i].nodes {
				blas64.Axpy(c[i].weights[e], vector(b[int(j)*cols:(int(j)+1)*cols]), to)
			}
		}
	})
	return product, err
}

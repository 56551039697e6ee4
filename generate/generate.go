// Package generate builds the condensed graph on the condensed embeddings H′ (§3.5 of the paper): its adjacency A′ by similarity, and
// features X′ that propagation over A′ turns back into H′.
package generate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Adjacency returns A′, n×n, with A′_ij = 1 where cos(h_i, h_j) > T and i ≠ j (eq. 16), and the T that was used. h is n×d; a zero row is similar to nothing.
//
// T is the threshold, from 1 on without edges; or, where that would give more than n·degree/2 edges, the least similarity above it that does not. A degree of 0 sets no
// bound. Cosines are formed for a block of rows at a time; those above the threshold are kept.
func Adjacency(ctx context.Context, h *mat.Dense, threshold, degree float64) (a *mat.CSR, used float64, err error) {
	pairs, err := similar(ctx, unitRows(h), threshold)
	if err != nil {
		return nil, 0, err
	}
	pairs, used = strongest(pairs, threshold, h.Rows, degree)
	return joined(h.Rows, pairs, false), used, nil
}

// rowChunk is the number of rows that one task compares with all others.
const rowChunk = 64

// similar returns the pairs of rows of unit length with a cosine above threshold.
func similar(ctx context.Context, unit *mat.Dense, threshold float64) ([]pair, error) {
	n := unit.Rows
	found := make([][]pair, (n+rowChunk-1)/rowChunk)
	err := parallel.ForContext(ctx, n, rowChunk, func(lo, hi int) {
		m := n - lo // what stands before lo has been compared
		cosine := make([]float32, (hi-lo)*m)
		kernel.Gemm(cosine, m, unit.Data[lo*unit.Cols:], unit.Cols, false, unit.Data[lo*unit.Cols:], unit.Cols, true, hi-lo, m, unit.Cols, false)
		for i := lo; i < hi; i++ {
			row := cosine[(i-lo)*m : (i-lo+1)*m]
			for j := i + 1; j < n; j++ {
				if c := min(row[j-lo], 1); float64(c) > threshold { // rounding must not lift a cosine above 1
					found[lo/rowChunk] = append(found[lo/rowChunk], pair{int32(i), int32(j), float64(c)})
				}
			}
		}
	})
	return slices.Concat(found...), err
}

// unitRows returns the rows of h divided by their norms; a zero row stays zero.
func unitRows(h *mat.Dense) *mat.Dense {
	unit := h.Clone()
	parallel.For(h.Rows, rowChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			var square float64
			for _, v := range unit.Row(i) {
				square += float64(v) * float64(v)
			}
			if square > 0 {
				row := unit.Row(i)
				kernel.Scale(row, float32(1/math.Sqrt(square)), row)
			}
		}
	})
	return unit
}

// Features returns X′ = (QᵀQ + αL′)⁻¹QᵀH′ with Q = Σ_l w_l·Â′ˡ and L′ = D′ − A′, the minimiser of ‖QX′ − H′‖² + α tr(X′ᵀL′X′). The paper's Q = Â′ᴷ (eq. 17,
// proposition 4) has weights 0, …, 0, 1. a is n×n, its weights not negative; h is n×d. The weights w_0 … w_K are at least 0 and sum to 1, as H′ is the same
// mixture of hops of the original graph: then X′ stands for the original features. alpha is α ≥ 0.
//
// The system falls apart into one for each connected component of A′, solved by a Cholesky factorisation in float64. For α > 0 it is positive
// definite: a vector with L′v = 0 is constant on each component, and Q, without negative entries, does not take such a vector to 0. With α = 0, Q may be singular,
// which is an error. A node without neighbours keeps its embedding: there X′ = H′.
func Features(ctx context.Context, a *mat.CSR, h *mat.Dense, weights []float64, alpha float64) (*mat.Dense, error) {
	sum := 0.0
	for _, w := range weights {
		if !(w >= 0) {
			return nil, fmt.Errorf("generate: weight %v of a hop, want at least 0", w)
		}
		sum += w
	}
	if math.Abs(sum-1) > 1e-6 || !(alpha >= 0) || math.IsInf(alpha, 1) {
		return nil, fmt.Errorf("generate: weights of hops that sum to %v and alpha %v, want 1 and a finite number of at least 0", sum, alpha)
	}
	x := h.Clone()
	operator := graph.Symmetric(a)
	for _, nodes := range components(a) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(nodes) == 1 {
			continue
		}
		if err := solve(ctx, x, h, operator, nodes, weights, alpha); err != nil {
			return nil, fmt.Errorf("generate: component of node %d with %d nodes, alpha %v: %w", nodes[0], len(nodes), alpha, err)
		}
	}
	return x, nil
}

// components returns the connected components of a, each with its nodes ascending, by their smallest node.
func components(a *mat.CSR) (parts [][]int32) {
	seen := make([]bool, a.Rows)
	for v := range a.Rows {
		if seen[v] {
			continue
		}
		seen[v] = true
		queue := []int32{int32(v)}
		for at := 0; at < len(queue); at++ {
			for j := range a.Row(int(queue[at])) {
				if !seen[j] {
					seen[j] = true
					queue = append(queue, int32(j))
				}
			}
		}
		slices.Sort(queue)
		parts = append(parts, queue)
	}
	return parts
}

// solve sets the rows of x for the nodes of one component. Its system is QᵀQ + αL′ = Q² + αL′, for Â′ is symmetric, and Â′ is applied as a
// sparse matrix: 2K products of the component's edges with as many columns as it has nodes.
func solve(ctx context.Context, x, h *mat.Dense, operator graph.Operator, nodes []int32, weights []float64, alpha float64) error {
	m, d := len(nodes), h.Cols
	normal := local(operator, nodes)
	system, target := mat.NewSymmetric(m), make([]float64, m*d)
	for i, v := range nodes {
		system.Data[i*m+i] = 1
		for j, value := range h.Row(int(v)) {
			target[i*d+j] = float64(value)
		}
	}
	for range 2 {
		system.Data = normal.mix(weights, system.Data, m)
	}
	target = normal.mix(weights, target, d)
	for i, row := range normal {
		for e, j := range row.nodes {
			if int(j) != i {
				system.Data[i*m+int(j)] -= alpha * row.edges[e]
				system.Data[i*m+i] += alpha * row.edges[e]
			}
		}
	}
	factor, err := system.Cholesky(ctx)
	if err != nil {
		return err
	}
	solution, err := factor.Solve(ctx, target, d)
	if err != nil {
		return err
	}
	for i, v := range nodes {
		for j := range d {
			x.Row(int(v))[j] = float32(solution[i*d+j])
		}
	}
	return nil
}

// component is Â′ of one component in float64: for each of its nodes, numbered from 0, the neighbours and itself.
type component []struct {
	nodes   []int32
	edges   []float64 // A′
	weights []float64 // Â′
}

func local(operator graph.Operator, nodes []int32) component {
	position := make(map[int32]int32, len(nodes))
	for i, v := range nodes {
		position[v] = int32(i)
	}
	c := make(component, len(nodes))
	for i, v := range nodes {
		scale := float64(operator.Left[v])
		add := func(j int32, edge float64) {
			c[i].nodes = append(c[i].nodes, position[j])
			c[i].edges = append(c[i].edges, edge)
			c[i].weights = append(c[i].weights, scale*edge*float64(operator.Right[j]))
		}
		add(v, 1)
		for j, w := range operator.Adj.Row(int(v)) {
			add(int32(j), float64(w))
		}
	}
	return c
}

// mix returns Σ_l w_l·Â′ˡ·b by Horner's rule, for b as in times.
func (c component) mix(weights []float64, b []float64, cols int) []float64 {
	last := len(weights) - 1
	sum := make([]float64, len(b))
	blas64.Axpy(weights[last], vector(b), vector(sum))
	for l := last - 1; l >= 0; l-- {
		sum = c.times(sum, cols)
		if weights[l] > 0 {
			blas64.Axpy(weights[l], vector(b), vector(sum))
		}
	}
	return sum
}

func vector(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Inc: 1, Data: v} }

// times returns Â′·b for b of as many rows as c has nodes, and cols columns, row-major.
func (c component) times(b []float64, cols int) []float64 {
	product := make([]float64, len(b))
	const chunk = 16
	parallel.For(len(c), chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := vector(product[i*cols : (i+1)*cols])
			for e, j := range c[i].nodes {
				blas64.Axpy(c[i].weights[e], vector(b[int(j)*cols:(int(j)+1)*cols]), to)
			}
		}
	})
	return product
}

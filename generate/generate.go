// Package generate builds the condensed graph on the condensed embeddings H′ (§3.5 of the paper): its adjacency A′ by similarity, and
// features X′ that propagation over A′ turns back into H′.
package generate

import (
	"context"
	"fmt"
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/mat"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Adjacency returns A′, n×n, with A′_ij = 1 where cos(h_i, h_j) > threshold and i ≠ j (eq. 16). h is n×d; a zero row is similar to nothing.
// A threshold of 1 or more gives no edges. The cosines are formed a block of rows at a time and never kept.
func Adjacency(ctx context.Context, h *mat.Dense, threshold float64) (*mat.CSR, error) {
	n := h.Rows
	unit := h.Clone()
	const chunk = 64
	parallel.For(n, chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			var square float64
			for _, v := range unit.Row(i) {
				square += float64(v) * float64(v)
			}
			if square == 0 {
				continue
			}
			scale := float32(1 / math.Sqrt(square))
			for j := range unit.Row(i) {
				unit.Row(i)[j] *= scale
			}
		}
	})
	neighbours := make([][]int32, n)
	err := parallel.ForContext(ctx, n, chunk, func(lo, hi int) {
		cosine := make([]float32, (hi-lo)*n)
		kernel.Gemm(cosine, n, unit.Data[lo*h.Cols:], h.Cols, false, unit.Data, h.Cols, true, hi-lo, n, h.Cols, false)
		for i := lo; i < hi; i++ {
			for j, c := range cosine[(i-lo)*n : (i-lo+1)*n] {
				if j != i && math.Min(float64(c), 1) > threshold { // rounding must not lift a cosine above 1
					neighbours[i] = append(neighbours[i], int32(j))
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	a := &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)}
	for i, list := range neighbours {
		a.Indices = append(a.Indices, list...)
		a.Indptr[i+1] = int64(len(a.Indices))
	}
	return a, nil
}

// Features returns X′ = (QᵀQ + αL′)⁻¹QᵀH′ with Q = Â′ᴷ and L′ = D′ − A′, the minimiser of ‖Â′ᴷX′ − H′‖² + α tr(X′ᵀL′X′) (eq. 17,
// proposition 4). a is n×n, h n×d; hops is K ≥ 0 and alpha α ≥ 0.
//
// The system falls apart into one for each connected component of A′, solved by a Cholesky factorisation in float64. For α > 0 it is positive
// definite: a vector with L′v = 0 is constant on each component, and Â′ᴷ does not take such a vector to 0. With α = 0, Q may be singular,
// which is an error. A node without neighbours keeps its embedding: there X′ = H′.
func Features(ctx context.Context, a *mat.CSR, h *mat.Dense, hops int, alpha float64) (*mat.Dense, error) {
	if hops < 0 || !(alpha >= 0) || math.IsInf(alpha, 1) {
		return nil, fmt.Errorf("generate: hops %d and alpha %v, want both finite and at least 0", hops, alpha)
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
		if err := solve(x, h, operator, nodes, hops, alpha); err != nil {
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

// solve sets the rows of x for the nodes of one component.
func solve(x, h *mat.Dense, operator graph.Operator, nodes []int32, hops int, alpha float64) error {
	m, d := len(nodes), h.Cols
	position := make(map[int32]int, m)
	for i, v := range nodes {
		position[v] = i
	}
	normal, laplacian := gonum.NewDense(m, m, nil), gonum.NewDense(m, m, nil) // Â′ and L′ of the component
	for i, v := range nodes {
		scale := float64(operator.Left[v])
		normal.Set(i, i, scale*scale)
		degree := 0.0
		for j, w := range operator.Adj.Row(int(v)) {
			p := position[int32(j)]
			normal.Set(i, p, scale*float64(w)*float64(operator.Right[j]))
			laplacian.Set(i, p, -float64(w))
			degree += float64(w)
		}
		laplacian.Set(i, i, degree)
	}
	target := gonum.NewDense(m, d, nil)
	for i, v := range nodes {
		for j, value := range h.Row(int(v)) {
			target.Set(i, j, float64(value))
		}
	}
	power, right := gonum.NewDense(m, m, nil), target // Q, and QᵀH′: Q is symmetric
	for i := range m {
		power.Set(i, i, 1)
	}
	for range hops {
		var nextPower, nextRight gonum.Dense
		nextPower.Mul(normal, power)
		nextRight.Mul(normal, right)
		power, right = &nextPower, &nextRight
	}
	system := mat.NewSymmetric(m)
	square := gonum.NewDense(m, m, system.Data)
	square.Mul(power.T(), power)
	laplacian.Scale(alpha, laplacian)
	square.Add(square, laplacian)
	factor, err := system.Cholesky()
	if err != nil {
		return err
	}
	solution := factor.Solve(right.RawMatrix().Data, d)
	for i, v := range nodes {
		for j := range d {
			x.Row(int(v))[j] = float32(solution[i*d+j])
		}
	}
	return nil
}

// Package propagate smooths node features along the edges: the first step of the method (§3.1 of the paper).
//
// Only what later steps read is computed. They read the embeddings of the training nodes, and row i of H⁽ˡ⁾ needs the rows of H⁽ˡ⁻¹⁾
// for i and its neighbours, so H⁽ˡ⁾ is computed for the nodes within K−l hops of the training nodes and for no others.
package propagate

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Method says how one hop makes H⁽ˡ⁾ from H⁽ˡ⁻¹⁾. H⁽⁰⁾ = X for each.
type Method string

const (
	// SGC is H⁽ˡ⁾ = ÂH⁽ˡ⁻¹⁾, Â = D̃^-½(A+I)D̃^-½ (Wu et al. 2019; eq. 12 of the paper).
	SGC Method = "sgc"
	// PPR is H⁽ˡ⁾ = (1−β)ÂH⁽ˡ⁻¹⁾ + βX: personalised PageRank by power iteration (Gasteiger et al. 2019, eq. 5).
	PPR Method = "ppr"
	// SAGE is H⁽ˡ⁾ = D̃⁻¹(A+I)H⁽ˡ⁻¹⁾: the mean over the neighbours and the node itself (Hamilton et al. 2017).
	SAGE Method = "sage"
)

// Methods lists the methods, the default first.
var Methods = []Method{SGC, PPR, SAGE}

// Propagation holds the parameters of this step.
type Propagation struct {
	// Method is one of Methods.
	Method Method
	// Hops is K ≥ 0, the number of hops; 0 leaves the features as they are.
	Hops int
	// Teleport is β in (0, 1], the share of the node's own features in each hop of PPR; other methods ignore it.
	Teleport float64
}

// Embeddings returns H⁽⁰⁾ … H⁽ᴷ⁾, each restricted to the given rows (nodes of the graph) in the given order: K+1 matrices of
// len(rows)×d. a is n×n as in graph.Graph.Adj; x is n×d, dense or sparse, and a sparse one is never written out whole.
// The cost is O(d · edges within K hops of the rows). It stops with ctx's error when ctx is done.
func (p Propagation) Embeddings(ctx context.Context, a *mat.CSR, x mat.Matrix, rows []int32) ([]*mat.Dense, error) {
	operator, err := p.operator(a)
	if err != nil {
		return nil, err
	}
	h := make([]*mat.Dense, p.Hops+1)
	h[0] = new(mat.Dense)
	mat.Rows(h[0], x, rows)
	need := reach(a, rows, p.Hops)
	from, position := x, []int32(nil) // H⁽ˡ⁻¹⁾, and where each node's row stands in it (nil: at its own index)
	for l := 1; l <= p.Hops; l++ {
		to := new(mat.Dense)
		if err := operator.ApplyRows(ctx, to, from, need[l], position); err != nil {
			return nil, err
		}
		if p.Method == PPR {
			p.teleport(to, x, need[l])
		}
		if position == nil {
			position = make([]int32, a.Rows)
		}
		for r, v := range need[l] {
			position[v] = int32(r)
		}
		at := make([]int32, len(rows))
		for i, v := range rows {
			at[i] = position[v]
		}
		h[l] = new(mat.Dense)
		mat.Rows(h[l], to, at)
		from = to
	}
	return h, ctx.Err()
}

func (p Propagation) operator(a *mat.CSR) (graph.Operator, error) {
	if p.Hops < 0 {
		return graph.Operator{}, fmt.Errorf("propagate: hops %d, want at least 0", p.Hops)
	}
	switch p.Method {
	case SGC:
		return graph.Symmetric(a), nil
	case PPR:
		if !(p.Teleport > 0 && p.Teleport <= 1) {
			return graph.Operator{}, fmt.Errorf("propagate: teleport %v, want above 0 and at most 1", p.Teleport)
		}
		return graph.Symmetric(a), nil
	case SAGE:
		return graph.Mean(a), nil
	}
	return graph.Operator{}, fmt.Errorf("propagate: method %q, want one of %v", p.Method, Methods)
}

// reach returns, for each l from 0 to hops, the nodes within hops−l hops of rows, ascending. Entry 0 is not filled in:
// all of X is at hand.
func reach(a *mat.CSR, rows []int32, hops int) [][]int32 {
	need := make([][]int32, hops+1)
	inside := make([]bool, a.Rows)
	for _, v := range rows {
		inside[v] = true
	}
	list := func() (nodes []int32) {
		for v, in := range inside {
			if in {
				nodes = append(nodes, int32(v))
			}
		}
		return nodes
	}
	for l := hops; l >= 1; l-- {
		need[l] = list()
		if l == 1 {
			break
		}
		for _, v := range need[l] {
			for _, j := range a.Indices[a.Indptr[v]:a.Indptr[v+1]] {
				inside[j] = true
			}
		}
	}
	return need
}

// teleport sets row r of h to (1−β)·h + β·x, x being the features of node rows[r].
func (p Propagation) teleport(h *mat.Dense, x mat.Matrix, rows []int32) {
	beta := float32(p.Teleport)
	const chunk = 256
	parallel.For(len(rows), chunk, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row := h.Row(r)
			for j := range row {
				row[j] *= 1 - beta
			}
			switch x := x.(type) {
			case *mat.Dense:
				for j, v := range x.Row(int(rows[r])) {
					row[j] += float32(beta * v)
				}
			case *mat.CSR:
				for j, v := range x.Row(int(rows[r])) {
					row[j] += float32(beta * v)
				}
			}
		}
	})
}

package gnn

import (
	"context"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Attention defines the attention weights of node i over its neighbours j and i itself: the softmax over j of
// LeakyReLU(Own_i + Other_j).
type Attention struct {
	// Own and Other are the two parts of the scores, n×h for h heads.
	Own, Other *autodiff.Var
	// Slope is the slope of the LeakyReLU below 0.
	Slope float32
	// Dropout is the probability of dropping a weight in training. It is ignored if Config.Dropout is 0.
	Dropout float64
}

// Attend returns Σ_j α_ij·x_j for each node i, head by head:
//
//	α_ij = w_ij·exp(s_ij) / Σ_j w_ij·exp(s_ij),  s_ij = LeakyReLU(Own_i + Other_j).
//
// The columns of x, n×(h·f), are h groups of f, one group for each head. If A is a variable, w = A + I, so that the
// result has a gradient in A. If A is a constant, w is 1 for i and its neighbours: edge weights are not used.
func (in *Input) Attend(a Attention, x *autodiff.Var) *autodiff.Var {
	if heads := a.Own.Value.Cols; heads == 0 || x.Value.Cols%heads != 0 {
		panic(fmt.Sprintf("gnn: %d columns for %d heads", x.Value.Cols, heads))
	}
	if in.adj.variable != nil {
		return in.attendDense(a, x)
	}
	switch {
	case in.adj.arrivals != nil:
		return x.Tape().Var(in.adj.attendNew(a.Own.Value, a.Other.Value, a.Slope, x.Value))
	case in.adj.summary != nil:
		in.adj.summary.Means = append(in.adj.summary.Means, a.Other.Value, x.Value)
	}
	if in.adj.edges == nil {
		edges, err := loopedEdges(in.adj.ctx, in.adj.constant, in.nodes)
		if err != nil {
			return x // in.Err returns the error
		}
		in.adj.edges = edges
	}
	t, edges := x.Tape(), in.adj.edges
	own, other := t.EdgeRows(edges, a.Own, false), t.EdgeRows(edges, a.Other, true)
	weights := t.EdgeSoftmax(edges, t.LeakyReLU(a.Slope, t.Add(own, other)))
	return t.Attend(edges, in.dropWeights(a, weights), x, false)
}

func (in *Input) dropWeights(a Attention, weights *autodiff.Var) *autodiff.Var {
	if in.src == nil || in.config.Dropout == 0 {
		return weights
	}
	return weights.Tape().Dropout(weights, a.Dropout, in.src)
}

// attendDense implements Attend for a variable A, with n×n matrices.
func (in *Input) attendDense(a Attention, x *autodiff.Var) *autodiff.Var {
	t := x.Tape()
	heads := a.Own.Value.Cols
	width := x.Value.Cols / heads
	var all *autodiff.Var
	for h := range heads {
		own, other := t.Columns(a.Own, h, h+1), t.Columns(a.Other, h, h+1)
		scores := t.LeakyReLU(a.Slope, t.Add(t.RepeatColumn(own, in.nodes), beside(other)))
		weighted := t.Mul(in.adj.loops(), in.exponentials(scores))
		weights := t.Mul(weighted, t.RepeatColumn(t.Power(t.RowSums(weighted), -1), in.nodes))
		part := t.MatMul(in.dropWeights(a, weights), t.Columns(x, h*width, (h+1)*width))
		if all == nil {
			all = part
		} else {
			all = t.Concat(all, part)
		}
	}
	return all
}

// exponentials returns exp(min(s_ij − m_i, 40)), where m_i is the largest score among i and its neighbours. Only scores
// of nodes that are not neighbours can exceed the bound of 40. Their exponentials are multiplied by 0, so they must be
// finite.
func (in *Input) exponentials(scores *autodiff.Var) *autodiff.Var {
	t, n := scores.Tape(), in.nodes
	const bound = 40
	largest := mat.NewDense(n, 1)
	loops := in.adj.loops().Value
	for i := range n {
		m := scores.Value.Row(i)[i]
		for j, s := range scores.Value.Row(i) {
			if loops.Row(i)[j] != 0 {
				m = max(m, s)
			}
		}
		largest.Data[i] = m
	}
	// m_i is a constant: it cancels out in α and contributes nothing to the gradient.
	shifted := t.Sub(scores, t.RepeatColumn(t.Var(largest), n))
	most := t.Var(filled(n, n, bound))
	return t.Exp(t.Sub(most, t.ReLU(t.Sub(most, shifted))))
}

// headDots returns the inner products of each row of x with u, head by head: n×h for x n×(h·f) and u (h·f)×1.
func (in *Input) headDots(x, u *autodiff.Var, heads int) *autodiff.Var {
	t, key := x.Tape(), [2]int{u.Value.Rows, heads}
	owner := in.owners[key]
	if owner == nil {
		if heads < 1 || u.Value.Rows%heads != 0 {
			panic(fmt.Sprintf("gnn: %d columns for %d heads", u.Value.Rows, heads))
		}
		owner = headOwners(u.Value.Rows, heads)
		in.owners[key] = owner
	}
	return t.MatMul(x, t.Mul(t.RepeatColumn(u, heads), t.Var(owner)))
}

// headOwners returns the width×heads matrix with a 1 at (unit, head) if the unit belongs to the head, and 0 elsewhere.
func headOwners(width, heads int) *mat.Dense {
	m := mat.NewDense(width, heads)
	for i := range width {
		m.Row(i)[i*heads/width] = 1
	}
	return m
}

// loopedEdges returns the edges of A + I for n nodes; a nil A has no edges. If ctx is done, it returns ctx's error.
func loopedEdges(ctx context.Context, a *mat.CSR, n int) (*autodiff.Edges, error) {
	p := &mat.CSR{Rows: n, Cols: n, Indptr: memory.Make[int64](n + 1)}
	entries := n
	if a != nil {
		entries += a.NNZ()
	}
	p.Indices = memory.Make[int32](entries)[:0]
	for i := range n {
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var row []int32
		if a != nil {
			row = a.Indices[a.Indptr[i]:a.Indptr[i+1]]
		}
		at, _ := slices.BinarySearch(row, int32(i))
		p.Indices = append(append(p.Indices, row[:at]...), int32(i))
		p.Indices = append(p.Indices, row[at:]...)
		p.Indptr[i+1] = int64(len(p.Indices))
	}
	return autodiff.NewEdges(ctx, p)
}

package graph

import (
	"context"
	"slices"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Causally returns g as its nodes saw it when they arrived, if they are numbered in the order of their arrival: each
// node has only the neighbours that arrived before it. Each row of a normalised operator over the new adjacency has the
// degrees at arrival,
//
//	P_ij = A_ij / √(D̃_ii D̃_jj) for j < i, with D̃_ii = 1 + Σ_{j<i} A_ij,
//
// so the embeddings of a node depend on no later node or edge, and later nodes do not change them. Causally copies the
// lower triangle of the adjacency and shares everything else with g, which must be valid. A causal g is returned as it
// is. The error is ctx.Err(), or says that memory is insufficient.
func (g *Graph) Causally(ctx context.Context) (_ *Graph, err error) {
	defer memory.Recover(&err)
	if g.Causal {
		return g, nil
	}
	a := g.Adj
	below := &mat.CSR{Rows: a.Rows, Cols: a.Cols, Indptr: memory.Make[int64](a.Rows + 1)}
	err = parallel.ForContext(ctx, a.Rows, nodeChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			earlier, _ := slices.BinarySearch(a.Indices[a.Indptr[i]:a.Indptr[i+1]], int32(i))
			below.Indptr[i+1] = int64(earlier)
		}
	})
	if err != nil {
		return nil, err
	}
	for i := range a.Rows {
		below.Indptr[i+1] += below.Indptr[i]
	}
	entries := int(below.Indptr[a.Rows])
	below.Indices = memory.Make[int32](entries)
	if a.Data != nil {
		below.Data = memory.Make[float32](entries)
	}
	err = parallel.ForContext(ctx, a.Rows, nodeChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at, end, from := below.Indptr[i], below.Indptr[i+1], a.Indptr[i]
			copy(below.Indices[at:end], a.Indices[from:])
			if a.Data != nil {
				copy(below.Data[at:end], a.Data[from:])
			}
		}
	})
	if err != nil {
		return nil, err
	}
	to := *g
	to.Adj, to.Causal = below, true
	if g.untouched() {
		to.mark() // the lower triangle of a valid adjacency is valid
	}
	return &to, nil
}

// later returns the first entry of a on or above the diagonal. The rows of a ascend.
func later(a *mat.CSR) (i, j int, found bool) {
	for i := range a.Rows {
		if end := a.Indptr[i+1]; end > a.Indptr[i] && int(a.Indices[end-1]) >= i {
			return i, int(a.Indices[end-1]), true
		}
	}
	return 0, 0, false
}

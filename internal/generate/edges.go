package generate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Aggregated returns an A′ built from the graph's own edges instead of similarities. It is not in the paper. With the
// aggregation matrix P̂ (members, N′×N) and the adjacency of the graph (N×N, as in graph.Graph.Adj),
//
//	M = P̂ÂP̂ᵀ,  A′_ij = M_ij / √(M_ii·M_jj) for i ≠ j,  A′_ii = 0.
//
// M_ij is the mean entry of Â between the nodes of two groups. The division scales the diagonal of M to 1, the weight
// of the self-loop that a GNN adds to A′. Â′ therefore weighs the neighbours of a node against the node itself as M
// does, whatever the sizes of the groups. If each group is one node, A′ is the weighted subgraph of these nodes.
//
// Edges with a weight of at most 0.01, a hundredth of a self-loop, are dropped. Of the other edges, at most the
// n·degree/2 heaviest are kept, where n = N′. Edges that tie with the heaviest dropped edge are dropped too. A degree
// of 0 means no limit. used is the weight that all kept edges exceed.
//
// It makes one pass over the edges of the members. It needs memory for one number per node, and for the pairs of groups
// with edges between them. The result is the same for any number of threads. It is an error if degree is negative or
// not finite; otherwise the only error is ctx.Err().
func Aggregated(ctx context.Context, members, adjacency *mat.CSR, degree float64) (a *mat.CSR, used float64,
	err error) {
	const faint = 0.01
	if err := checkDegree(degree); err != nil {
		return nil, 0, err
	}
	if members.Cols != adjacency.Rows {
		panic(fmt.Sprintf("generate: groups of %d nodes in a graph of %d", members.Cols, adjacency.Rows))
	}
	pairs, own, err := ties(ctx, members, graph.Symmetric(adjacency))
	if err != nil {
		return nil, 0, err
	}
	kept := pairs[:0]
	for _, p := range pairs {
		// The root is positive: P̂ has no negative entries, and Â has self-loops. Rounding to float32 makes equal weights
		// compare equal, whatever the order in which they were summed.
		p.weight = float64(float32(p.weight / math.Sqrt(own[p.i]*own[p.j])))
		if p.weight > faint {
			kept = append(kept, p)
		}
	}
	kept, used = strongest(kept, faint, members.Rows, degree)
	return joined(members.Rows, kept, true), used, nil
}

// groupChunk is the number of rows of M that one task computes.
const groupChunk = 4

// ties returns the nonzero entries of M = P̂ÂP̂ᵀ above the diagonal as pairs, ordered by row, and the diagonal of M.
func ties(ctx context.Context, members *mat.CSR, operator graph.Operator) (pairs []pair, own []float64, err error) {
	n, adjacency := members.Rows, operator.Adj
	groups, _, err := members.Transpose(ctx)
	if err != nil {
		return nil, nil, err
	}
	own = make([]float64, n)
	found := make([][]pair, (n+groupChunk-1)/groupChunk)
	err = parallel.ForContext(ctx, n, groupChunk, func(lo, hi int) {
		row := make([]float64, n)
		add := func(v int32, factor float64) { // adds factor times column v of diag(Right)·P̂ᵀ
			scale := float64(operator.Right[v])
			for j, w := range groups.Row(int(v)) {
				row[j] += factor * (float64(w) * scale)
			}
		}
		for i := lo; i < hi; i++ {
			clear(row)
			for u, p := range members.Row(i) {
				left := float64(p) * float64(operator.Left[u])
				add(int32(u), left*float64(operator.Self))
				first, end := adjacency.Indptr[u], adjacency.Indptr[u+1]
				for e, v := range adjacency.Indices[first:end] {
					edge := left
					if adjacency.Data != nil {
						edge *= float64(adjacency.Data[first+int64(e)])
					}
					add(v, edge)
				}
			}
			own[i] = row[i]
			for j := i + 1; j < n; j++ {
				if row[j] > 0 {
					found[lo/groupChunk] = append(found[lo/groupChunk], pair{int32(i), int32(j), row[j]})
				}
			}
		}
	})
	return slices.Concat(found...), own, err
}

// pair is an edge of two nodes i < j, and its weight or a substitute for it.
type pair struct {
	i, j   int32
	weight float64
}

// strongest returns the pairs with the largest weights, at most n·degree/2 of them, and the weight that they all
// exceed: bound, or the largest weight of a dropped pair. A degree of 0 keeps all pairs. strongest may reorder pairs.
func strongest(pairs []pair, bound float64, n int, degree float64) ([]pair, float64) {
	most := int(degree * float64(n) / 2)
	if degree <= 0 || len(pairs) <= most {
		return pairs, bound
	}
	byWeight := func(p, q pair) int { return cmp.Compare(q.weight, p.weight) }
	slices.SortFunc(pairs, byWeight)
	bound = pairs[most].weight // all pairs of this weight are dropped
	first, _ := slices.BinarySearchFunc(pairs, pairs[most], byWeight)
	return pairs[:first], bound
}

// joined returns the symmetric n×n matrix of the given pairs. Unless weighted is true, all entries are 1.
func joined(n int, pairs []pair, weighted bool) *mat.CSR {
	var e graph.Edges
	for _, p := range pairs {
		e.From, e.To = append(e.From, p.i), append(e.To, p.j)
		if weighted {
			e.Weight = append(e.Weight, float32(p.weight))
		}
	}
	a, _, _ := graph.Adjacency(context.Background(), n, e) // no error: nodes are in range, and weights above 0
	return a
}

package bonsai

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// forest is the growing condensed graph. Its nodes are training nodes.
type forest struct {
	adj   *mat.CSR // of the training nodes
	order []int32  // all training nodes, in the order of step 2

	exemplars []int32 // the centres of the trees, in order; set by grow
	kept      []bool  // the nodes of the forest
	late      []bool  // the nodes added by match; all their edges count
}

// row returns the neighbours of training node v.
func (f *forest) row(v int32) []int32 { return f.adj.Indices[f.adj.Indptr[v]:f.adj.Indptr[v+1]] }

// grow adds nodes with their neighbours, in the order, while the forest has at most limit nodes. It skips a node whose
// tree does not fit, and ends when it has skipped more than mostSkips nodes.
func (f *forest) grow(limit int) {
	const mostSkips = 100
	f.kept, f.late = make([]bool, f.adj.Rows), make([]bool, f.adj.Rows)
	nodes, skips := 0, 0
	for _, v := range f.order {
		ego := append([]int32{v}, f.row(v)...)
		ego = slices.DeleteFunc(ego, func(u int32) bool { return f.kept[u] })
		if nodes+len(ego) > limit {
			if skips++; skips > mostSkips {
				return
			}
			continue
		}
		f.exemplars = append(f.exemplars, v)
		nodes += len(ego)
		for _, u := range ego {
			f.kept[u] = true
		}
	}
}

// add adds to e the edge of node u that the adjacency stores at index at.
func (f *forest) add(e *graph.Edges, u int32, at int64) {
	e.From, e.To = append(e.From, u), append(e.To, f.adj.Indices[at])
	if f.adj.Data != nil {
		e.Weight = append(e.Weight, f.adj.Data[at])
	}
}

// edges returns the edges of the trees: the edges of each exemplar and the edges between its neighbours.
func (f *forest) edges() (e graph.Edges) {
	of := make([]int32, f.adj.Rows) // of[u] is 1 + the last exemplar with u as a neighbour
	for _, v := range f.exemplars {
		for _, u := range f.row(v) {
			of[u] = v + 1
		}
		for at := f.adj.Indptr[v]; at < f.adj.Indptr[v+1]; at++ {
			f.add(&e, v, at)
			u := f.adj.Indices[at]
			for other := f.adj.Indptr[u]; other < f.adj.Indptr[u+1]; other++ {
				if w := f.adj.Indices[other]; w > u && of[w] == v+1 {
					f.add(&e, u, other)
				}
			}
		}
	}
	return e
}

// prune keeps the nodes with the highest PageRank. Ties go to the first node in the order.
func (f *forest) prune(ctx context.Context, nodes int) error {
	rank, err := f.pageRank(ctx)
	if err != nil {
		return err
	}
	var ranked []int32
	for _, v := range f.order {
		if f.kept[v] {
			ranked = append(ranked, v)
		}
	}
	slices.SortStableFunc(ranked, func(u, v int32) int { return cmp.Compare(rank[v], rank[u]) })
	for _, v := range ranked[min(nodes, len(ranked)):] {
		f.kept[v] = false
	}
	return nil
}

// pageRank returns the PageRank π of each node of the forest, and 0 for other nodes:
//
//	π = α(πD⁻¹A + δp) + (1 − α)p,
//
// where p is uniform over the exemplars, and δ is the sum of π over nodes without edges. α, the number of iterations
// and the tolerance are the defaults of NetworkX, which the authors use.
func (f *forest) pageRank(ctx context.Context) ([]float64, error) {
	const alpha, iterations, tolerance = 0.85, 100, 1e-6
	n := f.adj.Rows
	adj, _, err := graph.Adjacency(ctx, n, f.edges())
	if err != nil {
		return nil, err
	}
	restart, rank, next := make([]float64, n), make([]float64, n), make([]float64, n)
	degree := make([]float64, n)
	count := 0
	for v, is := range f.kept {
		for _, w := range adj.Row(v) {
			degree[v] += float64(w)
		}
		if is {
			count++
		}
	}
	for v, is := range f.kept {
		if is {
			rank[v] = 1 / float64(count)
		}
	}
	for _, v := range f.exemplars {
		restart[v] = 1 / float64(len(f.exemplars))
	}
	for range iterations {
		clear(next)
		var dangling float64
		for v, r := range rank {
			if degree[v] == 0 {
				dangling += r
				continue
			}
			for u, w := range adj.Row(v) {
				next[u] += alpha * r * float64(w) / degree[v]
			}
		}
		var change float64
		for v := range next {
			next[v] += (alpha*dangling + 1 - alpha) * restart[v]
			change += math.Abs(next[v] - rank[v])
		}
		rank, next = next, rank
		if change < tolerance*float64(count) {
			break
		}
	}
	return rank, ctx.Err()
}

// match gives each class its budget. Nodes leave from the end of the order, and enter from its beginning.
func (f *forest) match(y []int32, budget []int) {
	missing := slices.Clone(budget)
	for v, is := range f.kept {
		if is {
			missing[y[v]]--
		}
	}
	for _, v := range slices.Backward(f.order) {
		if f.kept[v] && missing[y[v]] < 0 {
			f.kept[v] = false
			missing[y[v]]++
		}
	}
	for _, v := range f.order {
		if !f.kept[v] && missing[y[v]] > 0 {
			f.kept[v], f.late[v] = true, true
			missing[y[v]]--
		}
	}
}

// graph returns the nodes of the forest, ascending, and its adjacency.
func (f *forest) graph(ctx context.Context) ([]int32, *mat.CSR, error) {
	var nodes []int32
	at := make([]int32, f.adj.Rows)
	for v, is := range f.kept {
		if is {
			at[v] = int32(len(nodes))
			nodes = append(nodes, int32(v))
		}
	}
	all := f.edges()
	for _, v := range nodes {
		if !f.late[v] {
			continue
		}
		for e := f.adj.Indptr[v]; e < f.adj.Indptr[v+1]; e++ {
			f.add(&all, v, e)
		}
	}
	var own graph.Edges
	for e, u := range all.From {
		if v := all.To[e]; f.kept[u] && f.kept[v] {
			own.From, own.To = append(own.From, at[u]), append(own.To, at[v])
			if all.Weight != nil {
				own.Weight = append(own.Weight, all.Weight[e])
			}
		}
	}
	adj, _, err := graph.Adjacency(ctx, len(nodes), own)
	return nodes, adj, err
}

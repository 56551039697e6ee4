package graph

import "github.com/graph-condensation/cgc/mat"

// Induced returns the subgraph of the given nodes, ascending and without repeats, and the edges between them. Node i of the result is
// nodes[i]; the split keeps what is left of each part. Adjacency, features and labels are copies.
func (g *Graph) Induced(nodes []int32) *Graph {
	position := make([]int32, g.Nodes())
	for i := range position {
		position[i] = -1
	}
	for i, v := range nodes {
		position[v] = int32(i)
	}
	adj := &mat.CSR{Rows: len(nodes), Cols: len(nodes), Indptr: make([]int64, len(nodes)+1)}
	if g.Adj.Data != nil {
		adj.Data = []float32{}
	}
	for i, v := range nodes {
		for e := g.Adj.Indptr[v]; e < g.Adj.Indptr[v+1]; e++ {
			if p := position[g.Adj.Indices[e]]; p >= 0 { // ascending nodes keep their columns ascending
				adj.Indices = append(adj.Indices, p)
				if adj.Data != nil {
					adj.Data = append(adj.Data, g.Adj.Data[e])
				}
			}
		}
		adj.Indptr[i+1] = int64(len(adj.Indices))
	}
	keep := func(part []int32) (kept []int32) {
		for _, v := range part {
			if p := position[v]; p >= 0 {
				kept = append(kept, p)
			}
		}
		return kept
	}
	return &Graph{
		Name: g.Name, Adj: adj, X: selectRows(g.X, nodes), Y: g.Labels(nodes), Classes: g.Classes,
		Split: Split{Train: keep(g.Split.Train), Val: keep(g.Split.Val), Test: keep(g.Split.Test)},
	}
}

// selectRows returns the given rows of x in a matrix of the same kind.
func selectRows(x mat.Matrix, rows []int32) mat.Matrix {
	s, ok := x.(*mat.CSR)
	if !ok {
		var d mat.Dense
		mat.Rows(&d, x, rows)
		return &d
	}
	out := &mat.CSR{Rows: len(rows), Cols: s.Cols, Indptr: make([]int64, len(rows)+1)}
	for i, v := range rows {
		lo, hi := s.Indptr[v], s.Indptr[v+1]
		out.Indices = append(out.Indices, s.Indices[lo:hi]...)
		if s.Data != nil {
			out.Data = append(out.Data, s.Data[lo:hi]...)
		}
		out.Indptr[i+1] = int64(len(out.Indices))
	}
	if s.Data != nil && out.Data == nil {
		out.Data = []float32{} // nil would mean ones
	}
	return out
}

// TrainingGraph returns the graph that condensation may see in the inductive setting: the subgraph induced by the training nodes.
func (g *Graph) TrainingGraph() *Graph { return g.Induced(g.Split.Train) }

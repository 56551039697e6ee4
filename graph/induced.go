package graph

import (
	"context"
	"slices"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Induced returns the subgraph of the given nodes, ascending and without repeats, and the edges between them. Node i of
// the result is nodes[i]. The split keeps those nodes of each part that are in the subgraph. Adjacency and labels are
// copies, and so are features of type *mat.Dense or *mat.CSR. Features of another type are not copied, but read from g.
func (g *Graph) Induced(nodes []int32) *Graph {
	position := memory.Filled[int32](g.Nodes(), -1)
	for i, v := range nodes {
		position[v] = int32(i)
	}
	adj := &mat.CSR{Rows: len(nodes), Cols: len(nodes), Indptr: make([]int64, len(nodes)+1)}
	if g.Adj.Data != nil {
		adj.Data = []float32{}
	}
	for i, v := range nodes {
		for e := g.Adj.Indptr[v]; e < g.Adj.Indptr[v+1]; e++ {
			if p := position[g.Adj.Indices[e]]; p >= 0 { // columns stay ascending because nodes are
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
	var ids []string
	if g.IDs != nil {
		ids = make([]string, len(nodes))
		for i, v := range nodes {
			ids[i] = g.IDs[v]
		}
	}
	return &Graph{
		Name: g.Name, Adj: adj, X: selectRows(g.X, nodes), Y: g.Labels(nodes), Classes: g.Classes,
		IDs: ids, ClassNames: g.ClassNames, FeatureNames: g.FeatureNames, Causal: g.Causal,
		Split: Split{Train: keep(g.Split.Train), Val: keep(g.Split.Val), Test: keep(g.Split.Test)},
	}
}

// TrainingGraph returns the graph that condensation may see in the inductive setting: the subgraph that the training
// nodes induce.
func (g *Graph) TrainingGraph() *Graph { return g.Induced(g.Split.Train) }

// WithoutTest returns g without its test split and without the labels of the test nodes: what a hyperparameter search
// may see. The result shares features and edges with g, which must be valid.
func (g *Graph) WithoutTest() *Graph {
	blind := *g
	blind.Y = slices.Clone(g.Y)
	for _, i := range g.Split.Test {
		blind.Y[i] = Unlabelled
	}
	blind.Split.Test = nil
	_ = blind.Seal(context.Background()) // validates once for all users; there is no error, since g is valid
	return &blind
}

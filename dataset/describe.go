package dataset

import (
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Facts describes a graph. Its JSON keys are stable.
type Facts struct {
	Name     string `json:"graph"`
	Nodes    int    `json:"nodes"`
	Edges    int    `json:"edges"` // undirected
	Features int    `json:"features"`
	Classes  int    `json:"classes"`
	Train    int    `json:"train"`
	Val      int    `json:"val"`
	Test     int    `json:"test"`
	// Unlabelled is the number of nodes without a class.
	Unlabelled int `json:"unlabelled"`
	// Isolated is the number of nodes without an edge.
	Isolated int `json:"isolated"`
	// Degrees counts neighbours, whatever the weights.
	Degrees struct {
		Min    int `json:"min"`
		Median int `json:"median"` // the upper one of an even number of nodes
		Max    int `json:"max"`
	} `json:"degrees"`
	Weighted bool `json:"weighted"`
	// Sparse says whether features are stored sparse.
	Sparse bool `json:"sparse"`
	// Density is the share of features that are not zero, in [0, 1].
	Density float64 `json:"density"`
	// Homophily is the share of edges between nodes of one class, among edges whose ends both have one; 0 if there are none.
	Homophily float64 `json:"homophily"`
	// PerClass counts the nodes of each class.
	PerClass []ClassFacts `json:"per_class"`
}

// ClassFacts counts the nodes of a class, in all and in each part of the split.
type ClassFacts struct {
	All   int `json:"all"`
	Train int `json:"train"`
	Val   int `json:"val"`
	Test  int `json:"test"`
}

// Describe returns the facts about g, which must be valid. It is one pass over the graph.
func Describe(g *graph.Graph) Facts {
	f := Facts{
		Name: g.Name, Nodes: g.Nodes(), Edges: g.Edges(), Features: g.Features(), Classes: g.Classes,
		Train: len(g.Split.Train), Val: len(g.Split.Val), Test: len(g.Split.Test),
		Weighted: g.Adj.Data != nil, PerClass: make([]ClassFacts, g.Classes),
	}
	degree := make([]int, g.Nodes())
	for i := range degree {
		degree[i] = int(g.Adj.Indptr[i+1] - g.Adj.Indptr[i])
		if degree[i] == 0 {
			f.Isolated++
		}
		if g.Y[i] == graph.Unlabelled {
			f.Unlabelled++
		} else {
			f.PerClass[g.Y[i]].All++
		}
	}
	if slices.Sort(degree); len(degree) > 0 {
		f.Degrees.Min, f.Degrees.Median, f.Degrees.Max = degree[0], degree[len(degree)/2], degree[len(degree)-1]
	}
	for _, part := range []struct {
		nodes []int32
		count func(*ClassFacts) *int
	}{
		{g.Split.Train, func(c *ClassFacts) *int { return &c.Train }},
		{g.Split.Val, func(c *ClassFacts) *int { return &c.Val }},
		{g.Split.Test, func(c *ClassFacts) *int { return &c.Test }},
	} {
		for c, n := range g.Counts(part.nodes) {
			*part.count(&f.PerClass[c]) = n
		}
	}
	same, both := 0, 0
	for i, y := range g.Y {
		for _, j := range g.Adj.Indices[g.Adj.Indptr[i]:g.Adj.Indptr[i+1]] {
			if y != graph.Unlabelled && g.Y[j] != graph.Unlabelled {
				both++
				if y == g.Y[j] {
					same++
				}
			}
		}
	}
	f.Homophily = float64(same) / float64(max(1, both))
	filled := 0
	switch x := g.X.(type) {
	case *mat.Dense:
		filled = nonZero(x.Data)
	case *mat.CSR:
		f.Sparse = true
		if filled = x.NNZ(); x.Data != nil {
			filled = nonZero(x.Data)
		}
	}
	f.Density = float64(filled) / (float64(max(1, f.Nodes)) * float64(max(1, f.Features)))
	return f
}

func nonZero(data []float32) (count int) {
	for _, v := range data {
		if v != 0 {
			count++
		}
	}
	return count
}

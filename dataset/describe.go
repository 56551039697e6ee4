package dataset

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
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
		Median int `json:"median"` // the upper median, if the number of nodes is even
		Max    int `json:"max"`
	} `json:"degrees"`
	Weighted bool `json:"weighted"`
	// Sparse says whether features are stored sparse.
	Sparse bool `json:"sparse"`
	// Density is the share of features that are not zero, in [0, 1].
	Density float64 `json:"density"`
	// Homophily is the share of edges that join nodes of one class, among edges whose ends both have a class; 0 if there
	// are none.
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

// Describe returns the facts about g, which must be valid. It is one pass over the graph. An error is that of reading
// features of a type of their own.
func Describe(g *graph.Graph) (Facts, error) {
	f := Facts{
		Name: g.Name, Nodes: g.Nodes(), Edges: g.Edges(), Features: g.Features(), Classes: g.Classes,
		Train: len(g.Split.Train), Val: len(g.Split.Val), Test: len(g.Split.Test),
		Weighted: g.Adj.Data != nil, PerClass: make([]ClassFacts, g.Classes),
	}
	for i := range f.Nodes {
		if g.Adj.Indptr[i+1] == g.Adj.Indptr[i] {
			f.Isolated++
		}
		if g.Y[i] == graph.Unlabelled {
			f.Unlabelled++
		} else {
			f.PerClass[g.Y[i]].All++
		}
	}
	f.Degrees.Min, f.Degrees.Median, f.Degrees.Max = degrees(g.Adj)
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
	f.Homophily = homophily(g)
	filled := 0
	switch x := g.X.(type) {
	case *mat.Dense:
		filled = nonZero(x.Data)
	case *mat.CSR:
		f.Sparse = true
		if filled = x.NNZ(); x.Data != nil {
			filled = nonZero(x.Data)
		}
	default:
		for block, err := range mat.Blocks(x) {
			if err != nil {
				return f, fmt.Errorf("dataset: reading the features of %s: %w", g.Name, err)
			}
			filled += nonZero(block.Data)
		}
	}
	f.Density = float64(filled) / (float64(max(1, f.Nodes)) * float64(max(1, f.Features)))
	return f, nil
}

// degrees returns the smallest, the upper median and the largest number of entries of a row; zeros if there is no row.
func degrees(a *mat.CSR) (least, median, most int) {
	if a.Rows == 0 {
		return 0, 0, 0
	}
	least = math.MaxInt
	for i := range a.Rows {
		degree := int(a.Indptr[i+1] - a.Indptr[i])
		least, most = min(least, degree), max(most, degree)
	}
	count := make([]int, most+1)
	for i := range a.Rows {
		count[a.Indptr[i+1]-a.Indptr[i]]++
	}
	for below := 0; below+count[median] <= a.Rows/2; median++ {
		below += count[median]
	}
	return least, median, most
}

// homophily returns the share of edges that join nodes of one class, among edges whose ends both have a class. It is 0
// if there are no such edges.
func homophily(g *graph.Graph) float64 {
	const chunk = 1 << 12
	var same, both atomic.Int64
	parallel.For(g.Nodes(), chunk, func(lo, hi int) {
		equal, labelled := 0, 0
		for i := lo; i < hi; i++ {
			y := g.Y[i]
			if y == graph.Unlabelled {
				continue
			}
			for _, j := range g.Adj.Indices[g.Adj.Indptr[i]:g.Adj.Indptr[i+1]] {
				if z := g.Y[j]; z == y {
					equal++
					labelled++
				} else if z != graph.Unlabelled {
					labelled++
				}
			}
		}
		same.Add(int64(equal))
		both.Add(int64(labelled))
	})
	return float64(same.Load()) / float64(max(1, both.Load()))
}

// nonZero returns the number of elements that are not 0.
func nonZero(data []float32) int {
	const chunk = 1 << 20
	var count atomic.Int64
	parallel.For(len(data), chunk, func(lo, hi int) {
		n := 0
		for _, v := range data[lo:hi] {
			if v != 0 {
				n++
			}
		}
		count.Add(int64(n))
	})
	return int(count.Load())
}

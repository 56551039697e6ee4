// Package graph holds a labelled graph, its split, and the normalisations of its adjacency.
package graph

import (
	"errors"
	"fmt"

	"github.com/graph-condensation/cgc/mat"
)

// Graph is a graph with features, labels and a split: 𝒯 = {A, X}, y of the paper (§2.1).
type Graph struct {
	// Name says which graph this is, for messages and results.
	Name string
	// Adj is A: n×n, symmetric, without self-loops, columns ascending. Data nil means unweighted.
	Adj *mat.CSR
	// X holds the features of each node, n×d, dense or sparse.
	X mat.Matrix
	// Y is the class of each node in [0, Classes), or Unlabelled.
	Y []int32
	// Classes is c, the number of classes. A class may have no node.
	Classes int
	// Split says which nodes train, validate and test.
	Split Split
}

// Unlabelled is the label of a node whose class is not known.
const Unlabelled = -1

// Split lists the nodes of each part, ascending and without repeats. The parts do not overlap, and need not cover the graph.
type Split struct {
	Train, Val, Test []int32
}

// Nodes returns the number of nodes N.
func (g *Graph) Nodes() int { return g.Adj.Rows }

// Edges returns the number of undirected edges.
func (g *Graph) Edges() int { return g.Adj.NNZ() / 2 }

// Features returns the number of features d.
func (g *Graph) Features() int {
	_, d := g.X.Dims()
	return d
}

// Labels returns the labels of the given nodes, in their order.
func (g *Graph) Labels(nodes []int32) []int32 {
	y := make([]int32, len(nodes))
	for i, v := range nodes {
		y[i] = g.Y[v]
	}
	return y
}

// Counts returns how many of the given nodes each class has.
func (g *Graph) Counts(nodes []int32) []int {
	count := make([]int, g.Classes)
	for _, v := range nodes {
		if c := g.Y[v]; c >= 0 {
			count[c]++
		}
	}
	return count
}

// Validate returns every reason why g is not a graph as its fields' comments promise, joined, each with the place, the
// value and the bound; nil if there is none. Its cost is one pass over the data.
func (g *Graph) Validate() error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf("graph: "+format, args...)) }
	n := g.Adj.Rows
	if g.Adj.Cols != n {
		add("adjacency is %d×%d, want it square", n, g.Adj.Cols)
		return errors.Join(errs...)
	}
	if err := g.Adj.Validate(); err != nil {
		return fmt.Errorf("graph: adjacency: %w", err)
	}
	if i, j, why := asymmetry(g.Adj); why != "" {
		add("adjacency entry (%d, %d) %s", i, j, why)
	}
	if i, j, found := mat.FirstNotFinite(g.Adj); found {
		add("weight of edge (%d, %d) is not a finite number", i, j)
	}
	for e, w := range g.Adj.Data {
		if w <= 0 {
			add("weight %v of an edge to node %d, want it positive", w, g.Adj.Indices[e])
			break
		}
	}
	if rows, _ := g.X.Dims(); rows != n {
		add("features have %d rows for %d nodes", rows, n)
	} else if i, j, found := mat.FirstNotFinite(g.X); found {
		add("feature %d of node %d is not a finite number", j, i)
	}
	if g.Features() == 0 {
		add("there are no features (0 columns), want at least 1")
	}
	if len(g.Y) != n {
		add("%d labels for %d nodes", len(g.Y), n)
		return errors.Join(errs...)
	}
	for i, y := range g.Y {
		if y != Unlabelled && (y < 0 || int(y) >= g.Classes) {
			add("label %d of node %d, want 0 to %d", y, i, g.Classes-1)
			break
		}
	}
	errs = append(errs, g.Split.validate(g)...)
	return errors.Join(errs...)
}

func (s Split) validate(g *Graph) (errs []error) {
	names := []string{"", "train", "val", "test"}
	part := make([]byte, g.Nodes()) // of each node, as a place in names
	for k, nodes := range [][]int32{nil, s.Train, s.Val, s.Test} {
		last := int32(-1)
		for _, v := range nodes {
			var why string
			switch {
			case v < 0 || int(v) >= len(part):
				why = fmt.Sprintf("want 0 to %d", len(part)-1)
			case v <= last:
				why = "nodes must ascend without repeats"
			case part[v] != 0:
				why = "it is in " + names[part[v]] + " too"
			case g.Y[v] == Unlabelled:
				why = "it has no label"
			}
			if why != "" {
				errs = append(errs, fmt.Errorf("graph: node %d of split %s: %s", v, names[k], why))
				break
			}
			part[v], last = byte(k), v
		}
	}
	return errs
}

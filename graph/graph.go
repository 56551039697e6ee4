// Package graph defines a labelled Graph with a split, which a Builder makes, and the normalisations of its adjacency.
package graph

import (
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/mat"
)

// Graph is a graph with features, labels and a split: 𝒯 = {A, X}, y of the paper (§2.1).
//
// A Graph may be built field by field. Validate reports whether the fields are as documented below. Functions that
// condense, train, predict, measure or write check a graph once with Check. Other functions, and the methods of Graph,
// trust it.
type Graph struct {
	// Name identifies the graph in messages and results.
	Name string
	// Adj is A: n×n, symmetric (but see Causal), without self-loops, columns ascending. Data nil means unweighted.
	Adj *mat.CSR
	// X holds the features of each node, n×d. *mat.Dense and *mat.CSR are used in place; any other type is read in blocks.
	X mat.Matrix
	// Y is the class of each node in [0, Classes), or Unlabelled.
	Y []int32
	// Classes is c, the number of classes, at most MaxClasses. A class may be empty.
	Classes int
	// IDs holds the name of each node in its file. Nil means that nodes are numbered. No result depends on it.
	IDs []string
	// ClassNames holds the name of each class, Classes of them. Nil means that classes are numbered. No result depends on
	// it.
	ClassNames []string
	// FeatureNames holds the name of each feature. Nil means that features have no names. No result depends on it.
	FeatureNames []string
	// Numbers holds the number that each node had before other nodes were left out of the graph. Nil means that none were.
	// No result depends on it.
	Numbers []int32
	// Split lists the nodes for training, validation and testing.
	Split Split
	// Causal says that nodes are numbered in the order in which they arrived, and that row i of Adj lists only those
	// neighbours of node i that arrived before it. Adj is then strictly lower triangular. See Causally.
	Causal bool
	// Mapped says that Adj and X, a *mat.Dense or *mat.CSR, are in a file that is mapped into memory. The system may drop
	// their pages, so a memory limit need not count them. It is a hint; no result depends on it.
	Mapped bool

	sealed seal // what Seal found valid; nil if it was not called
}

// Unlabelled is the label of a node whose class is not known.
const Unlabelled = -1

// Split lists the nodes of each part, ascending and without repeats. The parts do not overlap, and need not cover the
// graph.
type Split struct {
	Train, Val, Test []int32
}

// NeedVal returns an error that says what to do if g has no validation nodes.
func (g *Graph) NeedVal() error { return g.need("validation", "val", g.Split.Val) }

// NeedTest is NeedVal for test nodes.
func (g *Graph) NeedTest() error { return g.need("test", "test", g.Split.Test) }

func (g *Graph) need(nodes, mark string, part []int32) error {
	if len(part) > 0 {
		return nil
	}
	from := "training nodes"
	if spare := g.unassigned(); spare > 0 {
		from = fmt.Sprintf("%d labelled nodes that are in no part", spare)
	}
	return fmt.Errorf("graph %s has no %s nodes (0), must have at least 1: mark some of its %s as %s in its split",
		g.Name, nodes, from, mark)
}

// unassigned returns the number of labelled nodes in no part of the split.
func (g *Graph) unassigned() int {
	labelled := 0
	for _, c := range g.Y {
		if c != Unlabelled {
			labelled++
		}
	}
	for _, part := range [][]int32{g.Split.Train, g.Split.Val, g.Split.Test} {
		for _, v := range part {
			if g.Y[v] != Unlabelled {
				labelled--
			}
		}
	}
	return labelled
}

// Nodes returns the number of nodes N.
func (g *Graph) Nodes() int { return g.Adj.Rows }

// Edges returns the number of undirected edges.
func (g *Graph) Edges() int {
	if g.Causal {
		return g.Adj.NNZ()
	}
	return g.Adj.NNZ() / 2
}

// Features returns the number of features d.
func (g *Graph) Features() int {
	_, d := g.X.Dims()
	return d
}

// TrainClasses returns the number of classes with training nodes.
func (g *Graph) TrainClasses() int {
	return len(slices.DeleteFunc(g.Counts(g.Split.Train), func(n int) bool { return n == 0 }))
}

// Labels returns the labels of the given nodes, in their order.
func (g *Graph) Labels(nodes []int32) []int32 {
	y := make([]int32, len(nodes))
	for i, v := range nodes {
		y[i] = g.Y[v]
	}
	return y
}

// Counts returns how many of the given nodes each class has. Nodes without a label are not counted.
func (g *Graph) Counts(nodes []int32) []int {
	count := make([]int, g.Classes)
	for _, v := range nodes {
		if c := g.Y[v]; c >= 0 {
			count[c]++
		}
	}
	return count
}

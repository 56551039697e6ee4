package cgc

import (
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
)

// Condensed is a condensed graph 𝒮 = {A′, X′} with labels y′, and where it came from. Its nodes are ordered by class.
type Condensed struct {
	// X is X′, N′×d: for the graphless methods the condensed embeddings H′ themselves.
	X *mat.Dense
	// Adj is A′, N′×N′, symmetric and without self-loops; nil for the graphless methods, where A′ is the identity.
	Adj *mat.CSR
	// Y is the class of each condensed node.
	Y []int32
	// Soft is a distribution over the classes for each condensed node, N′×Classes, with rows that sum to 1: what a GNN learns in place of Y. nil without Config.SoftLabels.
	Soft *mat.Dense
	// Classes is the number of classes of the graph, of which some may be without nodes here.
	Classes int
	// Members is the aggregation matrix P̂, N′×N: row j holds the nodes of the graph that condensed node j stands for, and their weights, which
	// sum to 1. A node sampled by augmentation may be in several rows. With Config.PseudoLabels, nodes that do not train are among them.
	Members *mat.CSR
	// Scaling is what Config.Standardize did to the features; nil if it was off. A model that is trained on X expects features scaled so.
	Scaling *graph.Scaling

	// Graph is the name of the graph.
	Graph string
	// Config is the configuration that made it.
	Config Config
	// Budget is the number of condensed nodes of each class.
	Budget []int
	// Seconds says how long each step took.
	Seconds Seconds
	// Threshold is the T at which A′ was cut: Config.Threshold, or what Config.Degree raised it to; 0 for the graphless methods. Of RealEdges, the weight above which edges were kept.
	Threshold float64
	// Assessed is what the linear classifier found.
	Assessed Assessed
	// Partitions is the account of each class's partition.
	Partitions []partition.Stats
}

// Assessed is what the linear classifier found of the training nodes' embeddings.
type Assessed struct {
	// Accuracy is the share of the training nodes whose class it finds from H⁽ᴷ⁾, in percent. Near 100, it interpolates: confidence then
	// tells embeddings apart but little.
	Accuracy float64 `json:"accuracy"`
	// Rank is the rank of the mean embeddings; below both their numbers of rows and columns, the classifier is the smallest of many.
	Rank int `json:"rank"`
	// Error is 1 − F1 of each class.
	Error []float64 `json:"error"`
	// Augmented is the number of embeddings that augmentation added.
	Augmented int `json:"augmented"`
	// PseudoLabelled is the number of nodes without a training label that took part.
	PseudoLabelled int `json:"pseudo_labelled,omitempty"`
}

// Nodes returns N′.
func (c *Condensed) Nodes() int { return len(c.Y) }

// Edges returns the number of undirected edges of A′; 0 for the graphless methods.
func (c *Condensed) Edges() int {
	if c.Adj == nil {
		return 0
	}
	return c.Adj.NNZ() / 2
}

// Operator returns Â′, the propagation of a GNN over the condensed graph; the identity for the graphless methods.
func (c *Condensed) Operator() graph.Operator {
	a := c.Adj
	if a == nil {
		a = &mat.CSR{Rows: c.Nodes(), Cols: c.Nodes(), Indptr: make([]int64, c.Nodes()+1)}
	}
	return graph.Symmetric(a)
}

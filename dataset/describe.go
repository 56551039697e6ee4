package dataset

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/reach"
	"github.com/graph-condensation/cgc/mat"
)

// Facts describes a graph. Its JSON keys are stable.
type Facts struct {
	// Name is the name of the graph. Nodes, Edges (undirected), Features and Classes are its sizes. Train, Val and Test
	// are the sizes of the parts of its split.
	Name     string `json:"graph"`
	Nodes    int    `json:"nodes"`
	Edges    int    `json:"edges"`
	Features int    `json:"features"`
	Classes  int    `json:"classes"`
	Train    int    `json:"train"`
	Val      int    `json:"val"`
	Test     int    `json:"test"`
	// Unlabelled is the number of nodes without a class. Isolated is the number of nodes without an edge.
	Unlabelled int `json:"unlabelled"`
	Isolated   int `json:"isolated"`
	// Degrees counts neighbours and ignores edge weights.
	Degrees struct {
		Min    int `json:"min"`
		Median int `json:"median"` // the upper median, if the number of nodes is even
		Max    int `json:"max"`
	} `json:"degrees"`
	// Weighted says whether edges have weights other than 1, and Sparse whether features are stored as a sparse matrix.
	// Density is the share of features that are not zero, in [0, 1].
	Weighted bool    `json:"weighted"`
	Sparse   bool    `json:"sparse"`
	Density  float64 `json:"density"`
	// Homophily is the share of edges that join nodes of the same class, among edges with two labelled ends; 0 if there
	// are none. Chance is the homophily that edges drawn at random between nodes of the same degrees would have.
	Homophily float64 `json:"homophily"`
	Chance    float64 `json:"homophily_by_chance"`
	// Components is the number of connected components with edges.
	Components int `json:"components"`
	// PerClass counts the nodes of each class.
	PerClass []ClassFacts `json:"per_class"`
	// Notes holds a sentence for each change made while reading, such as dropped self-loops.
	Notes []string `json:"notes,omitempty"`
	// Odd lists the unusual properties of the graph.
	Odd []Oddity `json:"odd"`
}

// ClassFacts counts the nodes of a class, in total and in each part of the split.
type ClassFacts struct {
	// Name is empty if classes are numbered.
	Name  string `json:"name,omitempty"`
	All   int    `json:"all"`
	Train int    `json:"train"`
	Val   int    `json:"val"`
	Test  int    `json:"test"`
}

// Describe opens the graph called name, as Open does, and returns the facts about it. Notes holds the sentences that
// Note was called with.
func (o Options) Describe(ctx context.Context, name string) (Facts, error) {
	var notes []string
	tell := o.Note
	o.Note = func(sentence string) {
		notes = append(notes, sentence)
		if tell != nil {
			tell(sentence)
		}
	}
	g, err := o.Open(ctx, name)
	if err != nil {
		return Facts{}, err
	}
	f, err := Describe(g)
	f.Notes = notes
	return f, err
}

// Describe returns the facts about g, which must be valid. It reads features once, and edges twice. It can only fail on
// a feature matrix whose type is not from package mat, or if the features need more memory than the system allows.
func Describe(g *graph.Graph) (f Facts, err error) {
	defer memory.Recover(&err)
	f = Facts{
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
	train, val, test := g.Counts(g.Split.Train), g.Counts(g.Split.Val), g.Counts(g.Split.Test)
	for c := range f.PerClass {
		k := &f.PerClass[c]
		if k.Train, k.Val, k.Test = train[c], val[c], test[c]; g.ClassNames != nil {
			k.Name = g.ClassNames[c]
		}
	}
	_, f.Homophily, f.Chance = g.Homophily(memory.Range(0, g.Nodes()), nil)
	_, f.Sparse = g.X.(*mat.CSR)
	x, err := readFeatures(g.X)
	if err == nil {
		x.telling, err = telling(g.X, g.Y)
	}
	if err != nil {
		return f, fmt.Errorf("reading the features of %s: %w", g.Name, err)
	}
	f.Density = float64(x.filled) / (float64(max(1, f.Nodes)) * float64(max(1, f.Features)))
	f.oddities(g, &x, f.components(g))
	return f, nil
}

// components counts the connected components with edges. unreached is the number of nodes in such components without a
// training node.
func (f *Facts) components(g *graph.Graph) (unreached int) {
	trains := make([]bool, f.Nodes)
	for _, v := range g.Split.Train {
		trains[v] = true
	}
	for _, nodes := range reach.Components(g.Adj) {
		if len(nodes) == 1 {
			continue
		}
		f.Components++
		if !slices.ContainsFunc(nodes, func(v int32) bool { return trains[v] }) {
			unreached += len(nodes)
		}
	}
	return unreached
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

package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Builder builds a Graph from its parts, given in any order. Nodes are numbered from 0. Set the fields, add edges, and
// call Graph:
//
//	b := graph.Builder{Name: "triangle", X: x, Y: []int32{0, 1, graph.Unlabelled}}
//	b.AddEdge(0, 1)
//	b.AddEdge(2, 1)
//	b.Split.Train = []int32{0, 1}
//	g, changes, err := b.Graph(ctx)
//
// The zero value has no nodes. A Builder must not be copied after AddEdge.
type Builder struct {
	// Name becomes the name of the graph.
	Name string
	// Nodes is the number of nodes N. 0 means the number of rows of X.
	Nodes int
	// Edges is the list of edges: in any order, in one direction or both, repeated or not, with self-loops or not. The
	// graph may share its slices (see Adjacency).
	Edges Edges
	// X holds the features of node i in row i, N×d with d ≥ 1. The graph uses it without a copy.
	X mat.Matrix
	// Y holds the label of each node: 0 to Classes−1, or Unlabelled. Nil means that no node has a label. The graph uses it
	// without a copy.
	Y []int32
	// Classes is the number of classes, at most MaxClasses. 0 means the largest label plus 1.
	Classes int
	// IDs holds a name for each node, ClassNames for each class, and FeatureNames for each feature. Nil means no names.
	// The graph uses them without a copy.
	IDs, ClassNames, FeatureNames []string
	// Split lists the nodes of each part, in any order. The parts may be empty. They must not overlap.
	Split Split

	outside error // the error for the first edge whose nodes do not fit in int32
}

// PartError says which part of a graph is wrong.
type PartError struct {
	// Part is "edges", "features", "labels" or "split".
	Part string
	// Err names the position, the value and the limit.
	Err error
}

// Error returns the text of Err.
func (e *PartError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *PartError) Unwrap() error { return e.Err }

// AddEdge adds an undirected edge of weight 1. Graph checks the nodes.
func (b *Builder) AddEdge(u, v int) { b.AddWeightedEdge(u, v, 1) }

// AddWeightedEdge adds an undirected edge. If an edge is repeated, its largest weight counts. Graph checks the values.
func (b *Builder) AddWeightedEdge(u, v int, weight float32) {
	if b.outside == nil && (u != int(int32(u)) || v != int(int32(v))) {
		b.outside = &PartError{"edges", fmt.Errorf("edge %d (%d–%d): must be nodes 0 to %d", b.Edges.Len(), u, v, MaxNodes-1)}
	}
	e := &b.Edges
	if weight != 1 && e.Weight == nil {
		e.Weight = memory.Filled[float32](e.Len(), 1)
	}
	e.From, e.To = append(e.From, int32(u)), append(e.To, int32(v))
	if e.Weight != nil {
		e.Weight = append(e.Weight, weight)
	}
}

// Graph returns a valid graph (Graph.Validate) and how the edges were changed. An error is a *PartError, or comes from
// ctx or from reading X. A *PartError names the position, value and limit. The builder can be used again, but its X and
// Y belong to the graph. Graph reports its progress to ctx and stops when ctx ends.
func (b *Builder) Graph(ctx context.Context) (*Graph, Changes, error) {
	n := b.Nodes
	if n == 0 && b.X != nil {
		n, _ = b.X.Dims()
	}
	if n == 0 && (b.X == nil || b.Edges.Len() > 0) { // later checks would blame the first edge
		return nil, Changes{Entries: b.Edges.Len()}, &PartError{"features", errors.New("there are no nodes (0), " +
			"must be features with a row for each node")}
	}
	if b.outside != nil {
		return nil, Changes{Entries: b.Edges.Len()}, b.outside
	}
	adj, changes, err := Adjacency(ctx, n, b.Edges)
	if err != nil {
		return nil, changes, err
	}
	g := &Graph{Name: b.Name, Adj: adj, X: b.X, Y: b.Y}
	if err := checkFeatures(ctx, b.X, n); err != nil {
		return nil, changes, err
	}
	g.Split = b.Split
	if g.Classes, err = CheckLabels(n, &g.Y, b.Classes, &g.Split); err != nil {
		return nil, changes, err
	}
	g.IDs, g.ClassNames, g.FeatureNames = b.IDs, b.ClassNames, b.FeatureNames
	if err := g.checkNames(); err != nil {
		return nil, changes, err
	}
	g.mark() // the checks above have passed
	return g, changes, nil
}

// CheckLabels checks labels and split like Builder.Graph. A nil y is replaced by n times Unlabelled, and the parts of s
// are sorted. It returns the number of classes. If classes is 0, that is the largest label plus 1. An error is a
// *PartError.
func CheckLabels(n int, y *[]int32, classes int, s *Split) (int, error) {
	wrong := func(format string, args ...any) error { return &PartError{"labels", fmt.Errorf(format, args...)} }
	if *y == nil {
		*y = memory.Filled[int32](n, Unlabelled)
	}
	if len(*y) != n {
		return 0, wrong("%d labels for %d nodes", len(*y), n)
	}
	if classes < 0 || classes > MaxClasses {
		return 0, wrong("%d classes, must be 0 to %d", classes, MaxClasses)
	}
	bound, largest := cmp.Or(classes, MaxClasses), int32(Unlabelled)
	for i, c := range *y {
		if c < Unlabelled || int(c) >= bound {
			return 0, wrong("label %d of node %d, must be 0 to %d, or %d for none", c, i, bound-1, Unlabelled)
		}
		largest = max(largest, c)
	}
	for _, part := range []*[]int32{&s.Train, &s.Val, &s.Test} {
		*part = slices.Sorted(slices.Values(*part))
	}
	return cmp.Or(classes, int(largest)+1), s.check(*y)
}

// checkFeatures returns an error unless x has n rows, 1 to MaxNodes columns, and only finite values.
func checkFeatures(ctx context.Context, x mat.Matrix, n int) error {
	wrong := func(format string, args ...any) error { return &PartError{"features", fmt.Errorf(format, args...)} }
	if x == nil {
		return wrong("there are no features, expected a matrix of %d rows", n)
	}
	rows, cols := x.Dims()
	if rows != n || cols == 0 || cols > MaxNodes {
		return wrong("features are %d×%d, expected %d rows, one for each node, and 1 to %d columns", rows, cols, n, MaxNodes)
	}
	if x, dense := x.(*mat.Dense); dense && len(x.Data) != rows*cols {
		return wrong("features are %d×%d and hold %d numbers, expected %d", rows, cols, len(x.Data), rows*cols)
	}
	fault, err := faultOf(ctx, x)
	if fault != nil {
		err = wrong("%w", fault)
	}
	return cmp.Or(ctx.Err(), err)
}

// check returns an error if a node is out of range, is in the split twice, or has no label.
func (s Split) check(y []int32) error {
	wrong := func(format string, args ...any) error { return &PartError{"split", fmt.Errorf(format, args...)} }
	part := memory.Make[byte](len(y))
	names := [...]string{1: "train", "val", "test"}
	for p, nodes := range [...][]int32{1: s.Train, s.Val, s.Test} {
		for _, v := range nodes {
			switch {
			case v < 0 || int(v) >= len(y):
				return wrong("node %d of %s, must be 0 to %d", v, names[p], len(y)-1)
			case part[v] != 0:
				return wrong("node %d is in %s and again in %s, must be once", v, names[part[v]], names[p])
			case y[v] == Unlabelled:
				return wrong("node %d of %s has no label", v, names[p])
			}
			part[v] = byte(p)
		}
	}
	return nil
}

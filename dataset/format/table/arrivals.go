package table

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Arrivals are new nodes and their edges to known nodes and to each other.
type Arrivals struct {
	// IDs are the ids of the new nodes, X has their features, and FeatureNames has the names of the features.
	IDs          []string
	X            *mat.Dense
	FeatureNames []string
	// Y has their classes, or graph.Unlabelled, and Split lists new nodes, if Pair.Known says which classes there are.
	Y     []int32
	Split graph.Split
	// Edges is B×(N+B) for B new and N known nodes: column j < N is known node j, and column N+i is new node i. An edge
	// between two new nodes is in the rows of both. Data is nil if all weights are 1.
	Edges *mat.CSR
}

// Arrivals reads new nodes, and returns a sentence for each change. It ignores labels and split of p.Nodes unless
// p.Known is set; both may be missing. known are the ids of the count known nodes, or nil if they are the numbers 0 to
// count−1. Each edge joins a new node with a known or a new one, in either direction. Repeats and self-loops are
// treated as in Graph.
func (p Pair) Arrivals(ctx context.Context, known []string, count int) (*Arrivals, []string, error) {
	c, err := withFeatures(p.Nodes, false)
	if err != nil {
		return nil, nil, err
	}
	n, err := readNodes(ctx, p.Nodes, c, p.Known, math.MaxInt64, true)
	if err != nil {
		return nil, nil, err
	}
	a := &Arrivals{IDs: n.ids, FeatureNames: n.featureNames()}
	if a.X, err = n.matrix(ctx); err != nil {
		return nil, nil, err
	}
	if p.Known != nil {
		var s format.Stream
		if err := n.classes(&s); err != nil {
			return nil, nil, err
		}
		a.Y, a.Split = s.Y, s.Split
	}
	n.among, n.old = n.Name()+" or among the known nodes", int32(count)
	if n.at, err = places(known, count, len(n.ids)); err != nil {
		return nil, nil, err
	}
	for i, id := range n.ids {
		if first, err := n.at.Add(id, int64(count+len(n.ids))); err != nil || first >= 0 {
			return nil, nil, n.failAt(i, "id %.50q is the id of a known node, must be new", id)
		}
	}
	if p.Sort {
		if err := n.sort(ctx, a.Y, a.X); err != nil {
			return nil, nil, err
		}
		for _, part := range [...][]int32{a.Split.Train, a.Split.Val, a.Split.Test} {
			slices.Sort(part)
		}
		a.IDs = n.ids
	}
	t, err := p.Edges(ctx)
	if err != nil {
		return nil, nil, err
	}
	e, notes, err := findEnds(t)
	if err != nil {
		return nil, nil, err
	}
	var all graph.Edges
	var adding sync.Mutex
	err = n.edges(ctx, t, e, func(e graph.Edges) error {
		adding.Lock()
		defer adding.Unlock()
		all.From, all.To = append(all.From, e.From...), append(all.To, e.To...)
		all.Weight = append(all.Weight, e.Weight...)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	adj, _, err := graph.Adjacency(ctx, count+len(a.IDs), all)
	if err != nil {
		return nil, nil, format.Locate(err, t.File(), nil)
	}
	a.Edges = adj.Select(memory.Range(count, count+len(a.IDs)))
	return a, append(c.indexNotes(p.Nodes), notes...), nil
}

// places returns a table of the known nodes, to which more can be added.
func places(known []string, count, more int) (*index, error) {
	if known == nil {
		return numberIndex(count, math.MaxInt64), nil
	}
	at := newIndex(math.MaxInt64)
	for _, name := range known {
		if _, err := at.Add(name, int64(count+more)); err != nil {
			return nil, err
		}
	}
	return at, nil
}

// Labels are classes of known nodes.
type Labels struct {
	// Nodes are the numbers of the nodes, and Y has their classes, or graph.Unlabelled.
	Nodes, Y []int32
	// Split lists those of Nodes that are in a part, unless Parted is false: then nothing is said about parts.
	Split  graph.Split
	Parted bool
}

// ReadLabels reads labels of known nodes from a table with the columns id and label, and perhaps a split, and returns a
// note about other columns. known are the ids of the count known nodes, or nil if they are numbers.
func ReadLabels(ctx context.Context, t Table, k *Known, known []string, count int) (*Labels, []string, error) {
	c, err := findColumns(t, true)
	if err != nil {
		return nil, nil, err
	}
	var notes []string
	if note := content.Unread(t.File(), t.Header(), append(c.masks[:], c.id, c.label, c.split)...); note != "" {
		notes = []string{note}
	}
	c.features = nil
	n, err := readNodes(ctx, t, c, k, math.MaxInt64, true)
	if err != nil {
		return nil, nil, err
	}
	var s format.Stream
	if err := n.classes(&s); err != nil {
		return nil, nil, err
	}
	at, err := places(known, count, 0)
	if err != nil {
		return nil, nil, err
	}
	l := &Labels{Nodes: make([]int32, len(n.ids)), Y: s.Y, Split: s.Split, Parted: c.parted()}
	names := make([][]byte, len(n.ids))
	for i, id := range n.ids {
		names[i] = []byte(id)
	}
	at.Find(names, l.Nodes)
	if i := slices.Index(l.Nodes, -1); i >= 0 {
		return nil, nil, n.failAt(i, "id %.50q, must be the id of a known node", n.ids[i])
	}
	for _, part := range [...][]int32{l.Split.Train, l.Split.Val, l.Split.Test} {
		for i, row := range part {
			part[i] = l.Nodes[row]
		}
	}
	return l, notes, nil
}

package table

import (
	"context"
	"math"
	"sync"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
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
	c, err := findColumns(p.Nodes, false)
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
		if a.Y = s.Y; c.label >= 0 {
			if err := n.checkSplit(a.Y); err != nil {
				return nil, nil, err
			}
			a.Split = n.split
		}
	}
	n.at, n.among, n.old = newIndex(math.MaxInt64), n.Name()+" or among the known nodes", int32(count)
	if known == nil {
		n.at = numberIndex(count, math.MaxInt64)
	}
	for _, name := range known {
		if _, err := n.at.Add(name, int64(count+len(a.IDs))); err != nil {
			return nil, nil, err
		}
	}
	for i, id := range a.IDs {
		if first, err := n.at.Add(id, int64(count+len(a.IDs))); err != nil || first >= 0 {
			return nil, nil, n.failAt(i, "id %.50q is the id of a known node, must be new", id)
		}
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

package table

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/ids"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Arrivals are new nodes and their edges to known nodes and to each other.
type Arrivals struct {
	// IDs are the ids of the new nodes, and X their features.
	IDs []string
	X   *mat.Dense
	// Edges is B×(N+B) for B new and N known nodes: column j < N is known node j, and column N+i is new node i. An edge
	// between two new nodes is in the rows of both. Data is nil if all weights are 1.
	Edges *mat.CSR
}

// Arrivals reads new nodes. Labels and split of p.Nodes may be missing and are not used. known are the ids of the N
// known nodes, or nil if they are the numbers 0 to count − 1. Each edge joins a new node with a known or a new one, in
// either direction. Repeated edges and self-loops are treated as in Graph.
func (p Pair) Arrivals(ctx context.Context, known []string, count int) (*Arrivals, []string, error) {
	c, err := findColumns(p.Nodes, false)
	if err != nil {
		return nil, nil, err
	}
	n, err := readNodes(ctx, p.Nodes, c, nil, math.MaxInt64, true)
	if err != nil {
		return nil, nil, err
	}
	a := &Arrivals{IDs: n.ids}
	if a.X, err = n.matrix(ctx); err != nil {
		return nil, nil, err
	}
	n.at, n.among = ids.NewTable(math.MaxInt64), n.Name()+" or among the known nodes"
	for i := range count {
		name := strconv.Itoa(i)
		if known != nil {
			name = known[i]
		}
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
	e, err := findEnds(t)
	if err != nil {
		return nil, nil, err
	}
	b := len(a.IDs)
	weights := make([]map[int32]float32, b) // by neighbour
	var adding sync.Mutex
	err = n.edges(ctx, t, e, func(e graph.Edges) error {
		adding.Lock()
		defer adding.Unlock()
		for k := range e.Len() {
			w, between := float32(1), [2]int32{e.From[k], e.To[k]}
			if len(e.Weight) > 0 {
				w = e.Weight[k]
			}
			if between[0] < int32(count) && between[1] < int32(count) {
				return format.Wrong(t.File(), "an edge joins two known nodes, %d and %d: one must be new", between[0], between[1])
			}
			for side, v := range between {
				if i := int(v) - count; i >= 0 && between[0] != between[1] {
					if weights[i] == nil {
						weights[i] = map[int32]float32{}
					}
					weights[i][between[1-side]] = max(weights[i][between[1-side]], w)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	a.Edges = &mat.CSR{Rows: b, Cols: count + b, Indptr: make([]int64, 1, b+1)}
	for _, of := range weights {
		for _, j := range slices.Sorted(maps.Keys(of)) {
			a.Edges.Indices = append(a.Edges.Indices, j)
			a.Edges.Data = append(a.Edges.Data, of[j])
		}
		a.Edges.Indptr = append(a.Edges.Indptr, int64(len(a.Edges.Indices)))
	}
	if !slices.ContainsFunc(a.Edges.Data, func(w float32) bool { return w != 1 }) {
		a.Edges.Data = nil
	}
	return a, c.indexNotes(p.Nodes), nil
}

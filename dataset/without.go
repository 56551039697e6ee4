package dataset

import (
	"context"
	"fmt"
	"strconv"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

// Omission is what Options.Without left out of a graph.
type Omission struct {
	// Nodes is the number of nodes that were left out.
	Nodes int `json:"nodes"`
	// Before and After are the fingerprints of the graph with these nodes and without them.
	Before string `json:"fingerprint_before"`
	After  string `json:"fingerprint_after"`
}

// leaveOut returns g without the nodes of o.Without, and reports the fingerprint of the graph with and without them. If
// g has no split yet, complete draws it later, from the remaining nodes.
func (o Options) leaveOut(ctx context.Context, found format.Place, g *graph.Graph) (_ *graph.Graph, err error) {
	defer memory.Recover(&err)
	if o.Without == nil || g == nil {
		return g, nil
	}
	kept, err := nodesWithout(g, o.Without)
	if err != nil {
		return nil, &format.ReadError{File: format.Shown(found.Path), Err: err}
	}
	left := Omission{Nodes: g.Nodes() - len(kept)}
	if left.Before, err = o.fingerprint(ctx, found, g); err != nil {
		return nil, err
	}
	smaller := g
	if left.Nodes > 0 {
		smaller = g.Induced(kept)
		smaller.Numbers = kept
		if g.IDs == nil { // the numbers become names, as in a table whose numbers have gaps
			for _, v := range kept {
				smaller.IDs = append(smaller.IDs, strconv.Itoa(int(v)))
			}
		}
	}
	if left.After, err = o.fingerprint(ctx, found, smaller); err != nil {
		return nil, err
	}
	were, them := "were", "them"
	if left.Nodes == 1 {
		were, them = "was", "it"
	}
	o.note("%d of the %d nodes %s left out: the fingerprint was %s, and is %s without %s", left.Nodes, g.Nodes(), were,
		left.Before, left.After, them)
	if o.Omitted != nil {
		o.Omitted(left)
	}
	return smaller, nil
}

// fingerprint returns the fingerprint of g with the split that complete gives it.
func (o Options) fingerprint(ctx context.Context, found format.Place, g *graph.Graph) (string, error) {
	complete := *g
	o.Note = nil
	if err := o.complete(ctx, found, &complete); err != nil {
		return "", err
	}
	id, err := graph.Identify(&complete)
	return id.Fingerprint, err
}

// nodesWithout returns the nodes of g that are not listed, ascending.
func nodesWithout(g *graph.Graph, listed []string) (kept []int32, err error) {
	left, err := g.Find(listed)
	if err != nil {
		return nil, fmt.Errorf("nodes to leave out must be ids of nodes: %w", err)
	}
	for v := range int32(g.Nodes()) {
		if len(left) > 0 && left[0] == v {
			left = left[1:]
		} else {
			kept = append(kept, v)
		}
	}
	return kept, nil
}

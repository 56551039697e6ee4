package dataset

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	if len(o.Without) == 0 || g == nil {
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
	smaller := g.Induced(kept)
	smaller.Numbers = kept
	if g.IDs == nil && len(kept) < g.Nodes() { // the numbers become names, as in a table whose numbers have gaps
		for _, v := range kept {
			smaller.IDs = append(smaller.IDs, strconv.Itoa(int(v)))
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

// nodesWithout returns the nodes of g that are not listed, ascending. A node without a name is listed by its number.
// The error names the listed ids that are not nodes.
func nodesWithout(g *graph.Graph, listed []string) (kept []int32, err error) {
	number := make(map[string]int32, len(g.IDs))
	for v, id := range g.IDs {
		number[id] = int32(v)
	}
	left, unknown := make([]bool, g.Nodes()), []string{}
	for _, id := range listed {
		v, is := number[id]
		short := strings.TrimSpace(id) // text formats drop the spaces around ids
		if !is {
			v, is = number[short]
		}
		if n, err := strconv.Atoi(short); g.IDs == nil && err == nil && 0 <= n && n < g.Nodes() {
			v, is = int32(n), true
		}
		if is {
			left[v] = true
		} else if id = strconv.Quote(id); !slices.Contains(unknown, id) {
			unknown = append(unknown, id)
		}
	}
	if count := len(unknown); count > 0 {
		const most = 5
		more := ""
		if count > most {
			unknown, more = unknown[:most], fmt.Sprintf(" and %d more", count-most)
		}
		return nil, fmt.Errorf("nodes to leave out must be ids of nodes: there is no node %s%s",
			strings.Join(unknown, ", "), more)
	}
	for v, out := range left {
		if !out {
			kept = append(kept, int32(v))
		}
	}
	return kept, nil
}

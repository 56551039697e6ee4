package graph

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// MaxNodes is the largest number of nodes, and of features. Indices are int32.
const MaxNodes = math.MaxInt32

// MaxClasses is the largest number of classes. A larger label is more likely an identifier than a class.
const MaxClasses = 1 << 16

// Edges is a list of edges in any order. An edge may be given in one direction or in both, and may repeat. Edge i joins
// From[i] and To[i].
type Edges struct {
	From, To []int32
	// Weight holds a positive weight for each edge. Nil means that each weight is 1.
	Weight []float32
}

// Len returns the number of entries of the list.
func (e *Edges) Len() int { return len(e.From) }

// Changes counts how a list of edges was changed to make an undirected graph.
type Changes struct {
	// Entries is the length of the list.
	Entries int
	// Loops is the number of self-loops, which are dropped.
	Loops int
	// Merged is the number of entries that repeat another one, in the same direction or the opposite one.
	Merged int
}

// Any reports whether the graph has fewer edges than the list has entries.
func (c Changes) Any() bool { return c.Loops+c.Merged > 0 }

// String returns a sentence without a full stop: "5 edge entries became 3 undirected edges (1 self-loop dropped, 1
// repeat or opposite direction merged)".
func (c Changes) String() string {
	var parts []string
	if c.Loops > 0 {
		parts = append(parts, plural(c.Loops, "self-loop", "self-loops")+" dropped")
	}
	if c.Merged > 0 {
		parts = append(parts, plural(c.Merged, "repeat or opposite direction", "repeats or opposite directions")+" merged")
	}
	text := fmt.Sprintf("%d edge entries became %d undirected edges", c.Entries, c.Entries-c.Loops-c.Merged)
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Adjacency returns the n×n adjacency A of an undirected graph with the given edges. A is symmetric, its columns ascend
// within each row, and its diagonal is zero:
//
//	A_uv = A_vu = max{Weight[i] : edge i joins u and v},  A_uu = 0
//
// A.Data is nil if all weights are 1. A *PartError names the first edge with a node outside 0 to n−1, or with a weight
// that is not positive and finite. The result does not depend on the order of the edges or on the number of threads. If
// the edges are already the entries of A, row by row, A shares edges.To and edges.Weight: do not change them later.
// Adjacency reports its progress to ctx and stops when ctx ends.
func Adjacency(ctx context.Context, n int, edges Edges) (_ *mat.CSR, _ Changes, err error) {
	defer memory.Recover(&err)
	changes := Changes{Entries: edges.Len()}
	if n < 0 || n > MaxNodes {
		return nil, changes, &PartError{"edges", fmt.Errorf("%d nodes, must be 0 to %d", n, MaxNodes)}
	}
	if len(edges.To) != edges.Len() || edges.Weight != nil && len(edges.Weight) != edges.Len() {
		return nil, changes, edges.unequal()
	}
	if edges.Len() == 0 {
		return &mat.CSR{Rows: n, Cols: n, Indptr: memory.Make[int64](n + 1)}, changes, nil
	}
	if n == 0 {
		return nil, changes, edges.fault(0, n, 0)
	}
	w := &work{ctx: ctx, edges: int64(edges.Len())}
	seen, err := examine(w, n, edges)
	if err != nil {
		return nil, changes, err
	}
	var adj *mat.CSR
	if seen.mirrored && seen.ascending && seen.loops == 0 {
		adj = inPlace(ctx, n, edges)
	} else if b := newBuckets(w, n, edges, seen.mirrored); b != nil {
		adj = b.matrix(w)
	}
	if err := ctx.Err(); err != nil {
		return nil, changes, fmt.Errorf("building the adjacency: %w", err)
	}
	changes.Loops, changes.Merged = seen.loops, edges.Len()-seen.loops-adj.NNZ()/2
	return adj, changes, nil
}

// Check returns an error if an edge has a node outside 0 to n−1, or a weight that is not positive and finite. It is a
// *PartError that names the first such edge. If e is a part of a longer list, first is the number of its edge 0 in that
// list.
func (e *Edges) Check(n int, first int) error {
	if len(e.To) != e.Len() || e.Weight != nil && len(e.Weight) != e.Len() {
		return e.unequal()
	}
	return e.check(0, e.Len(), n, first)
}

// check returns an error for the first invalid edge from lo to hi−1 of a graph with n nodes, or nil. first is as in
// Check.
func (e *Edges) check(lo, hi, n, first int) error {
	bad, from, to := hi, e.From[lo:hi], e.To[lo:hi]
	for i, u := range from {
		if uint32(u) >= uint32(n) || uint32(to[i]) >= uint32(n) { // a negative number becomes a large one
			bad = lo + i
			break
		}
	}
	if e.Weight != nil {
		if i := slices.IndexFunc(e.Weight[lo:bad], func(w float32) bool { return !legal(w) }); i >= 0 {
			bad = lo + i
		}
	}
	if bad == hi {
		return nil
	}
	return e.fault(bad, n, first+bad)
}

// unequal is the error for lists of different lengths.
func (e *Edges) unequal() error {
	return &PartError{"edges", fmt.Errorf("edges have %d sources, %d targets and %d weights, must be equal numbers",
		len(e.From), len(e.To), len(e.Weight))}
}

// fault returns the error for edge i, which is invalid. The message calls it edge number.
func (e *Edges) fault(i, n, number int) error {
	u, v := e.From[i], e.To[i]
	for _, node := range []int32{u, v} {
		if uint(node) >= uint(n) {
			return &PartError{"edges", fmt.Errorf("edge %d (%d–%d): node %d, must be 0 to %d", number, u, v, node, n-1)}
		}
	}
	return &PartError{"edges", fmt.Errorf("edge %d (%d–%d): weight %v, must be a positive finite number",
		number, u, v, e.Weight[i])}
}

// legal reports whether w is positive and finite.
func legal(w float32) bool { return w > 0 && w <= math.MaxFloat32 }

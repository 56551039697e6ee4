package graph

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/mat"
)

// Validate checks g against the comments of its fields. It returns the first violation of each kind, joined, each with
// the position, the value and the limit, or nil. If the shape or a row of Adj is wrong, it checks nothing else. It only
// reads g, so it is safe for concurrent use. It returns the error of ctx soon after ctx ends.
func (g *Graph) Validate(ctx context.Context) (err error) {
	defer memory.Recover(&err)
	err = g.validate(ctx)
	if ended := ctx.Err(); ended != nil {
		return ended // the faults found are incomplete, and may be wrong
	}
	return err
}

func (g *Graph) validate(ctx context.Context) error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch {
	case g.Adj == nil:
		return errors.New("there is no adjacency (nil): that of a graph without edges has no entries")
	case g.X == nil:
		return errors.New("there are no features (nil)")
	}
	mirrored, err := validatePattern(ctx, g.Adj)
	if err != nil {
		return err
	}
	n := g.Adj.Rows
	if err := validateEntries(ctx, g.Adj, mirrored, g.Causal); err != nil {
		errs = append(errs, err)
	}
	if err := validateFeatures(ctx, g.X, n); err != nil {
		errs = append(errs, err)
	}
	if len(g.Y) != n {
		add("%d labels for %d nodes", len(g.Y), n)
		return errors.Join(errs...)
	}
	if g.Classes < 0 || g.Classes > MaxClasses {
		add("%d classes, must be 0 to %d", g.Classes, MaxClasses)
	}
	for i, y := range g.Y {
		if y != Unlabelled && (y < 0 || int(y) >= g.Classes) {
			add("label %d of node %d, must be 0 to %d", y, i, g.Classes-1)
			break
		}
	}
	errs = append(errs, g.Split.validate(g)...)
	if err := g.checkNames(); err != nil {
		add("%w", err)
	}
	return errors.Join(errs...)
}

// checkNames returns a *PartError unless there is one name per node, class and feature, or none.
func (g *Graph) checkNames() error {
	for _, c := range []struct {
		part, of string
		names    []string
		count    int
	}{
		{"labels", "nodes", g.IDs, len(g.Y)}, {"labels", "classes", g.ClassNames, g.Classes},
		{"features", "features", g.FeatureNames, g.Features()},
	} {
		if c.names != nil && len(c.names) != c.count {
			return &PartError{c.part, fmt.Errorf("%d names for %d %s", len(c.names), c.count, c.of)}
		}
	}
	return nil
}

// ValidateAdjacency checks a against the comment of Graph.Adj, or of Graph.Causal if causal is set, and returns the
// first violation of each kind, joined, or nil. If the shape or a row is wrong, it checks nothing else. It returns the
// error of ctx soon after ctx ends.
func ValidateAdjacency(ctx context.Context, a *mat.CSR, causal bool) error {
	mirrored, err := validatePattern(ctx, a)
	if err != nil {
		return err
	}
	if err := validateEntries(ctx, a, mirrored, causal); err != nil {
		return err
	}
	return ctx.Err()
}

// validatePattern returns the first fault of the shape of a and its rows. If there is none, mirrored is what
// mirror.same returns. Both checks share one pass over the entries, which may be in a file larger than memory.
func validatePattern(ctx context.Context, a *mat.CSR) (mirrored bool, err error) {
	switch n := a.Rows; {
	case a.Cols != n:
		return false, fmt.Errorf("adjacency is %d×%d, must be square", n, a.Cols)
	case n > math.MaxInt32:
		return false, fmt.Errorf("%d nodes, must be at most %d", n, math.MaxInt32)
	}
	var m mirror
	if err := a.ValidateRows(ctx, func(lo, hi int) { m.add(a, lo, hi) }); err != nil {
		return false, fmt.Errorf("adjacency: %w", err)
	}
	return m.same(), nil
}

// validateEntries returns the first fault of each kind in the entries of a, joined. The pattern of a must be valid.
func validateEntries(ctx context.Context, a *mat.CSR, mirrored, causal bool) error {
	var errs []error
	switch {
	case causal:
		if i, j, found := later(a); found {
			errs = append(errs, fmt.Errorf("adjacency entry (%d, %d) of a causal graph, must be to an earlier node", i, j))
		}
	case !mirrored:
		if i, j, why := asymmetry(ctx, a); why != "" {
			errs = append(errs, fmt.Errorf("adjacency entry (%d, %d) %s", i, j, why))
		}
	}
	if i, j, found, _ := mat.FirstNotFinite(ctx, a); found {
		errs = append(errs, fmt.Errorf("weight of edge (%d, %d) is not a finite number", i, j))
	}
	for e, w := range a.Data {
		if w <= 0 {
			errs = append(errs, fmt.Errorf("weight %v of an edge to node %d, must be positive", w, a.Indices[e]))
			break
		}
	}
	return errors.Join(errs...)
}

// validateFeatures returns the first fault of features x of n nodes.
func validateFeatures(ctx context.Context, x mat.Matrix, n int) error {
	rows, cols := x.Dims()
	switch {
	case rows != n:
		return fmt.Errorf("features have %d rows for %d nodes", rows, n)
	case cols == 0:
		return errors.New("there are no features (0 columns), expected at least 1")
	}
	switch x := x.(type) {
	case *mat.Dense:
		if len(x.Data) != rows*cols {
			return fmt.Errorf("%d numbers for %d×%d features", len(x.Data), rows, cols)
		}
	case *paneled.Matrix:
		return nil // reading them rejects values that are not finite, and they may be larger than memory
	}
	fault, err := faultOf(ctx, x)
	if fault != nil {
		return fault
	}
	return err
}

// faultOf returns the first fault among the values of features x, and otherwise the error of reading them.
func faultOf(ctx context.Context, x mat.Matrix) (fault, err error) {
	if x, sparse := x.(*mat.CSR); sparse {
		if err := x.Validate(ctx); err != nil {
			return fmt.Errorf("features: %w", err), nil
		}
	}
	i, j, found, err := mat.FirstNotFinite(ctx, x)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading features: %w", err)
	case found:
		return fmt.Errorf("feature %d of node %d is not a finite number", j, i), nil
	}
	return nil, nil
}

func (s Split) validate(g *Graph) (errs []error) {
	names := []string{"", "train", "val", "test"}
	part := memory.Make[byte](g.Nodes()) // the part of each node, as an index of names
	for k, nodes := range [][]int32{nil, s.Train, s.Val, s.Test} {
		last := int32(-1)
		for _, v := range nodes {
			var why string
			switch {
			case v < 0 || int(v) >= len(part):
				why = fmt.Sprintf("must be 0 to %d", len(part)-1)
			case v <= last:
				why = "nodes must ascend without repeats"
			case part[v] != 0:
				why = "it is in " + names[part[v]] + " too"
			case g.Y[v] == Unlabelled:
				why = "it has no label"
			}
			if why != "" {
				errs = append(errs, fmt.Errorf("node %d of split %s: %s", v, names[k], why))
				break
			}
			part[v], last = byte(k), v
		}
	}
	return errs
}

package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Seal returns what Validate returns. If g is valid, it also records this in g, so that later calls cost nothing.
// Code that creates a graph calls Seal, as dataset.Open does, or uses Builder, which seals its graphs. Seal writes to
// g, so nothing else may use g at the same time.
//
// The record contains the memory addresses of the checked fields, and is void once one of them is replaced. A copy of g
// has the record too. It is valid as long as the copy shares these fields with g. The record does not cover values that
// are changed in place: only Validate finds those.
func (g *Graph) Seal(ctx context.Context) error {
	if g.untouched() {
		return nil
	}
	g.sealed = nil
	if err := g.Validate(ctx); err != nil {
		return err
	}
	g.mark()
	return nil
}

// untouched reports whether g is sealed and no field was replaced since.
func (g *Graph) untouched() bool { return g.sealed != nil && slices.Equal(g.memory(), g.sealed) }

// mark records that g is valid.
func (g *Graph) mark() { g.sealed = g.memory() }

// Check returns nil at once if g is sealed and no field was replaced since, otherwise what Validate returns, after the
// name of the graph. It only reads g and is safe for concurrent use.
func (g *Graph) Check(ctx context.Context) error {
	if g.untouched() {
		return nil
	}
	err := g.Validate(ctx)
	if large := new(memory.Exceeded); err == nil || ctx.Err() != nil || errors.As(err, &large) {
		return err
	}
	return fmt.Errorf("graph %s is not valid: %w", cmp.Or(g.Name, "without a name"), err)
}

// seal records where the fields of a graph are in memory, in a fixed order. It refers to that memory, so that nothing
// else can reuse it.
type seal []any

// memory returns the seal of the current fields of g; nil if g cannot be sealed.
func (g *Graph) memory() seal {
	if g.Adj == nil {
		return nil
	}
	fields := append(compressed(g.Adj), g.Classes, g.Causal)
	fields = append(fields, place(g.Y)...)
	fields = append(fields, place(g.IDs)...)
	fields = append(fields, place(g.ClassNames)...)
	fields = append(fields, place(g.FeatureNames)...)
	for _, part := range [][]int32{g.Split.Train, g.Split.Val, g.Split.Test} {
		fields = append(fields, place(part)...)
	}
	switch x := g.X.(type) {
	case nil:
		return nil
	case *mat.Dense:
		fields = append(append(fields, x.Rows, x.Cols), place(x.Data)...)
	case *mat.CSR:
		fields = append(fields, compressed(x)...)
	default:
		if !reflect.ValueOf(x).Comparable() {
			return nil
		}
		fields = append(fields, x)
	}
	return fields
}

// compressed returns what a seal records of m. Data may be nil, which means ones.
func compressed(m *mat.CSR) []any {
	return slices.Concat([]any{m.Rows, m.Cols, m.Data == nil}, place(m.Indptr), place(m.Indices), place(m.Data))
}

// place returns the address and the length of s.
func place[E any](s []E) []any { return []any{unsafe.SliceData(s), len(s)} }

package graph

import (
	"context"
	"reflect"

	"github.com/graph-condensation/cgc/mat"
)

// Seal returns what Check returns. If g is valid, it also records this in g, so that later calls of Check cost nothing.
// Code that creates a graph calls Seal, as dataset.Open does, or uses Builder, which seals its graphs. Seal writes to
// g, so nothing else may use g at the same time.
//
// The record contains the memory address of each field, and is void once a field is replaced. A copy of g has the
// record too. It is valid as long as the copy shares all fields with g. The record does not cover values that are
// changed in place: only Validate finds those.
func (g *Graph) Seal(ctx context.Context) error {
	if err := g.Check(ctx); err != nil {
		g.sealed = nil
		return err
	}
	g.mark()
	return nil
}

// untouched reports whether g is sealed and no field was replaced since.
func (g *Graph) untouched() bool {
	s, ok := g.memory()
	return ok && g.sealed != nil && s == *g.sealed
}

// mark records that g is valid.
func (g *Graph) mark() {
	if s, ok := g.memory(); ok {
		g.sealed = &s
	}
}

// Check returns nil at once if g is sealed and no field was replaced since, otherwise what Validate returns. Every
// function that relies on a valid graph calls it first. It only reads g and is safe for concurrent use.
func (g *Graph) Check(ctx context.Context) error {
	if g.untouched() {
		return nil
	}
	return g.Validate(ctx)
}

// seal records where the fields of a graph are in memory. It refers to that memory, so that nothing else can reuse it.
type seal struct {
	adj                 compressed
	x                   any // written, compressed, or the matrix itself if it is of another type
	y, train, val, test stretch[int32]
	classes             int
	ids, classNames     stretch[string]
}

// stretch is the address and the length of a slice.
type stretch[E any] struct {
	first  *E
	length int
}

type compressed struct {
	rows, cols int
	indptr     stretch[int64]
	indices    stretch[int32]
	data       stretch[float32]
	ones       bool // there is no data
}

type written struct {
	rows, cols int
	data       stretch[float32]
}

// memory returns the seal of the current fields of g, and whether g can be sealed.
func (g *Graph) memory() (s seal, ok bool) {
	if g.Adj == nil {
		return s, false
	}
	s = seal{
		adj: compressedOf(g.Adj), y: stretchOf(g.Y), classes: g.Classes,
		ids: stretchOf(g.IDs), classNames: stretchOf(g.ClassNames),
		train: stretchOf(g.Split.Train), val: stretchOf(g.Split.Val), test: stretchOf(g.Split.Test),
	}
	switch x := g.X.(type) {
	case nil:
		return s, false
	case *mat.Dense:
		s.x = written{x.Rows, x.Cols, stretchOf(x.Data)}
	case *mat.CSR:
		s.x = compressedOf(x)
	default:
		if !reflect.ValueOf(x).Comparable() {
			return s, false
		}
		s.x = x
	}
	return s, true
}

func compressedOf(m *mat.CSR) compressed {
	return compressed{m.Rows, m.Cols, stretchOf(m.Indptr), stretchOf(m.Indices), stretchOf(m.Data), m.Data == nil}
}

func stretchOf[E any](s []E) stretch[E] {
	if len(s) == 0 {
		return stretch[E]{}
	}
	return stretch[E]{&s[0], len(s)}
}

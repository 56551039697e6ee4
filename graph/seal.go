package graph

import (
	"context"
	"reflect"

	"github.com/graph-condensation/cgc/mat"
)

// Seal validates g and, if g is valid, notes that in g: Check then costs nothing. Whoever makes a graph calls it, as
// dataset.Open does; Builder notes the same. It writes to g, and must not run at the same time as anything else that
// uses g.
//
// The note names the memory of each field. It does not hold once a field is replaced. A copy of g has the note too, and
// it holds for as long as the copy shares all fields with g. The note cannot see a number that is changed in place:
// call Seal again after that.
func (g *Graph) Seal() error { return g.SealContext(context.Background()) }

// SealContext is Seal, but returns soon after ctx is done, with its error. g is not sealed then.
func (g *Graph) SealContext(ctx context.Context) error {
	g.sealed = nil
	if err := g.ValidateContext(ctx); err != nil {
		return err
	}
	g.mark()
	return nil
}

// Sealed reports whether g is sealed and no field was replaced since.
func (g *Graph) Sealed() bool {
	s, ok := g.memory()
	return ok && g.sealed != nil && s == *g.sealed
}

// mark notes that g is valid.
func (g *Graph) mark() {
	if s, ok := g.memory(); ok {
		g.sealed = &s
	}
}

// Check returns nil at once if g is sealed and no field was replaced since, and else what Validate returns. It is the
// check at the door of what trusts a graph. It only reads g: it is safe for concurrent use.
func (g *Graph) Check() error { return g.CheckContext(context.Background()) }

// CheckContext is Check, but returns soon after ctx is done, with its error.
func (g *Graph) CheckContext(ctx context.Context) error {
	if g.Sealed() {
		return nil
	}
	return g.ValidateContext(ctx)
}

// seal tells where the fields of a graph lie in memory. It keeps that memory in use, so that nothing else can take its
// place.
type seal struct {
	adj                 compressed
	x                   any // written, compressed, or the matrix itself if it is of another type
	y, train, val, test stretch[int32]
	classes             int
	ids, classNames     stretch[string]
}

// stretch tells where a slice lies.
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

// memory returns the seal of g as it is, and whether there can be one.
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

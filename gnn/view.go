package gnn

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/reach"
	"github.com/graph-condensation/cgc/mat"
)

// View is a constant graph and the nodes whose logits an Inferrer computes. It is not safe for concurrent use.
type View struct {
	*scope
	work workspace
}

// Adj returns A: symmetric and without self-loops.
func (v *View) Adj() *mat.CSR { return v.adj }

// X returns the features of all nodes.
func (v *View) X() mat.Matrix { return v.x }

// Rows returns the nodes whose logits are requested, in the order of the logits. nil means all.
func (v *View) Rows() []int32 { return v.rows }

// infer returns the logits of the rows of v.
func (v *View) infer(ctx context.Context, m Model, parameters []*mat.Dense) (*mat.Dense, error) {
	if v.stream != nil {
		return v.stream.infer(ctx, v, m, parameters)
	}
	if m, ok := m.(Inferrer); ok {
		return m.Infer(ctx, v, parameters)
	}
	adj := newAdjacency(ctx, v.adj, v.adj.Rows)
	adj.shared = v.scope
	z, err := forward(m, adj, v.x, parameters)
	if err != nil {
		return nil, err
	}
	if v.rows == nil {
		return z, nil
	}
	return z.Select(v.rows).Dense(), nil
}

// forward returns the logits of all nodes of a by one forward pass.
func forward(m Model, a *adjacency, x mat.Matrix, parameters []*mat.Dense) (*mat.Dense, error) {
	t := autodiff.NewTape().Values()
	vars := make([]*autodiff.Var, len(parameters))
	for i, p := range parameters {
		vars[i] = t.Var(p)
	}
	in := newInput(a, x)
	var z *mat.Dense
	if err := t.Within(a.ctx, func() error { z = m.Forward(t, in, vars).Value; return nil }); err != nil {
		return nil, err
	}
	if err := cmp.Or(in.Err(), a.failed); err != nil {
		return nil, err
	}
	if z.Rows != a.nodes {
		return nil, fmt.Errorf("model %s returns logits of %d nodes, expected %d", m.Name(), z.Rows, a.nodes)
	}
	return z, nil
}

// scope is the part of a View that several training runs share. It keeps results that do not depend on weights. It is
// safe for concurrent use.
type scope struct {
	adj  *mat.CSR
	x    mat.Matrix
	rows []int32 // the requested nodes; nil means all

	// keep says that propagated features are kept for the next call. They are worth their memory if there are many calls.
	keep bool
	// units limits the number of hidden units, over all nodes, that are computed together if X is not dense.
	units int

	stream *stream // computes the logits if the graph is larger than the memory limit; else nil
	// classes and spill limit the memory if a stream reads the graph in order. classes is the number of columns of the
	// last layer that are propagated together; 0 means all. If not all are, the projections are stored in spill, which is
	// in a file.
	classes int
	spill   []float32
	ready   bool // kept holds every P·X, so x is not read

	mu        sync.Mutex
	operators [rules]*graph.Operator
	fields    []*field
	reach     *reach.Set // of the last field, unless that is the full graph
	whole     field

	keptMu sync.Mutex
	kept   []kept
	some   map[*field]*mat.CSR // rows of a sparse X
	room   int                 // the number of values that may still be kept
}

// keptNumbers is the initial scope.room: 2 GiB, enough for one or two filters on 2.4 million nodes with 100 features.
// If P·X does not fit, each call recomputes it.
const keptNumbers = 1 << 29

// kept is P·X for a filter, at the nodes within the given number of hops of the rows.
type kept struct {
	filter filter
	hops   int
	px     mat.Matrix
}

// field is the set of nodes within a given number of hops of the rows: their receptive field.
type field struct {
	nodes []int32 // in ascending order unless hops is 0; nil means all nodes
	graph int     // the number of nodes of the graph

	located  sync.Once
	position []int32
}

// positions returns, for each node of the graph, its index in f.nodes, or −1 if it is outside the field. It returns nil
// if the field is the full graph.
func (f *field) positions() []int32 {
	f.located.Do(func() {
		if f.nodes == nil {
			return
		}
		f.position = memory.Filled(f.graph, int32(-1))
		for r, i := range f.nodes {
			f.position[i] = int32(r)
		}
	})
	return f.position
}

// located is a matrix with one row for each node of a field.
type located struct {
	*mat.Dense
	at *field
}

// place returns the index of node i of the graph in the field. positions must have been called.
func (f *field) place(i int32) int32 {
	if f.nodes == nil {
		return i
	}
	return f.position[i]
}

func newScope(adj *mat.CSR, x mat.Matrix, rows []int32, keep bool) *scope {
	return &scope{adj: adj, x: x, rows: rows, keep: keep, units: sparseUnits, room: keptNumbers}
}

// view returns a View of s with its own memory.
func (s *scope) view() *View { return &View{scope: s} }

func (s *scope) size(f *field) int {
	if f.nodes == nil {
		return s.adj.Rows
	}
	return len(f.nodes)
}

func (s *scope) operator(r rule) graph.Operator {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.operators[r] == nil {
		op := r.operator(s.adj, nil)
		s.operators[r] = &op
	}
	return *s.operators[r]
}

// field returns the nodes within the given number of hops of the rows. If they are at least nine tenths of the graph,
// it returns the full graph, because selecting rows would cost more than it saves.
func (s *scope) field(hops int) *field {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fields) == 0 {
		s.fields = append(s.fields, s.newField(s.rows, s.rows == nil))
	}
	for len(s.fields) <= hops {
		if from := s.fields[len(s.fields)-1]; from.nodes == nil {
			s.fields = append(s.fields, from)
			continue
		}
		if s.reach == nil {
			s.reach = reach.New(s.adj, s.rows)
		}
		s.reach.Grow()
		var nodes []int32
		for i, distance := range s.reach.Distance {
			if distance != reach.Unreached {
				nodes = append(nodes, int32(i))
			}
		}
		whole := nearlyAll(int64(len(nodes)), s.adj.Rows)
		if whole {
			s.reach = nil
		}
		s.fields = append(s.fields, s.newField(nodes, whole))
	}
	return s.fields[hops]
}

func (s *scope) newField(nodes []int32, whole bool) *field {
	if whole {
		return &s.whole
	}
	return &field{nodes: nodes, graph: s.adj.Rows}
}

// restrict returns the rows of x at the field to, which must be within the field of x. The result is in memory of v, or
// is x itself.
func (v *View) restrict(x located, to *field) *mat.Dense {
	if x.at == to {
		return x.Dense
	}
	index := to.nodes
	if x.at.nodes != nil {
		v.work.index = v.work.index[:0]
		position := x.at.positions()
		for _, i := range to.nodes {
			v.work.index = append(v.work.index, position[i])
		}
		index = v.work.index
	}
	dst := v.work.take()
	x.Gather(dst, index)
	return dst
}

// nearlyAll reports whether a field has at least nine tenths of all nodes, so that all are used instead.
func nearlyAll(n int64, all int) bool { return 10*n >= 9*int64(all) }

// workspace is memory that is reused between calls: matrices in the order in which they are taken.
type workspace struct {
	matrices []*mat.Dense
	taken    int
	index    []int32
	list     []*mat.Dense
}

func (w *workspace) reset() { w.taken = 0 }

// take returns a matrix with arbitrary shape and contents.
func (w *workspace) take() *mat.Dense {
	if w.taken == len(w.matrices) {
		w.matrices = append(w.matrices, &mat.Dense{})
	}
	w.taken++
	return w.matrices[w.taken-1]
}

package gnn

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// LossAndGradients returns the training loss without dropout and its gradients.
func LossAndGradients(m Model, s *Sample, parameters []*mat.Dense) (loss float64, gradients []*mat.Dense) {
	in, err := NewInput(context.Background(), s.Adj, s.X)
	if err != nil {
		panic(err)
	}
	t := autodiff.NewTape()
	var vars []*autodiff.Var
	for _, p := range parameters {
		vars = append(vars, t.Var(p))
	}
	logits := t.Rows(m.Forward(t, in, vars), s.Rows)
	y := t.CrossEntropy(logits, t.Var(autodiff.OneHot(s.labels(), s.Classes)))
	for _, g := range t.Grad(y, vars...) {
		gradients = append(gradients, g.Value)
	}
	return float64(y.Value.Data[0]), gradients
}

// Question asks for the logits of some nodes of a graph.
type Question struct {
	Adj   *mat.CSR
	X     mat.Matrix
	Nodes []int32 // nil: all
	Keep  bool    // keep P·X
	Room  int     // the bound on the numbers kept; 0: the usual one
	Units int     // the bound on the hidden units in a part where X is not dense; 0: the usual one
}

// Answer is the logits of two calls, and how many numbers the first call kept for the second.
type Answer struct {
	First, Second *mat.Dense
	Kept          int
}

// Ask asks twice.
func (q Question) Ask(ctx context.Context, m Model, parameters []*mat.Dense) (a Answer, err error) {
	s := newScope(q.Adj, q.X, q.Nodes, q.Keep)
	if q.Room > 0 {
		s.room = q.Room
	}
	if q.Units > 0 {
		s.units = q.Units
	}
	v := s.view()
	z, err := v.infer(ctx, m, parameters)
	if err != nil {
		return a, err
	}
	a.First = z.Clone()
	a.Second, err = v.infer(ctx, m, parameters)
	for _, k := range s.kept {
		a.Kept += len(k.px.(*mat.Dense).Data)
	}
	return a, err
}

// Stream returns a target for a mapped graph within a bound, in which the process itself takes no memory.
func Stream(g *graph.Graph, inductive bool, bound int64) (*Target, error) {
	mapped := *g
	mapped.Mapped = true
	t, err := TargetWithin(context.Background(), &mapped, inductive, 1)
	if err == nil {
		t.streams.bound, t.streams.process = bound, 0
	}
	return t, err
}

// Logits returns the logits of the validation and test nodes of t.
func Logits(ctx context.Context, t *Target, m Model, parameters []*mat.Dense) (logits []*mat.Dense, err error) {
	for _, s := range []*scope{t.validation, t.test} {
		z, err := s.view().infer(ctx, m, parameters)
		if err != nil {
			return nil, err
		}
		logits = append(logits, z.Clone())
	}
	return logits, nil
}

// FieldSize returns how many nodes inference sees within some hops of the given ones.
func FieldSize(adj *mat.CSR, nodes []int32, hops int) int {
	s := newScope(adj, nil, nodes, false)
	return s.size(s.field(hops))
}

// Dropped returns sparse features after dropout as training multiplies with them, and with their transpose.
func Dropped(x *mat.CSR, p float64, src rand.Source) (dropped, transposed *mat.Dense) {
	f := newFeatures(context.Background(), x)
	f.drop(p, src)
	identity := func(n int) *mat.Dense {
		m := mat.NewDense(n, n)
		for i := range n {
			m.Row(i)[i] = 1
		}
		return m
	}
	dropped, transposed = &mat.Dense{}, &mat.Dense{}
	f.Apply(dropped, identity(x.Cols))
	f.T().Apply(transposed, identity(x.Rows))
	return dropped, transposed
}

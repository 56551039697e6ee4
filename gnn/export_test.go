package gnn

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// LossAndGradients returns the training loss without dropout and its gradients.
func LossAndGradients(m Model, s *Sample, parameters []*mat.Dense) (loss float64, gradients []*mat.Dense) {
	in, err := NewInput(context.Background(), s.Adj, s.X)
	if err != nil {
		panic(err)
	}
	in = in.withLoss(s.Rows)
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

// Inference describes the logits to compute: those of some nodes of a graph.
type Inference struct {
	Adj   *mat.CSR
	X     mat.Matrix
	Nodes []int32 // nil: all
	Keep  bool    // whether to keep P·X
	Room  int     // the largest number of values to keep; 0 means the default
	Units int     // the largest number of hidden units in a part if X is not dense; 0 means the default
}

// Inferred holds the logits of two calls, the number of values that the first call kept for the second, and the size of
// the workspace after both.
type Inferred struct {
	First, Second *mat.Dense
	Kept, Held    int
}

// Run computes the logits twice.
func (i Inference) Run(ctx context.Context, m Model, parameters []*mat.Dense) (a Inferred, err error) {
	s := newScope(i.Adj, i.X, i.Nodes, i.Keep)
	if i.Room > 0 {
		s.room = i.Room
	}
	if i.Units > 0 {
		s.units = i.Units
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
	for _, m := range v.work.matrices {
		a.Held += cap(m.Data)
	}
	return a, err
}

// Stream returns a target for a mapped graph that is read in order within any limit, ignoring the memory of the process
// itself.
func Stream(g *graph.Graph, inductive bool, bound int64) (*Target, error) {
	mapped := *g
	mapped.Mapped = true
	t, err := TargetWithin(context.Background(), &mapped, inductive, 1)
	if err == nil {
		t.streams.bound, t.streams.process, t.streams.within = bound, 0, nil
	}
	return t, err
}

// MemoryOf returns the bytes that testing m in memory needs.
func MemoryOf(t *Target, m Model, hidden int) int64 { return t.memory(m, hidden, t.bound) }

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

// FieldSize returns the number of nodes that inference reads within hops hops of the given nodes.
func FieldSize(adj *mat.CSR, nodes []int32, hops int) int {
	s := newScope(adj, nil, nodes, false)
	return s.size(s.field(hops))
}

// Dropped returns sparse features after dropout, and their transpose, as training uses them.
func Dropped(x *mat.CSR, p float64, src rand.Source) (dropped, transposed *mat.Dense) {
	f := newFeatures(context.Background(), x)
	f.drop(p, src, false)
	return f.x.Dense(), f.xt.Dense()
}

// WithDropout exports Input.withDropout.
func WithDropout(in *Input, config Config, src rand.Source) *Input {
	return in.withDropout(config, src)
}

// Sparser exports sparser.
var Sparser = sparser

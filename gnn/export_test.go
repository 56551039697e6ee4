package gnn

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/autodiff"
	"github.com/graph-condensation/cgc/mat"
)

// Initial returns the parameters of a model as training starts with them.
func Initial(m Model, features, hidden, classes int, src rand.Source) []*mat.Dense {
	return initial(m.shapes(features, hidden, classes), src)
}

// LossAndGradients returns the training loss without dropout and its gradients.
func LossAndGradients(m Model, s *Sample, parameters []*mat.Dense) (loss float64, gradients []*mat.Dense) {
	forward, err := m.prepare(context.Background(), s, Config{})
	if err != nil {
		panic(err)
	}
	t := autodiff.NewTape()
	var vars []*autodiff.Var
	for _, p := range parameters {
		vars = append(vars, t.Var(p))
	}
	y := t.CrossEntropy(t.Rows(forward(t, vars, nil), s.Rows), t.Var(autodiff.OneHot(s.labels(), s.Classes)))
	for _, g := range t.Grad(y, vars...) {
		gradients = append(gradients, g.Value)
	}
	return float64(y.Value.Data[0]), gradients
}

// Ask returns the logits of the given nodes (nil: all), twice, so that what is kept from the first call serves the second.
func Ask(ctx context.Context, m Model, adj *mat.CSR, x mat.Matrix, nodes []int32, keep bool, parameters []*mat.Dense) (first, second *mat.Dense, err error) {
	v := newView(adj, x, nodes, keep)
	var w workspace
	if first, err = m.logits(ctx, v, &w, parameters); err != nil {
		return nil, nil, err
	}
	first = first.Clone()
	second, err = m.logits(ctx, v, &w, parameters)
	return first, second, err
}

// AskInParts is Ask for all nodes, with a bound on the hidden units that are kept at a time where X is sparse.
func AskInParts(ctx context.Context, m Model, adj *mat.CSR, x mat.Matrix, units int, parameters []*mat.Dense) (*mat.Dense, error) {
	v := newView(adj, x, nil, false)
	v.units = units
	return m.logits(ctx, v, &workspace{}, parameters)
}

// AskInRoom is Ask with a bound on the numbers that are kept from the first call. It returns how many were.
func AskInRoom(ctx context.Context, m Model, adj *mat.CSR, x mat.Matrix, room int, parameters []*mat.Dense) (first, second *mat.Dense, kept int, err error) {
	v := newView(adj, x, nil, true)
	v.room = room
	var w workspace
	if first, err = m.logits(ctx, v, &w, parameters); err != nil {
		return nil, nil, 0, err
	}
	first = first.Clone()
	second, err = m.logits(ctx, v, &w, parameters)
	for _, k := range v.kept {
		kept += len(k.px.Data)
	}
	return first, second, kept, err
}

// FieldSize returns how many nodes are within some hops of the given ones as far as inference is concerned.
func FieldSize(adj *mat.CSR, nodes []int32, hops int) int {
	v := newView(adj, nil, nodes, false)
	return v.size(v.field(hops))
}

// Dropped returns sparse features after dropout as training multiplies with them, and with their transpose.
func Dropped(x *mat.CSR, p float64, src rand.Source) (dropped, transposed *mat.Dense) {
	f := newFeatures(x)
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

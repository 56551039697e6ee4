package gnn_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/gnn/gnntest"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// TestFeaturesDropOutAlike checks that X and X·W drop the same features, and that a Reset changes which ones.
func TestFeaturesDropOutAlike(t *testing.T) {
	const n, d = 40, 30
	random := rand.New(rand.NewPCG(30, 1))
	identity := mat.NewDense(d, d)
	for i := range d {
		identity.Row(i)[i] = 1
	}
	for name, x := range map[string]mat.Matrix{"dense": mattest.Normal(n, d, random), "sparse": bags(n, d, true, random)} {
		constant := mattest.Must(gnn.NewInput(t.Context(), nil, x))
		c := gnn.Defaults()
		c.InputDropout = 0.5
		in := gnn.WithDropout(constant, c, rand.NewPCG(30, 2))
		tape := autodiff.NewTape()
		pass := func(in *gnn.Input) []float32 {
			tape.Reset()
			product, written := in.Times(tape.Var(identity)).Value, in.X(tape).Value
			if again := in.Times(tape.Var(identity)).Value; !slices.Equal(again.Data, product.Data) {
				t.Errorf("%s: two products of one pass differ", name)
			}
			if !slices.Equal(product.Data, written.Data) {
				t.Errorf("%s: X·I differs from X", name)
			}
			return slices.Clone(written.Data)
		}
		whole, first, second := pass(constant), pass(in), pass(in)
		if slices.Equal(first, second) || slices.Equal(first, whole) {
			t.Errorf("%s: features are not dropped out anew in each pass", name)
		}
		if !slices.Equal(pass(gnn.WithDropout(in, gnn.Config{}, nil)), whole) || !slices.Equal(pass(constant), whole) {
			t.Errorf("%s: dropout in one Input changes another", name)
		}
	}
}

func TestStaleAdjacency(t *testing.T) {
	tape := autodiff.NewTape()
	x := tape.Var(mat.NewDense(3, 2))
	in := gnn.VariableInput(tape.Var(mat.NewDense(3, 3)), x)
	in.Symmetric(x)
	tape.Reset()
	defer func() {
		if recover() == nil {
			t.Error("a variable A was used after Reset without a panic")
		}
	}()
	in.Symmetric(tape.Var(mat.NewDense(3, 2)))
}

// mlp is a model that ignores the graph. It computes logits for the requested nodes only.
type mlp struct{}

func (mlp) Name() string { return "mlp" }

func (mlp) Shapes(features, hidden, classes int) []gnn.Shape {
	return []gnn.Shape{
		{Rows: features, Cols: hidden}, {Rows: 1, Cols: hidden, Bias: true}, {Rows: hidden, Cols: classes},
	}
}

func (mlp) Forward(t *autodiff.Tape, in *gnn.Input, p []*autodiff.Var) *autodiff.Var {
	return t.MatMul(in.Dropout(t.ReLU(t.AddRow(in.Times(p[0]), p[1]))), p[2])
}

func (m mlp) Infer(ctx context.Context, v *gnn.View, p []*mat.Dense) (*mat.Dense, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows := v.Rows()
	if rows == nil {
		for i := range v.Adj().Rows {
			rows = append(rows, int32(i))
		}
	}
	x := new(mat.Dense)
	if err := mat.Rows(x, v.X(), rows); err != nil {
		return nil, err
	}
	in, err := gnn.NewInput(ctx, nil, x)
	if err != nil {
		return nil, err
	}
	t := autodiff.NewValueTape()
	return m.Forward(t, in, []*autodiff.Var{t.Var(p[0]), t.Var(p[1]), t.Var(p[2])}).Value, nil
}

func TestInferrer(t *testing.T) {
	var _ gnn.Inferrer = mlp{}
	gnntest.Test(t, mlp{})
}

func TestRegistry(t *testing.T) {
	names := gnn.Names()
	for i, m := range gnn.All() {
		if m.Name() != names[i] {
			t.Errorf("model %d is %s, its name %s", i, m.Name(), names[i])
		}
	}
	all := gnn.All()
	all[0] = nil
	if gnn.All()[0] == nil {
		t.Error("a caller changed the list of models")
	}
	defer func() {
		if recover() == nil {
			t.Error("a second gcn was registered")
		}
	}()
	gnn.Register(gnn.GCN())
}

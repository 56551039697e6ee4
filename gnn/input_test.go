package gnn_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/gnn/gnntest"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// TestFeaturesDropOutAlike checks that X and X·W drop the same features, and that other features are drawn after a
// Reset.
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
	mattest.Panics(t, "using a variable A after Reset", func() { in.Symmetric(tape.Var(mat.NewDense(3, 2))) })
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
	t := autodiff.NewTape().Values()
	return m.Forward(t, in, []*autodiff.Var{t.Var(p[0]), t.Var(p[1]), t.Var(p[2])}).Value, nil
}

func TestInferrer(t *testing.T) {
	var _ gnn.Inferrer = mlp{}
	gnntest.Test(t, mlp{})
}

func TestRegistry(t *testing.T) {
	names := gnn.Names()
	for i, m := range gnn.All() {
		mattest.Equal(t, m.Name(), names[i], "model %d is", i)
	}
	all := gnn.All()
	all[0] = nil
	if gnn.All()[0] == nil {
		t.Error("a caller changed the list of models")
	}
	mattest.Panics(t, "registering a second gcn", func() { gnn.Register(gnn.GCN()) })
}

func TestContract(t *testing.T) {
	eachVariant(t, func(t *testing.T, m gnn.Model) { gnntest.Test(t, m) })
}

// words returns dense bags of words. each is the number of words drawn for a row; a word may be drawn twice.
func words(n, d, each int, random *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, d)
	for i := range n {
		for range each {
			x.Row(i)[random.IntN(d)] = 1
		}
	}
	return x
}

// TestMostlyZeros checks that a wide dense X that is mostly zeros is multiplied as a sparse matrix. Dropout must be the
// same as for the dense X, and products must be equal up to rounding.
func TestMostlyZeros(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	x := words(300, 600, 12, random)
	for _, c := range []struct {
		x      mat.Matrix
		sparse bool
	}{{x, true}, {words(300, 500, 12, random), false}, {words(300, 600, 60, random), false}, {x.Sparse(), true}} {
		if _, is := gnn.Sparser(c.x).(*mat.CSR); is != c.sparse {
			rows, cols := c.x.Dims()
			t.Errorf("%T %d×%d is sparse: %v, want %v", c.x, rows, cols, is, c.sparse)
		}
	}
	in := mattest.Must(gnn.NewInput(t.Context(), ring(300), x))
	w := mattest.Normal(600, 16, random)
	for _, p := range []float64{0, 0.5} {
		config := gnn.Defaults()
		config.InputDropout = p
		tape := autodiff.NewTape()
		dense := gnn.WithDropout(gnn.VariableInput(nil, tape.Var(x)), config, rand.NewPCG(5, 6)).Times(tape.Var(w)).Value
		got := gnn.WithDropout(in, config, rand.NewPCG(5, 6)).Times(tape.Var(w)).Value
		for k, v := range dense.Data {
			// Sums of at most 24 products below 10, added in different orders.
			mattest.Near(t, float64(got.Data[k]), float64(v), 24*10*0x1p-23, "dropout %v: element %d is", p, k)
		}
	}
}

// watched hides the type of features and records how they are read.
type watched struct {
	mat.Matrix
	largest  *atomic.Int64 // the most rows read by one call
	readable *atomic.Int64 // the number of blocks until reading fails
}

var errGone = errors.New("the disk is gone")

func watch(x mat.Matrix) watched {
	w := watched{x, new(atomic.Int64), new(atomic.Int64)}
	w.readable.Store(math.MaxInt64)
	return w
}

func (w watched) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	if w.readable.Add(-1) < 0 {
		return errGone
	}
	w.largest.Store(max(w.largest.Load(), int64(len(rows))))
	return w.Matrix.ReadBlock(dst, rows, lo, hi)
}

// TestHalfPrecision compares targets and samples in half precision with dense targets and samples of the same numbers.
func TestHalfPrecision(t *testing.T) {
	read, dense := stored(t, blocks(400, 10, 3, 20), 0, mat.BF16)
	config := quick()
	config.Epochs = 10
	for _, inductive := range []bool{false, true} {
		one, other := newTarget(t, dense, inductive), newTarget(t, read, inductive)
		each(t, func(t *testing.T, m gnn.Model) {
			want, got := train(t, m, one.Sample(), one, config), train(t, m, other.Sample(), other, config)
			mattest.Equal(t, got.Losses, want.Losses, "inductive=%v: losses of a sample in half precision", inductive)
			// The order of propagation and the product with W differs, so rounding may change the class of one or two of 133
			// nodes.
			mattest.Near(t, got.Validation, want.Validation, 1.6, "inductive=%v: validation accuracy", inductive)
			mattest.Near(t, got.Test, want.Test, 1.6, "inductive=%v: test accuracy", inductive)
			a := mattest.Must(want.Trained.Logits(t.Context(), dense.Adj, dense.X))
			b := mattest.Must(want.Trained.Logits(t.Context(), read.Adj, read.X))
			tableOf(a).near(t, "logit", b, 4)
		})
	}
}

// TestBlocks checks that inference reads at most a few thousand rows at once.
func TestBlocks(t *testing.T) {
	const n, d = 20_000, 4
	random := rand.New(rand.NewPCG(21, 1))
	adj := ring(n)
	each(t, func(t *testing.T, m gnn.Model) {
		x := watch(mattest.Normal(n, d, random))
		trained := gnn.Trained{
			Model: m, Features: d, Hidden: 16, Classes: 3, Parameters: gnn.Initial(m, d, 16, 3, rand.NewPCG(1, 1)),
		}
		mattest.Must(trained.Logits(t.Context(), adj, x))
		if most := x.largest.Load(); most == 0 || most > n/2 {
			t.Errorf("%d rows of %d were read at once, want some thousands at most", most, n)
		}
	})
}

// TestReadingFails makes reading fail before and during training, in the target and in the sample.
func TestReadingFails(t *testing.T) {
	g := blocks(120, 6, 3, 22)
	sample := &gnn.Sample{X: mattest.Normal(9, 6, rand.New(rand.NewPCG(22, 1))), Y: make([]int32, 9), Classes: 3}
	each(t, func(t *testing.T, m gnn.Model) {
		x := watch(g.X)
		read := *g
		read.X = x
		target := newTarget(t, &read, false)
		x.readable.Store(2)
		_, err := gnn.Train(t.Context(), m, sample, target, quick(), rand.NewPCG(1, 1))
		mattest.WantIs(t, err, errGone)
		mattest.WantError(t, err, "reading features: ")
		x.readable.Store(0)
		_, err = gnn.Train(t.Context(), m, target.Sample(), target, quick(), rand.NewPCG(1, 1))
		mattest.WantIs(t, err, errGone)
		_, err = gnn.NewTarget(&read, false)
		mattest.WantIs(t, err, errGone)
	})
}

// TestInvalidGraphs checks the errors for invalid adjacencies.
func TestInvalidGraphs(t *testing.T) {
	for want, change := range map[string]func(a *mat.CSR){
		"no counterpart": func(a *mat.CSR) { // an edge in one direction
			a.Indices = append(a.Indices[:1:1], a.Indices[2:]...)
			for i := range a.Indptr[1:] {
				a.Indptr[i+1]--
			}
		},
		"do not ascend":   func(a *mat.CSR) { a.Indices[0], a.Indices[1] = a.Indices[1], a.Indices[0] },
		"must be 0 to 89": func(a *mat.CSR) { a.Indices[1] = 90 },
		"is a self-loop":  func(a *mat.CSR) { a.Indices[0] = 0 },
	} {
		g := &graph.Graph{
			Name: "ring", Adj: ring(90), X: mat.NewDense(90, 2), Y: make([]int32, 90), Classes: 2,
			Split: graph.Split{Val: []int32{0}, Test: []int32{1}},
		}
		good := newTarget(t, g, false)
		g.Adj.Indptr = slices.Clone(g.Adj.Indptr)
		bad := *g
		bad.Adj = &mat.CSR{Rows: 90, Cols: 90, Indptr: slices.Clone(g.Adj.Indptr), Indices: slices.Clone(g.Adj.Indices)}
		change(bad.Adj)
		mattest.Fails(t, want)(gnn.NewTarget(&bad, false))
		s := &gnn.Sample{Adj: bad.Adj, X: g.X, Y: g.Y, Classes: 2}
		mattest.Fails(t, want)(gnn.Train(t.Context(), gnn.GCN(), s, good, quick(), rand.NewPCG(1, 1)))
		trained := train(t, gnn.GCN(), good.Sample(), good, quick()).Trained
		mattest.Fails(t, want)(trained.Logits(t.Context(), bad.Adj, g.X))
	}
}

// Package gnntest tests that a gnn.Model satisfies its contract. Every model of package gnn passes these tests, and
// every other model should:
//
//	func TestModel(t *testing.T) { gnntest.Test(t, model{}) }
package gnntest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// Test tests m on small synthetic graphs:
//
//   - Forward returns finite logits of the right shape, and changes none of its inputs;
//   - gradients in parameters, X and A, once and twice, agree with differences;
//   - A and X give the same logits as constants and as variables; so do dense, sparse and streamed X;
//   - all representations of a graph without edges give the same logits;
//   - permuting the nodes permutes the logits;
//   - inference agrees with Forward, returns errors of reading X, and honours cancellation;
//   - training gives the same result for any number of threads, lowers the loss, changes no input and honours
//     cancellation.
func Test(t *testing.T, m gnn.Model) {
	t.Run("forward", func(t *testing.T) { forward(t, m) })
	t.Run("gradients", func(t *testing.T) { gradients(t, m) })
	t.Run("constants and variables", func(t *testing.T) { kinds(t, m) })
	t.Run("no edges", func(t *testing.T) { noEdges(t, m) })
	t.Run("renaming", func(t *testing.T) { renaming(t, m) })
	t.Run("inference", func(t *testing.T) { inference(t, m) })
	t.Run("training", func(t *testing.T) { training(t, m) })
	t.Run("stopping", func(t *testing.T) { stopping(t, m) })
}

const (
	nodes, features, hidden, classes = 9, 5, 8, 3
	rounding                         = 2e-5 // error of float32 logits, over a few layers of sums of a dozen products
)

// point is a graph and the parameters of a model.
type point struct {
	a, x       *mat.Dense
	y          []int32
	parameters []*mat.Dense
}

// at returns a random point: an unweighted graph, normally distributed features, and nonzero parameters.
func at(m gnn.Model, seed uint64) point {
	random := rand.New(rand.NewPCG(seed, 1))
	p := point{a: mat.NewDense(nodes, nodes), x: mattest.Normal(nodes, features, random)}
	for i := range nodes {
		p.y = append(p.y, int32(i%classes))
		for j := range i {
			if random.IntN(3) == 0 {
				p.a.Row(i)[j], p.a.Row(j)[i] = 1, 1
			}
		}
	}
	p.parameters = gnn.Initial(m, features, hidden, classes, rand.NewPCG(seed, 2))
	for k, s := range m.Shapes(features, hidden, classes) {
		if s.Bias {
			p.parameters[k] = mattest.Normal(s.Rows, s.Cols, random)
		}
	}
	return p
}

// adjacency returns the unweighted A.
func (p point) adjacency() *mat.CSR {
	a := p.a.Sparse()
	a.Data = nil
	return a
}

// copy returns a deep copy of p.
func (p point) copy() point {
	q := point{p.a.Clone(), p.x.Clone(), slices.Clone(p.y), nil}
	for _, w := range p.parameters {
		q.parameters = append(q.parameters, w.Clone())
	}
	return q
}

// sameAs fails the test unless p and q are bit-identical.
func (p point) sameAs(t *testing.T, q point) {
	t.Helper()
	same := slices.Equal(p.a.Data, q.a.Data) && slices.Equal(p.x.Data, q.x.Data) && slices.Equal(p.y, q.y)
	for k := range p.parameters {
		same = same && slices.Equal(p.parameters[k].Data, q.parameters[k].Data)
	}
	if !same {
		t.Error("an input was changed")
	}
}

// variables puts the parameters on a tape.
func (p point) variables(tape *autodiff.Tape) (vars []*autodiff.Var) {
	for _, w := range p.parameters {
		vars = append(vars, tape.Var(w))
	}
	return vars
}

// constant returns the logits for a constant graph.
func (p point) constant(t *testing.T, m gnn.Model, a *mat.CSR, x mat.Matrix) *mat.Dense {
	t.Helper()
	in := mattest.Must(gnn.NewInput(t.Context(), a, x))
	tape := autodiff.NewTape()
	z := m.Forward(tape, in, p.variables(tape)).Value
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return z
}

// variable returns the logits for a graph on the tape. A nil a has no edges.
func (p point) variable(m gnn.Model, a *mat.Dense) *mat.Dense {
	tape := autodiff.NewTape()
	var adj *autodiff.Var
	if a != nil {
		adj = tape.Var(a)
	}
	return m.Forward(tape, gnn.VariableInput(adj, tape.Var(p.x)), p.variables(tape)).Value
}

func forward(t *testing.T, m gnn.Model) {
	p := at(m, 1)
	before := p.copy()
	for name, z := range map[string]*mat.Dense{
		"constants": p.constant(t, m, p.adjacency(), p.x), "variables": p.variable(m, p.a),
	} {
		if z.Rows != nodes || z.Cols != classes {
			t.Fatalf("%s: logits are %d×%d, want %d×%d", name, z.Rows, z.Cols, nodes, classes)
		}
		if i, k, found, _ := mat.FirstNotFinite(t.Context(), z); found {
			t.Errorf("%s: logit (%d, %d) is %v", name, i, k, z.Row(i)[k])
		}
	}
	p.sameAs(t, before)
}

// near fails the test if logits differ by more than the constant rounding.
func near(t *testing.T, what string, got, want *mat.Dense) {
	t.Helper()
	if got.Rows != want.Rows || got.Cols != want.Cols {
		t.Fatalf("%s: logits are %d×%d, want %d×%d", what, got.Rows, got.Cols, want.Rows, want.Cols)
	}
	for i, v := range want.Data {
		mattest.Near(t, float64(got.Data[i]), float64(v), rounding*(1+math.Abs(float64(v))), "%s: logit %d is", what, i)
	}
}

func kinds(t *testing.T, m gnn.Model) {
	for seed := range uint64(3) {
		p := at(m, 10+seed)
		for i := range p.x.Data {
			if i%3 > 0 {
				p.x.Data[i] = 0 // so that sparse X is sparse
			}
		}
		want := p.variable(m, p.a)
		near(t, "constant A, dense X", p.constant(t, m, p.adjacency(), p.x), want)
		near(t, "constant A, sparse X", p.constant(t, m, p.adjacency(), p.x.Sparse()), want)
		near(t, "constant A, X that is read", p.constant(t, m, p.adjacency(), mattest.Distant{Of: p.x}), want)

		in := mattest.Must(gnn.NewInput(t.Context(), p.adjacency(), p.x))
		tape := autodiff.NewTape()
		near(t, "constant A, variable X", m.Forward(tape, in.With(nil, tape.Var(p.x)), p.variables(tape)).Value, want)
		near(t, "variable A, constant X", m.Forward(tape, in.With(tape.Var(p.a), nil), p.variables(tape)).Value, want)
	}
}

func noEdges(t *testing.T, m gnn.Model) {
	p := at(m, 20)
	want := p.constant(t, m, nil, p.x)
	empty := &mat.CSR{Rows: nodes, Cols: nodes, Indptr: make([]int64, nodes+1)}
	near(t, "adjacency without entries", p.constant(t, m, empty, p.x), want)
	near(t, "variable X", p.variable(m, nil), want)
	near(t, "variable A of zeros", p.variable(m, mat.NewDense(nodes, nodes)), want)
}

func renaming(t *testing.T, m gnn.Model) {
	p := at(m, 30)
	for i, w := range p.a.Data { // with the same weight for both directions of an edge
		p.a.Data[i] = w * (0.5 + float32((i/nodes+i%nodes)%4)/4)
	}
	q := p.copy()
	name := rand.New(rand.NewPCG(30, 3)).Perm(nodes) // node i becomes name[i]
	for i := range nodes {
		copy(q.x.Row(name[i]), p.x.Row(i))
		for j, w := range p.a.Row(i) {
			q.a.Row(name[i])[name[j]] = w
		}
	}
	want, renamed := p.constant(t, m, p.a.Sparse(), p.x), q.constant(t, m, q.a.Sparse(), q.x)
	got := mat.NewDense(nodes, classes)
	for i := range nodes {
		copy(got.Row(i), renamed.Row(name[i]))
	}
	near(t, "renamed nodes", got, want)
}

// trained returns m with the parameters of p.
func (p point) trained(m gnn.Model) *gnn.Trained {
	return &gnn.Trained{Model: m, Features: features, Hidden: hidden, Classes: classes, Parameters: p.parameters}
}

func inference(t *testing.T, m gnn.Model) {
	p := at(m, 40)
	before := p.copy()
	broken := errors.New("the disk is gone")
	want := p.constant(t, m, p.adjacency(), p.x)
	read := mattest.Distant{Of: p.x}
	for name, x := range map[string]mat.Matrix{"dense": p.x, "sparse": p.x.Sparse(), "read": read} {
		near(t, name+" X", mattest.Must(p.trained(m).Logits(t.Context(), p.adjacency(), x)), want)
	}
	read.Err = broken
	_, err := p.trained(m).Logits(t.Context(), p.adjacency(), read)
	mattest.WantIs(t, err, broken)
	z := mattest.Must(p.trained(m).Logits(t.Context(), nil, p.x))
	near(t, "no edges", z, p.constant(t, m, nil, p.x))
	p.sameAs(t, before)
}

// problem returns a graph whose classes differ in features, and its target.
func problem(t *testing.T) (*graph.Graph, *gnn.Target) {
	t.Helper()
	const n = 120
	random := rand.New(rand.NewPCG(50, 1))
	g := &graph.Graph{Name: "made", X: mattest.Normal(n, features, random), Y: make([]int32, n), Classes: classes}
	a := mat.NewDense(n, n)
	for i := range n {
		g.Y[i] = int32(i % classes)
		g.X.(*mat.Dense).Row(i)[i%classes] += 3
		for j := range i {
			if random.IntN(30) == 0 {
				a.Row(i)[j], a.Row(j)[i] = 1, 1
			}
		}
		part := []*[]int32{&g.Split.Train, &g.Split.Val, &g.Split.Test}[i/classes%3]
		*part = append(*part, int32(i))
	}
	g.Adj = a.Sparse()
	g.Adj.Data = nil
	target := mattest.Must(gnn.NewTarget(g, false))
	return g, target
}

func config() gnn.Config {
	c := gnn.Defaults()
	c.Hidden, c.Epochs, c.InputDropout = 16, 40, 0.1
	return c
}

func training(t *testing.T, m gnn.Model) {
	g, target := problem(t)
	adj, x, y := slices.Clone(g.Adj.Indices), g.X.(*mat.Dense).Clone(), slices.Clone(g.Y)
	var r *gnn.Result
	mattest.IgnoresThreads(t, func() any {
		r = mattest.Must(gnn.Train(t.Context(), m, target.Sample(), target, config(), rand.NewPCG(51, 1)))
		return []any{r.Losses, r.Accuracies, r.Test}
	})
	if begin, end := r.Losses[0], r.Losses[len(r.Losses)-1]; !(end < 0.9*begin) {
		t.Errorf("the loss goes from %v to %v in %d epochs, want it to fall", begin, end, len(r.Losses))
	}
	z := mattest.Must(r.Trained.Logits(t.Context(), g.Adj, g.X))
	test := z.Select(g.Split.Test).Dense()
	got, one := gnn.Accuracy(test, g.Labels(g.Split.Test)), 100/float64(len(g.Split.Test))
	some := mattest.Must(r.Trained.LogitsWithin(t.Context(), g, g.Split.Test, 0))
	mattest.Equal(t, gnn.Accuracy(some, g.Labels(g.Split.Test)), r.Test, "test accuracy of the test nodes' logits")
	near(t, "the test nodes", some, test)
	// Rounding may change the class of one node.
	mattest.Near(t, got, r.Test, 1.01*one, "test accuracy of the full graph's logits")
	if !slices.Equal(adj, g.Adj.Indices) || !slices.Equal(x.Data, g.X.(*mat.Dense).Data) || !slices.Equal(y, g.Y) {
		t.Error("training changed the graph")
	}
}

func stopping(t *testing.T, m gnn.Model) {
	g, target := problem(t)
	for _, last := range []int64{0, 3} { // cancelled before training, and during it
		ctx, cancel := context.WithCancel(t.Context())
		epochs := int64(0)
		ctx = progress.With(ctx, func(e progress.Event) {
			if epochs = e.Done; epochs == last {
				cancel()
			}
		})
		if last == 0 {
			cancel()
		}
		r, err := gnn.Train(ctx, m, target.Sample(), target, config(), rand.NewPCG(51, 1))
		if r != nil || !errors.Is(err, context.Canceled) || epochs != last {
			t.Errorf("training cancelled in epoch %d: %v, %v, last epoch %d, want %v", last, r, err, epochs, context.Canceled)
		}
		_, err = at(m, 60).trained(m).Logits(ctx, g.Adj, g.X)
		mattest.WantIs(t, err, context.Canceled)
		cancel()
	}
}

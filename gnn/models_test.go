package gnn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
)

// randomGraph returns an adjacency in which each pair is connected with probability p. Edges have weights if weighted
// is set.
func randomGraph(n int, p float64, weighted bool, random *rand.Rand) *mat.CSR {
	a := mat.NewDense(n, n)
	for i := range n {
		for j := range i {
			if random.Float64() < p {
				w := float32(1)
				if weighted {
					w = 0.5 + random.Float32()
				}
				a.Data[i*n+j], a.Data[j*n+i] = w, w
			}
		}
	}
	s := a.Sparse()
	if !weighted {
		s.Data = nil
	}
	return s
}

// ring connects each of n nodes with the next, so that neighbourhoods grow slowly.
func ring(n int) *mat.CSR { return circulant(n, 1) }

// circulant connects each of n nodes with the nodes at the given distances on both sides.
func circulant(n int, distances ...int) *mat.CSR {
	a := &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)}
	for i := range n {
		var row []int32
		for _, d := range distances {
			row = append(row, int32((i+d)%n), int32((i+n-d)%n))
		}
		slices.Sort(row)
		a.Indices = append(a.Indices, row...)
		a.Indptr[i+1] = int64(len(a.Indices))
	}
	return a
}

// bags returns sparse features in which about a third of the entries are 1. values says whether Data is set or nil.
func bags(rows, cols int, values bool, random *rand.Rand) *mat.CSR {
	d := mat.NewDense(rows, cols)
	for i := range d.Data {
		if random.IntN(3) == 0 {
			d.Data[i] = 1
		}
	}
	s := d.Sparse()
	if !values {
		s.Data = nil
	}
	return s
}

// parameters returns initial parameters with nonzero biases, so that tests detect missing biases.
func parameters(m gnn.Model, features, hidden, classes int, random *rand.Rand) []*mat.Dense {
	p := gnn.Initial(m, features, hidden, classes, rand.NewPCG(1, 1))
	for _, w := range p {
		if w.Rows == 1 {
			copy(w.Data, mattest.Normal(1, w.Cols, random).Data)
		}
	}
	return p
}

// near compares a float32 value with the reference. Values are sums of a few dozen products through two layers (or ten
// propagations in one), each rounded to 2⁻²⁴ ≈ 6e-8.
func near(got float32, want, size float64) bool {
	return math.Abs(float64(got)-want) <= 5e-6*(1+size)
}

func each(t *testing.T, f func(t *testing.T, m gnn.Model)) { eachOf(t, gnn.Names(), f) }

// variants are names of models with other parameters than the default.
var variants = []string{
	"gcn:layers=1", "gcn:layers=3", "sgc:hops=3", "sage:layers=4", "appnp:hops=3:alpha=0.3", "cheby:layers=3:order=1",
	"cheby:layers=1:order=3", "gat:heads=3",
}

// tested returns the models and the variants; without slow tests, only two variants.
func tested() []string {
	if slow.On() {
		return slices.Concat(gnn.Names(), variants)
	}
	return append(gnn.Names(), "gcn:layers=3", "cheby:layers=1:order=3")
}

// eachVariant calls f for all models that are tested.
func eachVariant(t *testing.T, f func(t *testing.T, m gnn.Model)) { eachOf(t, tested(), f) }

func eachOf(t *testing.T, names []string, f func(t *testing.T, m gnn.Model)) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) { f(t, mattest.Must(gnn.Parse(name))) })
	}
}

// TestFormulas compares logits with each model's formula, and gradients of the training loss with central differences.
// Both references are float64. It covers every kind of adjacency and features.
func TestFormulas(t *testing.T) {
	const n, d, hidden, classes = 7, 5, 8, 3
	random := rand.New(rand.NewPCG(2, 2))
	adjacencies := map[string]*mat.CSR{
		"none": nil, "plain": randomGraph(n, 0.4, false, random), "weighted": randomGraph(n, 0.4, true, random),
		"ring": ring(n),
	}
	rows := []int32{0, 2, 5, 6}
	few := []int32{3} // on the ring, the loss does not depend on all nodes, nor on all hidden units
	if hidden, inputs := gnn.FieldSize(ring(n), few, 1), gnn.FieldSize(ring(n), few, 2); hidden != 3 || inputs != 5 {
		t.Fatalf("%d nodes within one hop and %d within two, want 3 and 5", hidden, inputs)
	}
	features := map[string]mat.Matrix{
		"dense": mattest.Normal(n, d, random), "ones": bags(n, d, false, random), "sparse": bags(n, d, true, random),
	}
	eachVariant(t, func(t *testing.T, m gnn.Model) {
		for a, adj := range adjacencies {
			for x, features := range features {
				t.Run(fmt.Sprint(a, " ", x), func(t *testing.T) {
					s := &gnn.Sample{
						Adj: adj, X: features, Y: []int32{0, 1, 2, 0, 1, 2, 1}, Classes: classes, Rows: rows,
					}
					if a == "ring" {
						s.Rows = few
					}
					p := parameters(m, d, hidden, classes, rand.New(rand.NewPCG(3, 3)))
					var reference []table
					for _, w := range p {
						reference = append(reference, tableOf(w))
					}
					if adj != nil {
						trained := gnn.Trained{Model: m, Features: d, Hidden: hidden, Classes: classes, Parameters: p}
						want := referenceLogits(m, adj, tableOf(features), reference)
						want.near(t, "logit", mattest.Must(trained.Logits(t.Context(), adj, features)), 2)
					}
					loss, gradients := gnn.LossAndGradients(m, s, p)
					if want := referenceLoss(m, s, reference); !near(float32(loss), want, 0) {
						t.Errorf("loss %v, want %v", loss, want)
					}
					const h = 1e-5 // h²·f‴ and 1e-16/h are both below 1e-9
					for k, w := range reference {
						for i := range w {
							for j, at := range w[i] {
								w[i][j] = at + h
								up := referenceLoss(m, s, reference)
								w[i][j] = at - h
								want := (up - referenceLoss(m, s, reference)) / (2 * h)
								w[i][j] = at
								if v := gradients[k].Row(i)[j]; !near(v, want, 0) {
									t.Fatalf("gradient (%d, %d) of parameter %d is %v, want %v", i, j, k, v, want)
								}
							}
						}
					}
				})
			}
		}
	})
}

// TestAskingForSomeNodes compares the logits of some nodes with the same rows of the logits of all nodes, with and
// without kept features, and with limits on what is kept from one call to the next. The graph is large enough for
// several blocks of rows. The order of additions is the same, so results must be bit-identical.
func TestAskingForSomeNodes(t *testing.T) {
	const n, d, hidden, classes = 9000, 6, 16, 4
	random := rand.New(rand.NewPCG(4, 4))
	adj := ring(n)
	var some []int32
	for i := int32(0); i < n/3; i++ {
		some = append(some, i)
	}
	mattest.Equal(t, gnn.FieldSize(adj, some, 2), len(some)+4, "nodes within two hops of an arc of %d:", len(some))
	for _, x := range []mat.Matrix{mattest.Normal(n, d, random), bags(n, d, true, random)} {
		eachVariant(t, func(t *testing.T, m gnn.Model) {
			p := parameters(m, d, hidden, classes, random)
			all := mattest.Must(gnn.Inference{Adj: adj, X: x}.Run(t.Context(), m, p))
			if !slices.Equal(all.First.Data, all.Second.Data) {
				t.Error("a second call differs from the first")
			}
			for _, keep := range []bool{false, true} {
				part := mattest.Must(gnn.Inference{Adj: adj, X: x, Nodes: some, Keep: keep}.Run(t.Context(), m, p))
				z := part.First
				if z.Rows != len(some) || !slices.Equal(z.Data, all.First.Data[:len(z.Data)]) {
					t.Errorf("keep=%v: logits of some nodes differ from their rows among all", keep)
				}
				if !slices.Equal(z.Data, part.Second.Data) {
					t.Errorf("keep=%v: a second call differs from the first", keep)
				}
			}
			if _, dense := x.(*mat.Dense); !dense {
				return
			}
			for _, room := range []int{1, n * d, 2 * n * d} {
				got := mattest.Must(gnn.Inference{Adj: adj, X: x, Keep: true, Room: room}.Run(t.Context(), m, p))
				if !slices.Equal(got.First.Data, all.First.Data) || !slices.Equal(got.Second.Data, all.First.Data) {
					t.Errorf("room for %d numbers: logits differ from those with nothing kept", room)
				}
				if got.Kept > room || m.Name() == "cheby" && got.Kept != room/(n*d)*n*d {
					t.Errorf("room for %d numbers: %d kept", room, got.Kept)
				}
			}
		})
	}
}

// TestHeadsOneByOne checks that GAT needs the memory of one head for sparse X, not of all eight.
func TestHeadsOneByOne(t *testing.T) {
	const n, d, hidden, classes = 3000, 6, 64, 4
	random := rand.New(rand.NewPCG(4, 6))
	m := mattest.Must(gnn.Parse("gat"))
	held := func(x mat.Matrix) int {
		p := parameters(m, d, hidden, classes, rand.New(rand.NewPCG(4, 7)))
		return mattest.Must(gnn.Inference{Adj: ring(n), X: x}.Run(t.Context(), m, p)).Held
	}
	const head = (n + d) * hidden / 8 // X times the weights of a head, and these weights
	dense, sparse := held(mattest.Normal(n, d, random)), held(bags(n, d, true, random))
	if sparse > dense+head {
		t.Errorf("%d values for sparse X, want at most %d more than the %d for dense X", sparse, head, dense)
	}
}

// TestUnitsInParts limits the hidden units that are computed together, for sparse X. The logits must stay the same, up
// to the rounding of a sum over 40 units.
func TestUnitsInParts(t *testing.T) {
	const n, d, hidden, classes = 9000, 6, 40, 20
	random := rand.New(rand.NewPCG(4, 5))
	adj, x := ring(n), bags(n, d, true, random)
	eachVariant(t, func(t *testing.T, m gnn.Model) {
		p := parameters(m, d, hidden, classes, random)
		want := mattest.Must(gnn.Inference{Adj: adj, X: x}.Run(t.Context(), m, p))
		for _, width := range []int{1, 32} {
			got := mattest.Must(gnn.Inference{Adj: adj, X: x, Units: width * n}.Run(t.Context(), m, p))
			for i, v := range want.First.Data {
				if z := got.First.Data[i]; math.Abs(float64(z-v)) > 1e-5*(1+math.Abs(float64(v))) {
					t.Fatalf("parts of %d units: logit %d is %v, want %v", width, i, z, v)
				}
			}
		}
	})
}

// blocks returns a graph whose classes differ in features and edges. Training, validation and test nodes are a third
// each.
func blocks(n, d, classes int, seed uint64) *graph.Graph {
	random := rand.New(rand.NewPCG(seed, 0))
	g := &graph.Graph{Name: "blocks", Y: make([]int32, n), Classes: classes}
	a, x := mat.NewDense(n, n), mattest.Normal(n, d, random)
	for i := range n {
		g.Y[i] = int32(random.IntN(classes))
		x.Row(i)[int(g.Y[i])%d] += 1
		for j := range i {
			p := 1.0
			if g.Y[i] == g.Y[j] {
				p = 6
			}
			if random.Float64() < p/float64(n) {
				a.Data[i*n+j], a.Data[j*n+i] = 1, 1
			}
		}
		part := []*[]int32{&g.Split.Train, &g.Split.Val, &g.Split.Test}[i%3]
		*part = append(*part, int32(i))
	}
	g.Adj, g.X = a.Sparse(), x
	g.Adj.Data = nil
	return g
}

func newTarget(t *testing.T, g *graph.Graph, inductive bool) *gnn.Target {
	t.Helper()
	return mattest.Must(gnn.NewTarget(g, inductive))
}

func train(t *testing.T, m gnn.Model, s *gnn.Sample, target *gnn.Target, c gnn.Config) *gnn.Result {
	t.Helper()
	return mattest.Must(gnn.Train(t.Context(), m, s, target, c, rand.NewPCG(11, 12)))
}

// TestThreads checks that results are bit-identical for any number of threads, with dropout on dense and sparse
// features.
func TestThreads(t *testing.T) {
	g := blocks(300, 20, 4, 1)
	sparse := *g
	sparse.X = bags(300, 20, true, rand.New(rand.NewPCG(8, 8)))
	c := gnn.Defaults()
	c.Hidden, c.InputDropout, c.Epochs = 64, 0.3, 3
	for _, g := range []*graph.Graph{g, &sparse} {
		each(t, func(t *testing.T, m gnn.Model) {
			mattest.IgnoresThreads(t, func() *gnn.Result {
				target := newTarget(t, g, false)
				r := train(t, m, target.Sample(), target, c)
				r.Seconds = 0
				return r
			})
		})
	}
}

// TestCausal checks that models see no later nodes of a causal graph: predictions are the same without these nodes.
// Training on the graph itself must work too.
func TestCausal(t *testing.T) {
	g := mattest.Must(blocks(300, 20, 4, 1).Causally(t.Context()))
	past := g.Induced(memory.Range(0, 200))
	c := gnn.Defaults()
	c.Hidden, c.Epochs = 16, 3
	each(t, func(t *testing.T, m gnn.Model) {
		target := newTarget(t, g, false)
		r := train(t, m, target.Sample(), target, c)
		all := mattest.Must(r.Trained.LogitsWithin(t.Context(), g, memory.Range(0, 200), 0))
		some := mattest.Must(r.Trained.LogitsWithin(t.Context(), past, memory.Range(0, 200), 0))
		for i, want := range some.Data {
			mattest.Near(t, float64(all.Data[i]), float64(want), 1e-5, "logit %d", i)
		}
	})
}

func TestMain(m *testing.M) { os.Exit(fixture.Offline(m)) }

// BenchmarkTrain runs 50 epochs on a condensed graph of 454 nodes with 128 features and 40 classes. The target has
// 50,000 nodes: 10,000 are validated every 10 epochs, and 10,000 more are tested at the end.
func BenchmarkTrain(b *testing.B) {
	const n, d, classes = 50_000, 128, 40
	random := rand.New(rand.NewPCG(1, 1))
	g := &graph.Graph{Adj: ring(n), X: mattest.Normal(n, d, random), Y: make([]int32, n), Classes: classes}
	for i := range int32(10_000) {
		g.Split.Val, g.Split.Test = append(g.Split.Val, i), append(g.Split.Test, 20_000+i)
	}
	target := mattest.Must(gnn.NewTarget(g, false))
	s := &gnn.Sample{Adj: randomGraph(454, 0.02, false, random), X: mattest.Normal(454, d, random), Classes: classes}
	for i := range int32(454) {
		s.Y = append(s.Y, i%classes)
	}
	c := gnn.Defaults()
	c.Epochs = 50
	for _, m := range gnn.All() {
		b.Run(m.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mattest.Must(gnn.Train(b.Context(), m, s, target, c, rand.NewPCG(1, 1)))
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*c.Epochs), "ms/epoch")
		})
	}
}

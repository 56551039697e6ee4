package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernelridge"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// weighted returns a graph of 7 nodes with weighted edges. The last node has no edges.
func weighted(t *testing.T) *graph.Graph {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 5))
	b := graph.Builder{Name: "weighted", X: mattest.Normal(7, 4, random), Y: []int32{0, 1, 0, 1, 0, 1, 0}, Classes: 2}
	b.Split.Train = []int32{0, 1, 3, 4, 6}
	b.Split.Val = []int32{2, 5}
	for _, e := range [][2]int{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {1, 5}} {
		b.AddWeightedEdge(e[0], e[1], 0.5+random.Float32())
	}
	g, _, err := b.Graph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var every = []int32{0, 1, 2, 3, 4, 5, 6}

// written returns M = D̃⁻¹(A+I) of g.
func written(t *testing.T, g *graph.Graph) *mat.Dense {
	t.Helper()
	m := new(mat.Dense)
	if err := graph.Mean(g.Adj).Apply(t.Context(), m, learn.Identity(g.Nodes())); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestBothSidesAgree checks that both kernels are equal if the condensed graph is the graph itself. One kernel uses
// sparse rows and neighbourhoods, the other dense products.
func TestBothSidesAgree(t *testing.T) {
	g := weighted(t)
	for _, s := range []structure{{1, 1}, {1, 3}, {2, 1}, {2, 2}} {
		side, err := s.of(t.Context(), g, every)
		if err != nil {
			t.Fatal(err)
		}
		tape := autodiff.NewTape()
		cross, own := s.between(tape, side, condensed{x: tape.Var(g.X.(*mat.Dense)), m: tape.Var(written(t, g))})
		for i, v := range cross.Value.Data {
			// κ₀ is steep near a cosine of 1, so that float32 causes an error of 10⁻⁴.
			if want := own.Value.Data[i]; !(math.Abs(float64(v-want)) <= 1e-3*math.Abs(float64(want))) {
				t.Errorf("%+v: entry %d is %v from the graph's side and %v from the condensed one", s, i, v, want)
			}
		}
		some, err := s.of(t.Context(), g, []int32{1, 4, 6})
		if err != nil {
			t.Fatal(err)
		}
		rows, _ := s.between(tape, some, condensed{x: tape.Var(g.X.(*mat.Dense)), m: tape.Var(written(t, g))})
		for r, v := range []int{1, 4, 6} {
			for j, got := range rows.Value.Row(r) {
				if want := cross.Value.Row(v)[j]; !(math.Abs(float64(got-want)) <= 1e-5) {
					t.Errorf("%+v: row of node %d alone is %v at %d, among all %v", s, v, got, j, want)
				}
			}
		}
	}
}

// TestOneHopIsWide checks that with one hop and one layer the kernel equals kernelridge.Wide.
func TestOneHopIsWide(t *testing.T) {
	g := weighted(t)
	s := structure{1, 1}
	side, err := s.of(t.Context(), g, every)
	if err != nil {
		t.Fatal(err)
	}
	tape := autodiff.NewTape()
	x := mattest.Normal(3, 4, rand.New(rand.NewPCG(1, 1)))
	got, _ := s.between(tape, side, condensed{x: tape.Var(x)})
	want, h := new(mat.Dense), new(mat.Dense)
	mat.Mul(h, written(t, g), g.X.(*mat.Dense))
	mat.MulTB(want, h, x)
	kernelridge.Wide(want, kernelridge.Norms(h), kernelridge.Norms(x))
	for i, v := range want.Data {
		if !(math.Abs(float64(v-got.Value.Data[i])) <= 1e-4) {
			t.Errorf("entry %d is %v, and %v of kernelridge.Wide", i, got.Value.Data[i], v)
		}
	}
}

// TestWideNetwork compares the kernel with the inner product of the gradients of a wide network with random weights,
//
//	H ← MH, then L times H ← √(2/m)·relu(HW),  and so K times;  f = Hw.
//
// averaged over 24 networks of m = 100 units. The standard deviation of one product is about 40%, that of the mean 8%.
func TestWideNetwork(t *testing.T) {
	const units, networks = 100, 24
	g := weighted(t)
	m := written(t, g)
	random := rand.New(rand.NewPCG(11, 3))
	for _, s := range []structure{{1, 2}, {2, 1}, {2, 2}} {
		var dots [7][7]float64
		for range networks {
			gradients := network(g, m, s, units, random)
			for i := range gradients {
				for j := range gradients {
					for k, v := range gradients[i] {
						dots[i][j] += float64(v) * float64(gradients[j][k]) / networks
					}
				}
			}
		}
		tape := autodiff.NewTape()
		_, own := s.between(tape, must(s.of(t.Context(), g, every)), condensed{x: tape.Var(g.X.(*mat.Dense)), m: tape.Var(m)})
		for i := range dots {
			for j, dot := range dots[i] {
				got := float64(own.Value.Row(i)[j])
				scale := math.Sqrt(float64(own.Value.Row(i)[i]) * float64(own.Value.Row(j)[j]))
				if !(math.Abs(got-dot) <= 0.2*scale) {
					t.Errorf("%+v: kernel of %d and %d is %.3f, networks of %d units give %.3f", s, i, j, got, units, dot)
				}
			}
		}
	}
}

// network returns the gradient of a random network's output at each node.
func network(g *graph.Graph, m *mat.Dense, s structure, units int, random *rand.Rand) [][]float32 {
	weights := []*mat.Dense{mattest.Normal(4, units, random)}
	for len(weights) < s.Hops*s.Layers {
		weights = append(weights, mattest.Normal(units, units, random))
	}
	weights = append(weights, mattest.Normal(units, 1, random))
	gradients := make([][]float32, g.Nodes())
	for v := range gradients {
		tape := autodiff.NewTape()
		h := tape.Var(g.X.(*mat.Dense))
		var on []*autodiff.Var
		for i, w := range weights {
			on = append(on, tape.Var(w))
			if i == len(weights)-1 {
				h = tape.MatMul(h, on[i])
				break
			}
			if i%s.Layers == 0 {
				h = tape.MatMul(tape.Var(m), h)
			}
			h = tape.Scale(float32(math.Sqrt(2/float64(units))), tape.ReLU(tape.MatMul(h, on[i])))
		}
		for _, d := range tape.Grad(tape.Rows(h, []int32{int32(v)}), on...) {
			gradients[v] = append(gradients[v], d.Value.Data...)
		}
	}
	return gradients
}

func must(s *side, err error) *side {
	if err != nil {
		panic(err)
	}
	return s
}

// TestGradient compares the gradients of the loss with differences. It covers X′ and Y′, with and without edges.
func TestGradient(t *testing.T) {
	g := weighted(t)
	for _, degree := range []float64{0, 2} {
		start, err := learn.Begin(t.Context(), g, 4, 1)
		if err != nil {
			t.Fatal(err)
		}
		start.Unit = 2 // so that a gradient that ignores the unit is detected
		s, err := newRegression(t.Context(), start, defaults(), degree)
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(2, 2))
		for _, m := range []*mat.Dense{s.x, s.labels} {
			for i := range m.Data {
				m.Data[i] += 0.3 * float32(random.NormFloat64()) // away from the rows of the graph, where κ₀ is not differentiable
			}
		}
		for which, m := range []*mat.Dense{s.x, s.labels} {
			// float32 kernels cause an error of 10⁻⁶ of the loss, divided by a step of 2·10⁻².
			what := fmt.Sprintf("degree %v, matrix %d", degree, which)
			learntest.Differences(t, what, m, nil, 1e-2, 3e-2, func() (float64, *mat.Dense, *mat.Dense) {
				loss, dx, dy, err := s.gradient(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return loss, [2]*mat.Dense{dx, dy}[which], nil
			})
		}
	}
}

// TestUnit checks that the loss does not depend on the unit of X′.
func TestUnit(t *testing.T) {
	start, err := learn.Begin(t.Context(), weighted(t), 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	var losses []float64
	for range 2 {
		r, err := newRegression(t.Context(), start, defaults(), 2)
		if err != nil {
			t.Fatal(err)
		}
		loss, _, _, err := r.gradient(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, loss)
		start.Unit *= 4 // multiplying by a power of two is exact
		for i := range start.X.Data {
			start.X.Data[i] /= 4
		}
	}
	if losses[0] != losses[1] {
		t.Errorf("losses %v in two units, want the same", losses)
	}
}

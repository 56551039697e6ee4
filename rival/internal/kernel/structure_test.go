package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/ntk"
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
	return mattest.First(b.Graph(t.Context()))
}

// TestBothSidesAgree checks that both kernels are equal if the condensed graph is the graph itself. One kernel uses
// sparse rows and neighbourhoods, the other dense products.
func TestBothSidesAgree(t *testing.T) {
	g := weighted(t)
	for _, s := range []structure{{1, 1, Average}, {1, 3, Average}, {2, 1, Average}, {2, 2, Average}, {2, 2, Add}} {
		side := mattest.Must(s.of(t.Context(), g.X.(*mat.Dense), g.Adj))
		tape := autodiff.NewTape()
		m := tape.Var(learntest.Written(t, g, s.operator))
		cross, own := s.between(tape, side, condensed{x: tape.Var(g.X.(*mat.Dense)), m: m})
		for i, v := range cross.Value.Data {
			// κ₀ is steep near a cosine of 1, so that float32 causes an error of 10⁻⁴.
			want := float64(own.Value.Data[i])
			mattest.Near(t, float64(v), want, 1e-3*math.Abs(want), "%+v: entry %d from the graph's side", s, i)
		}
	}
}

// TestOneHopIsWide checks that with one hop and one layer the kernel equals ntk.Kernel.
func TestOneHopIsWide(t *testing.T) {
	g := weighted(t)
	s := structure{1, 1, Average}
	side := mattest.Must(s.of(t.Context(), g.X.(*mat.Dense), g.Adj))
	tape := autodiff.NewTape()
	x := mattest.Normal(3, 4, rand.New(rand.NewPCG(1, 1)))
	got, _ := s.between(tape, side, condensed{x: tape.Var(x)})
	want, h := new(mat.Dense), new(mat.Dense)
	mat.Mul(h, learntest.Written(t, g, graph.Mean), g.X.(*mat.Dense))
	mat.MulTB(want, h, x)
	ntk.Kernel(want, ntk.Norms(h), ntk.Norms(x))
	for i, v := range want.Data {
		mattest.Near(t, float64(got.Value.Data[i]), float64(v), 1e-4, "entry %d is", i)
	}
}

// TestWideNetwork compares the kernel with the inner product of the gradients of a wide network with random weights,
//
//	H ← MH, then L times H ← √(2/m)·relu(HW),  and so K times;  f = Hw.
//
// averaged over 24 networks of m = 100 units. The standard deviation is about 40% for one product and 8% for the mean.
func TestWideNetwork(t *testing.T) {
	const units, networks = 100, 24
	g := weighted(t)
	m := learntest.Written(t, g, graph.Mean)
	random := rand.New(rand.NewPCG(11, 3))
	for _, s := range []structure{{1, 2, Average}, {2, 1, Average}, {2, 2, Average}} {
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
		x := g.X.(*mat.Dense)
		_, own := s.between(tape, mattest.Must(s.of(t.Context(), x, g.Adj)), condensed{x: tape.Var(x), m: tape.Var(m)})
		for i := range dots {
			for j, dot := range dots[i] {
				got := float64(own.Value.Row(i)[j])
				scale := math.Sqrt(float64(own.Value.Row(i)[i]) * float64(own.Value.Row(j)[j]))
				mattest.Near(t, got, dot, 0.2*scale, "%+v: kernel of %d and %d (want that of networks):", s, i, j)
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

// begin returns a regression for 4 condensed nodes of g.
func begin(t *testing.T, g *graph.Graph, degree float64) *regression {
	t.Helper()
	start := mattest.Must(learn.Begin(t.Context(), g, 4, 1))
	return mattest.Must(defaults().regression(degree)(t.Context(), start, rand.New(rand.NewPCG(2, 2))))
}

// TestGradient compares the gradients of the loss with central differences. It covers X′ and Y′, with and without
// edges.
func TestGradient(t *testing.T) {
	for _, degree := range []float64{0, 2} {
		differences(t, fmt.Sprint("degree ", degree), begin(t, weighted(t), degree))
	}
}

// differences compares the gradients of the loss of a regression with central differences.
func differences(t *testing.T, what string, r *regression) {
	t.Helper()
	for which, m := range []*mat.Dense{r.x, r.labels} {
		// float32 kernels cause a relative error of 10⁻⁶ in the loss, which is divided by 2·10⁻².
		what := fmt.Sprintf("%s, matrix %d", what, which)
		learntest.Differences(t, what, m, nil, 1e-2, 3e-2, func() (float64, *mat.Dense, *mat.Dense) {
			loss, dx, dy := gradient(t, r)
			return loss, [2]*mat.Dense{dx, dy}[which], nil
		})
	}
}

func gradient(t *testing.T, r *regression) (loss float64, dx, dy *mat.Dense) {
	t.Helper()
	loss, dx, dy, err := r.gradient(t.Context())
	mattest.OK(t, err)
	return loss, dx, dy
}

func propagated(t *testing.T, g *graph.Graph, x *mat.Dense) *mat.Dense {
	for range 3 {
		next := new(mat.Dense)
		mat.Mul(next, learntest.Written(t, g, graph.Symmetric), x)
		x = next
	}
	return x
}

// TestFilter checks the features of the kernel against a dense computation: columns are standardised over all nodes and
// then propagated three times over the full graph. The average of the kernel is only over training nodes.
func TestFilter(t *testing.T) {
	g := weighted(t)
	x := g.X.(*mat.Dense).Clone()
	for j := range x.Cols {
		mean, square := 0.0, 0.0
		for i := range x.Rows {
			mean += float64(x.Row(i)[j]) / 7
		}
		for i := range x.Rows {
			square += math.Pow(float64(x.Row(i)[j])-mean, 2) / 7
		}
		for i := range x.Rows {
			x.Row(i)[j] = float32((float64(x.Row(i)[j]) - mean) / math.Sqrt(square))
		}
	}
	mean, want := learntest.Written(t, g.Induced(g.Split.Train), graph.Mean), new(mat.Dense)
	mat.Mul(want, mean, propagated(t, g, x).Select(g.Split.Train).Dense())
	start := mattest.Must(learn.Begin(t.Context(), g, 4, 1))
	start.Unit = 1
	train := mattest.First(defaults().side(t.Context(), start))
	learntest.Close(t, "features", train.features, want, 1e-5)
}

// TestUnits checks that scaling and shifting the features leaves the loss unchanged and scales and shifts X′ alike.
func TestUnits(t *testing.T) {
	g := weighted(t)
	other := *g
	x := g.X.(*mat.Dense).Clone()
	for i := range x.Rows {
		for j := range x.Row(i) {
			x.Row(i)[j] = x.Row(i)[j]*float32(j+2) + 3
		}
	}
	other.X = x
	a, b := begin(t, g, 2), begin(t, &other, 2)
	before, after := mattest.Must(a.Epoch(t.Context(), 1, nil)), mattest.Must(b.Epoch(t.Context(), 1, nil))
	mattest.Near(t, after, before, 1e-5, "loss after scaling and shifting")
	want := a.Result().X
	for i := range want.Rows {
		for j := range want.Row(i) {
			want.Row(i)[j] = want.Row(i)[j]*float32(j+2) + 3
		}
	}
	learntest.Close(t, "X′", b.Result().X, want, 1e-3)
}

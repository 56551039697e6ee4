package learn_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// slow computes the formula of Pairs in float64.
func slow(p []*mat.Dense, x *mat.Dense) [][]float64 {
	n := x.Rows
	z := make([]float64, n*n)
	for r, row := range learntest.SecondLayer(p, learntest.FirstLayer(p, x)) {
		z[r] = float64(p[7].Data[0])
		for k := range row {
			z[r] += row[k] * float64(p[6].Data[k])
		}
	}
	a := make([][]float64, n)
	for i := range n {
		a[i] = make([]float64, n)
		for j := range n {
			if i != j {
				a[i][j] = 1 / (1 + math.Exp(-(z[i*n+j]+z[j*n+i])/2))
			}
		}
	}
	return a
}

// network returns a network whose parameters are all changed from their initial values.
func network(n, d, h int, random *rand.Rand) *learn.Pairs {
	p := learn.NewPairs(n, d, h, random)
	learntest.Shift(p.Parameters(), 0.2, random)
	return p
}

func TestPairsAreTheirFormula(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	p, x := network(7, 5, 4, random), mattest.Normal(7, 5, random)
	a, want := p.Forward(x), slow(p.Parameters(), x)
	for i := range want {
		for j, w := range want[i] {
			mattest.Near(t, float64(a.Row(i)[j]), w, 1e-5, "A′[%d][%d] is", i, j) // rounding of float32
		}
	}
}

// TestPairsGradients compares the gradients of Σ c_ij·A′_ij with central differences of the float64 formula.
func TestPairsGradients(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	n, d, h := 6, 5, 4
	p, x, c := network(n, d, h, random), mattest.Normal(n, d, random), mattest.Normal(n, n, random)
	p.Forward(x)
	gradients, dx := p.Backward(c, true, true)
	value := func() (sum float64) {
		for i, row := range slow(p.Parameters(), x) {
			for j, a := range row {
				sum += float64(c.Row(i)[j]) * a
			}
		}
		return sum
	}
	check := func(what string, m, g *mat.Dense) {
		// Few ReLUs change their state within a step. The tolerance comes from rounding A′ to float32.
		learntest.Differences(t, what, m, nil, 1e-4, 2e-3, func() (float64, *mat.Dense, *mat.Dense) {
			return value(), g, nil
		})
	}
	for i, m := range p.Parameters() {
		check([]string{"W", "gain 1", "shift 1", "V", "gain 2", "shift 2", "w", "b"}[i], m, gradients[i])
	}
	check("X", x, dx)
	if gradients, dx := p.Backward(c, false, true); gradients != nil || dx == nil {
		t.Error("gradients that were not asked for")
	}
}

// TestWeights checks that each layer is drawn within ±1/√(number of its inputs), and that a clone has its own memory.
func TestWeights(t *testing.T) {
	w := learn.NewWeights(25, 4, 3)
	before := w.Clone()
	w.Draw(rand.NewPCG(6, 7))
	for i, m := range w.All() {
		if most, limit := slices.Max(m.Data), []float32{0.2, 0.2, 0.5, 0.5}[i]; most <= 0 || most > limit {
			t.Errorf("parameter %d is up to %v, want at most %v", i, most, limit)
		}
		mattest.Equal(t, slices.Max(before.All()[i].Data), 0, "parameter %d of the clone is up to", i)
	}
}

// TestUniform checks that Uniform draws the same numbers as rand.Float64, from a PCG and from another source.
func TestUniform(t *testing.T) {
	sources := map[string]func() rand.Source{
		"PCG":     func() rand.Source { return rand.NewPCG(3, 4) },
		"ChaCha8": func() rand.Source { return rand.NewChaCha8([32]byte{5}) },
	}
	for name, source := range sources {
		random := rand.New(source())
		m := learn.Uniform(mat.NewDense(7, 5), 9, source())
		for i, got := range m.Data {
			mattest.Near(t, float64(got), (2*random.Float64()-1)/3, 1e-7, "%s: number %d is", name, i)
		}
	}
}

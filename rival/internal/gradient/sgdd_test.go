package gradient

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// smallGraphon returns a graphon for five nodes with four features. All its parameters are random.
func smallGraphon(random *rand.Rand) *graphon {
	edges, points := learn.NewPairs(5, 4, 3, random), learn.NewPairs(5, 1, 3, random)
	o := newGraphon(5, 0.75, edges.Parameters(), points.Parameters())
	learntest.Shift(o.Parameters(), 0.3, random)
	return o
}

// TestGraphonIsItsFormula compares A′ with its formula, computed pair by pair.
func TestGraphonIsItsFormula(t *testing.T) {
	random := rand.New(rand.NewPCG(29, 30))
	x, o := mattest.Normal(5, 4, random), smallGraphon(random)
	a := o.Forward(x).Clone()
	const n, h = 5, 3
	positions := &mat.Dense{Rows: n, Cols: 1, Data: []float32{-1, -0.5, 0, 0.5, 1}}
	times := func(g, c [][]float64) {
		for r, row := range g {
			for k := range row {
				row[k] *= c[r][k]
			}
		}
	}
	edges, points := o.edges.parameters, o.points.parameters
	c, g := learntest.FirstLayer(edges, x), learntest.FirstLayer(points, positions)
	times(g, c)
	c, g = learntest.SecondLayer(edges, c), learntest.SecondLayer(points, g)
	times(g, c)
	z := make([]float64, n*n)
	for r := range z {
		along, direct := float64(points[7].Data[0]), float64(edges[7].Data[0])
		for k := range h {
			along += g[r][k] * float64(points[6].Data[k])
			direct += c[r][k] * float64(edges[6].Data[k])
		}
		z[r] = 0.75*along + 0.25*direct
	}
	for i := range n {
		for j := range n {
			want := 1 / (1 + math.Exp(-(z[i*n+j]+z[j*n+i])/2))
			if i == j {
				want = 0
			}
			mattest.Near(t, float64(a.Row(i)[j]), want, 1e-5, "A′ at (%d, %d) is", i, j)
		}
	}
}

// TestGraphonDifferences compares the gradients with respect to X′ and to each parameter with central differences.
func TestGraphonDifferences(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 32))
	x, o := mattest.Normal(5, 4, random), smallGraphon(random)
	c := mattest.Normal(5, 5, random)
	value := func() (sum float64) {
		for i, v := range o.Forward(x).Data {
			sum += float64(v) * float64(c.Data[i])
		}
		return sum
	}
	learntest.Differences(t, "X′", x, nil, 1e-3, 1e-2, func() (float64, *mat.Dense, *mat.Dense) {
		loss := value()
		_, dx := o.Backward(c, false, true)
		return loss, dx, nil
	})
	for i, m := range o.Parameters() {
		learntest.Differences(t, "parameter", m, nil, 1e-3, 1e-2, func() (float64, *mat.Dense, *mat.Dense) {
			loss := value()
			gradients, _ := o.Backward(c, true, false)
			return loss, gradients[i], nil
		})
	}
}

// smallPlan returns a plan from a sample of twelve nodes to the given number of nodes.
func smallPlan(t *testing.T, nodes int) *plan {
	t.Helper()
	return mattest.Must(newPlan(t.Context(), learntest.Graph(t, false), 12, nodes, rand.NewPCG(25, 26)))
}

// structuralOf returns the terms for nodes of two classes.
func structuralOf(p *plan) *structural {
	s := &learn.Start{Y: []int32{0, 0, 1, 1, 1, 1}, First: []int{0, 2, 6}}
	o := newStructural(s, nil, sgdd{Smoothness: 0.5, Transport: 0.01}, p)
	o.learning = true
	return o
}

// terms returns the sum of the terms for A′, and its gradient.
func terms(t *testing.T, o *structural, a *mat.Dense) (loss float64, da *mat.Dense) {
	t.Helper()
	loss, da, err := o.terms(t.Context(), a)
	mattest.OK(t, err)
	return loss, da
}

// TestTermsDifferences compares the gradients with respect to A′ and to the plan with central differences.
func TestTermsDifferences(t *testing.T) {
	a, p := learntest.Symmetric(6, rand.New(rand.NewPCG(25, 26))), smallPlan(t, 6)
	for i := range p.weights.Rows {
		for j := range 6 {
			p.weights.Row(i)[j] += 0.2 // so that no step crosses a kink of |P|
		}
		p.weights.Row(i)[i%6] += 3 // so that QᵀKQ is far from singular, and its root is accurate
	}
	o := structuralOf(p)
	learntest.Differences(t, "A′", nil, a, 1e-2, 1e-2, func() (float64, *mat.Dense, *mat.Dense) {
		loss, da := terms(t, o, a)
		return loss, nil, da
	})
	learntest.Differences(t, "plan", p.weights, nil, 0.1, 5e-2, func() (float64, *mat.Dense, *mat.Dense) {
		loss, _ := terms(t, o, a)
		return loss, p.gradient, nil
	})
}

// TestSmoothnessIsItsFormula compares the terms of an epoch that does not train A′ with β·tr(YᵀL′Y), which is β/2·Σ_ij
// A′_ij·‖z_i − z_j‖² for the rows z_i of D^-½Y.
func TestSmoothnessIsItsFormula(t *testing.T) {
	a, o := learntest.Symmetric(6, rand.New(rand.NewPCG(25, 26))), structuralOf(smallPlan(t, 6))
	o.learning = false
	got := mattest.First(o.terms(t.Context(), a))
	degrees, y := make([]float64, 6), autodiff.OneHot([]int32{0, 0, 1, 1, 1, 1}, 2)
	for i := range degrees {
		for _, w := range a.Row(i) {
			degrees[i] += float64(w)
		}
	}
	var want float64
	for i, d := range degrees {
		for j, e := range degrees {
			for c := range 2 {
				diff := float64(y.Row(i)[c])/math.Sqrt(d) - float64(y.Row(j)[c])/math.Sqrt(e)
				want += 0.5 / 2 * float64(a.Row(i)[j]) * diff * diff
			}
		}
	}
	mattest.Near(t, got, want, 1e-5*want, "smoothness")
}

// TestDistanceOfOneDirection compares the distance with its closed form when M and K are multiples of I and Q has equal
// columns: tr C^½ = √(k/m)·‖q‖·√N′, because C has rank 1.
func TestDistanceOfOneDirection(t *testing.T) {
	const n, samples, m, k = 4, 8, 0.25, 3.0
	p := &plan{
		weights: learn.Filled(samples, n, 0.7), gradient: mat.NewDense(samples, n), inverse: learn.Identity(samples),
		tape: autodiff.NewTape(), first: make([]int32, samples),
	}
	for i := range p.inverse.Data {
		p.inverse.Data[i] *= k
	}
	l := factor.NewSymmetric(n)
	for i := range n {
		l.Row(i)[i] = m
	}
	q := 1 / math.Sqrt(samples) // its entries are 1/samples
	want := n*n/m - 2*math.Sqrt(k/m*n)*q
	mattest.Near(t, mattest.First(p.distance(t.Context(), l, 1)), want, 1e-5*want, "distance")
}

// TestTermsOfRepeatedEigenvalues checks that gradients are finite on a complete graph and on a graph without edges,
// although their eigenvalues repeat and the plan has fewer sampled nodes than condensed nodes.
func TestTermsOfRepeatedEigenvalues(t *testing.T) {
	for _, w := range []float32{1, 0} {
		a := learn.Filled(6, 6, w)
		for i := range 6 {
			a.Row(i)[i] = 0
		}
		p := smallPlan(t, 6)
		p.weights.Rows, p.weights.Data = 4, p.weights.Data[:24]
		p.gradient.Rows, p.gradient.Data = 4, p.gradient.Data[:24]
		p.inverse, p.first = learn.Identity(4), p.first[:4]
		loss, da := terms(t, structuralOf(p), a)
		for _, m := range []*mat.Dense{da, p.gradient} {
			row, col, is, err := mat.FirstNotFinite(t.Context(), m)
			if err != nil || is || math.IsNaN(loss) {
				t.Errorf("weight %v: terms %v, gradient not finite at (%d, %d): %v", w, loss, row, col, err)
			}
		}
	}
}

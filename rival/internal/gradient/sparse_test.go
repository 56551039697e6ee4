package gradient

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/adam"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// TestSparseIsDense checks that the relay on one pattern with all edges equals the dense relay.
func TestSparseIsDense(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	s, real, first := small(random)
	m := newMSGC()
	m.Patterns, m.Links = 1, 200
	o, p, err := newSparse(t.Context(), s, m, real, first, random)
	if err != nil {
		t.Fatal(err)
	}
	if edges := len(p.entries); edges != 49 {
		t.Fatalf("%d entries of 7 nodes that drew 200 others each, want 49", edges)
	}
	l := linearOn(s, m.Matching, real, first, &learn.Propagation{Hops: m.Hops})
	l.Restart(rand.NewPCG(1, 1))
	o.Restart(rand.NewPCG(1, 1))
	a := learntest.Symmetric(7, random)
	want, wantX, wantA, err := l.match(t.Context(), s.X, a, random)
	if err != nil {
		t.Fatal(err)
	}
	loss, dx, da, err := o.match(t.Context(), s.X, a, random)
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(loss-want) <= 1e-5*want) {
		t.Errorf("objective %v, want %v", loss, want)
	}
	learntest.Close(t, "dX", dx, wantX, 1e-4)
	for i := range 7 { // the diagonal of A′ is fixed
		wantA.Row(i)[i] = 0
	}
	learntest.Close(t, "dA", da, wantA, 1e-4)
}

// TestSparseDifferences compares gradients on several patterns with differences. Entries outside all patterns must have
// a zero gradient.
func TestSparseDifferences(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 24))
	s, real, first := small(random)
	m := newMSGC()
	m.Patterns, m.Links = 3, 1
	o, p, err := newSparse(t.Context(), s, m, real, first, random)
	if err != nil {
		t.Fatal(err)
	}
	o.Restart(random)
	a := learntest.Symmetric(7, random)
	differences(t, "msgc", o, s.X, a)
	_, _, da, err := o.match(t.Context(), s.X, a, random)
	if err != nil {
		t.Fatal(err)
	}
	outside := 0
	for i, share := range p.share.Data {
		if share == 0 {
			outside++
			if da.Data[i] != 0 {
				t.Errorf("entry %d is in no pattern and has the gradient %v", i, da.Data[i])
			}
		}
	}
	if outside <= 7 {
		t.Errorf("%d entries outside of all patterns, want more than the diagonal", outside)
	}
}

// term returns the spectral term of a.
func term(t *testing.T, o *spectral, a *mat.Dense) (float64, *mat.Dense) {
	t.Helper()
	loss, da, err := o.term(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return loss, da.Clone()
}

func TestSpectrumDifferences(t *testing.T) {
	a := learntest.Symmetric(6, rand.New(rand.NewPCG(25, 26)))
	o := &spectral{weight: 1, want: []float64{1.6, 1.5, 1, 0.8, 0.3, 0}, tape: autodiff.NewTape()}
	learntest.Differences(t, "spectrum", nil, a, 1e-2, 1e-2, func() (float64, *mat.Dense, *mat.Dense) {
		loss, da := term(t, o, a)
		return loss, nil, da
	})
}

// TestSpectrumOfRepeatedEigenvalues checks that gradients are finite on a complete graph and on a graph without edges,
// although their eigenvalues repeat.
func TestSpectrumOfRepeatedEigenvalues(t *testing.T) {
	for _, w := range []float32{1, 0} {
		a := mat.NewDense(6, 6)
		for i := range 6 {
			for j := range 6 {
				if i != j {
					a.Row(i)[j] = w
				}
			}
		}
		o := &spectral{weight: 1, want: []float64{1.6, 1.5, 1, 0.8, 0.3, 0}, tape: autodiff.NewTape()}
		loss, da := term(t, o, a)
		row, col, is, err := mat.FirstNotFinite(t.Context(), da)
		if err != nil || is || math.IsNaN(loss) {
			t.Errorf("weight %v: term %v, gradient not finite at (%d, %d): %v", w, loss, row, col, err)
		}
	}
}

// TestSpectrumFalls checks that gradient descent decreases the spectral term.
func TestSpectrumFalls(t *testing.T) {
	a := learntest.Symmetric(6, rand.New(rand.NewPCG(27, 28)))
	o := &spectral{weight: 1, want: []float64{1.9, 1.5, 1.4, 0.8, 0.3, 0}, tape: autodiff.NewTape()}
	begun, _ := term(t, o, a)
	steps := adam.New(0.01, a)
	for range 100 {
		_, da := term(t, o, a)
		sum := both(da)
		for i := range 6 {
			sum.Row(i)[i] = 0
		}
		steps.Step(sum)
		for i, w := range a.Data {
			a.Data[i] = max(0, w)
		}
	}
	if ended, _ := term(t, o, a); !(ended < begun/2) {
		t.Errorf("the term went from %v to %v, want less than half", begun, ended)
	}
}

// TestGraphon checks that A′ is the mixture of both networks, and that both receive gradients.
func TestGraphon(t *testing.T) {
	random := rand.New(rand.NewPCG(29, 30))
	x, grid := mattest.Normal(5, 4, random), mattest.Normal(5, 2, random)
	o := &graphon{share: 0.25, pairs: learn.NewPairs(5, 4, 3, random), points: learn.NewPairs(5, 2, 3, random), grid: grid}
	a := o.Forward(x).Clone()
	one, two := o.pairs.Forward(x).Clone(), o.points.Forward(grid).Clone()
	for i, v := range a.Data {
		if want := 0.75*one.Data[i] + 0.25*two.Data[i]; !(math.Abs(float64(v-want)) <= 1e-6) {
			t.Fatalf("entry %d is %v, want %v", i, v, want)
		}
	}
	c := mattest.Normal(5, 5, random)
	gradients, dx := o.Backward(c, true, true)
	if len(gradients) != len(o.Parameters()) || dx == nil {
		t.Fatalf("%d gradients for %d parameters", len(gradients), len(o.Parameters()))
	}
	last := gradients[len(gradients)-1].Data[0] // with respect to the bias of the second network
	bias := o.Parameters()[len(gradients)-1]
	value := func() (sum float64) {
		for i, v := range o.Forward(x).Data {
			sum += float64(v) * float64(c.Data[i])
		}
		return sum
	}
	bias.Data[0] += 0.05
	above := value()
	bias.Data[0] -= 0.1
	if want := (above - value()) / 0.1; !(math.Abs(float64(last)-want) <= 1e-3) {
		t.Errorf("gradient %v, difference %v", last, want)
	}
}

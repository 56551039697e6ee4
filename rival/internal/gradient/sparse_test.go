package gradient

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

// TestSparseIsDense checks that the relay on one pattern with all edges equals the dense relay.
func TestSparseIsDense(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	s, real, first := small(random)
	m := newMSGC()
	o := mattest.First(newSparse(t.Context(), s, m, real, first, [][]bool{slices.Repeat([]bool{true}, 49)}))
	l := linearOn(s, m.Matching, real, first, &learn.Propagation{Hops: m.Hops})
	l.Restart(rand.NewPCG(1, 1))
	o.Restart(rand.NewPCG(1, 1))
	a := learntest.Symmetric(7, random)
	want, wantX, wantA := matched(t, l, s.X, a, random)
	loss, dx, da := matched(t, o, s.X, a, random)
	mattest.Near(t, loss, want, 1e-5*want, "objective")
	learntest.Close(t, "dX", dx, wantX, 1e-4)
	for i := range 7 { // the diagonal of A′ is fixed
		wantA.Row(i)[i] = 0
	}
	learntest.Close(t, "dA", da, wantA, 1e-4)
}

// TestSparseDifferences compares gradients on several patterns with central differences. Entries outside all patterns
// must have a zero gradient.
func TestSparseDifferences(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 24))
	s, real, first := small(random)
	o, p, err := newSparse(t.Context(), s, newMSGC(), real, first, [][]bool{pattern(s, random), pattern(s, random)})
	mattest.OK(t, err)
	o.Restart(random)
	a := learntest.Symmetric(7, random)
	differences(t, "msgc", o, s.X, a)
	_, _, da := matched(t, o, s.X, a, random)
	outside := 0
	for i, share := range p.share.Data {
		if share == 0 {
			outside++
			mattest.Equal(t, da.Data[i], 0, "entry %d is in no pattern and has the gradient", i)
		}
	}
	if outside <= 7 {
		t.Errorf("%d entries outside of all patterns, want more than the diagonal", outside)
	}
}

// TestPattern checks that nodes in classes of ten have one or two neighbours of each such class. The only node of the
// last class must be linked to all other nodes. Two patterns must differ.
func TestPattern(t *testing.T) {
	s := &learn.Start{Budget: []int{10, 10, 0, 10, 1}, First: []int{0, 10, 20, 20, 30, 31}}
	for c, n := range s.Budget {
		s.Y = append(s.Y, slices.Repeat([]int32{int32(c)}, n)...)
	}
	random := rand.New(rand.NewPCG(1, 2))
	one, another := pattern(s, random), pattern(s, random)
	if slices.Equal(one, another) {
		t.Error("two patterns are the same")
	}
	for i := range s.Y {
		if !one[i*31+i] {
			t.Errorf("node %d is not linked to itself", i)
		}
		for c, n := range s.Budget {
			links := 0
			for j := s.First[c]; j < s.First[c+1]; j++ {
				if j != i && one[i*31+j] {
					links++
				}
				mattest.Equal(t, one[i*31+j], one[j*31+i], "nodes %d and %d are linked (want as in the other direction):", i, j)
			}
			switch {
			case n == 10 && i < 30 && (links < 1 || links > 2), i < 30 && n == 1 && links != 1, i == 30 && links != n-n%10:
				t.Errorf("node %d has %d links to the %d nodes of class %d", i, links, n, c)
			}
		}
	}
}

// TestWindow checks that the result is the mean over the epochs of the window with the smallest mean loss, and that
// learning ends after Patience epochs without a smaller mean.
func TestWindow(t *testing.T) {
	m := newMSGC()
	m.Window, m.Patience, m.Outer, m.Inner, m.Patterns, m.Epochs = 2, 3, 1, 0, 2, 200
	m.FeatureRate, m.StructureEpochs, m.FeatureEpochs = 0.02, 0, 0
	g := learntest.Graph(t, false)
	learner := func() *sparseLearner {
		return mattest.Must(m.begin(t.Context(), learntest.BeginOn(t, g), 1))
	}
	l := learner()
	var losses []float64
	var x []*mat.Dense
	done := false
	for epoch := 1; !done; epoch++ {
		loss := mattest.Must(l.Epoch(t.Context(), epoch, learn.Source(1, epoch)))
		losses, x = append(losses, loss), append(x, l.X.Clone())
		var at int
		at, done = l.Chosen()
		least, best := math.Inf(1), 0
		for e := range losses {
			if mean := (losses[max(0, e-1)] + losses[e]) / 2; mean < least-1e-6 {
				least, best = mean, e
			}
		}
		if at != best+1 || done != (epoch-at == 3) {
			t.Fatalf("epoch %d of %v: chose %d, done %v, want %d", epoch, losses, at, done, best+1)
		}
		want := x[max(0, best-1)].Clone()
		for i, v := range x[best].Data {
			want.Data[i] = (want.Data[i] + v) / 2
		}
		learntest.Close(t, "X′", l.Result().X, want, 1e-6)
	}
	if len(losses) < 6 {
		t.Errorf("ended after %d epochs, want a loss that falls at first", len(losses))
	}
}

package gradient

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/adam"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// small returns a start with three classes, one of which has no nodes, and rows of training nodes.
func small(random *rand.Rand) (s *learn.Start, real *mat.Dense, first []int) {
	s = &learn.Start{
		Budget: []int{3, 0, 4}, Y: []int32{0, 0, 0, 2, 2, 2, 2}, First: []int{0, 3, 3, 7}, X: mattest.Normal(7, 5, random),
	}
	return s, mattest.Normal(11, 5, random), []int{0, 6, 6, 11}
}

// byTape computes the objective of the linear relay by its definition on a tape: the gradients of the cross entropy,
// their distance over the columns, and the gradients of this distance.
func byTape(l *linear, s *learn.Start, real *mat.Dense, first []int, x, a *mat.Dense) (
	loss float64, dx, da *mat.Dense,
) {
	t := autodiff.NewTape()
	vx, w, b := t.Var(x), t.Var(l.W), t.Var(l.B)
	z := vx
	var va *autodiff.Var
	if a != nil {
		va = t.Var(a)
		in := gnn.VariableInput(va, vx)
		for range l.Hops {
			z = in.Symmetric(z)
		}
	}
	gradients := func(z *autodiff.Var, c int32, n int) []*autodiff.Var {
		y := make([]int32, n)
		for i := range y {
			y[i] = c
		}
		logits := t.AddRow(t.MatMul(z, w), b)
		return t.Grad(t.CrossEntropy(logits, t.Var(autodiff.OneHot(y, l.classes))), w, b)
	}
	var total *autodiff.Var
	for c, n := range s.Budget {
		if n == 0 {
			continue
		}
		var rows []int32
		for i := s.First[c]; i < s.First[c+1]; i++ {
			rows = append(rows, int32(i))
		}
		from := block(real, first[c], first[c+1])
		g := gradients(t.Var(&from), int32(c), from.Rows)
		h := gradients(t.Rows(z, rows), int32(c), n)
		var distance *autodiff.Var
		if l.Distance == MSE {
			difference, bias := t.Sub(h[0], g[0]), t.Sub(h[1], g[1])
			distance = t.Add(t.Sum(t.Mul(difference, difference)), t.Sum(t.Mul(bias, bias)))
		} else {
			distance = byCosine(t, g[0], h[0])
		}
		distance = t.Scale(l.coeff[c], distance)
		if total == nil {
			total = distance
		} else {
			total = t.Add(total, distance)
		}
	}
	return outcome(t, total, vx, va)
}

// byCosine returns the sum of 1 − cosine over the columns.
func byCosine(t *autodiff.Tape, g, h *autodiff.Var) *autodiff.Var {
	n := g.Value.Cols
	length := func(v *autodiff.Var) *autodiff.Var { // differentiable even if all units of a column are inactive
		return t.Power(t.Add(t.ColumnSums(t.Mul(v, v)), t.Var(filled(n, tiny))), 0.5)
	}
	norm := t.Add(t.Mul(length(g), length(h)), t.Var(filled(n, guard)))
	cosines := t.Mul(t.ColumnSums(t.Mul(g, h)), t.Power(norm, -1))
	return t.Sum(t.Sub(t.Var(filled(n, 1)), cosines))
}

// outcome returns a loss and its gradients with respect to X′ and A′. da is nil if a is nil.
func outcome(t *autodiff.Tape, loss, x, a *autodiff.Var) (value float64, dx, da *mat.Dense) {
	value = float64(loss.Value.Data[0])
	if a == nil {
		return value, t.Grad(loss, x)[0].Value, nil
	}
	g := t.Grad(loss, x, a)
	return value, g[0].Value, g[1].Value
}

// TestLinearIsAutodiff compares the closed form with a tape that differentiates twice.
func TestLinearIsAutodiff(t *testing.T) {
	for _, distance := range []string{Cosine, MSE} {
		for _, structured := range []bool{false, true} {
			random := rand.New(rand.NewPCG(5, 6))
			s, real, first := small(random)
			m := NewGCond().Matching
			m.Distance = distance
			l := linearOn(s, m, real, first, &learn.Propagation{Hops: m.Hops})
			l.restart(random)
			var a *mat.Dense
			if structured {
				a = learntest.Symmetric(7, random)
			}
			loss, dx, da, err := l.match(t.Context(), s.X, a, random)
			if err != nil {
				t.Fatal(err)
			}
			want, wantX, wantA := byTape(l, s, real, first, s.X, a)
			if !(math.Abs(loss-want) <= 1e-5*want) {
				t.Errorf("%s: loss %v, want %v", distance, loss, want)
			}
			learntest.Close(t, distance+": dX", dx, wantX, 1e-4)
			if structured {
				learntest.Close(t, distance+": dA", da, wantA, 1e-4)
			}
		}
	}
}

// TestLinearDifferences compares the gradients with differences of the objective.
func TestLinearDifferences(t *testing.T) {
	for _, distance := range []string{Cosine, MSE} {
		random := rand.New(rand.NewPCG(7, 8))
		s, real, first := small(random)
		m := NewGCond().Matching
		m.Distance = distance
		l := linearOn(s, m, real, first, &learn.Propagation{Hops: m.Hops})
		l.restart(random)
		a := learntest.Symmetric(7, random)
		differences(t, distance, l, s.X, a)
	}
}

// differences compares the gradients of a relay with central differences.
func differences(t *testing.T, what string, r relay, x, a *mat.Dense) {
	t.Helper()
	value := func() float64 {
		loss, _, _, err := r.match(t.Context(), x, a, rand.NewPCG(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		return loss
	}
	_, dx, da, err := r.match(t.Context(), x, a, rand.NewPCG(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	dx, da = dx.Clone(), da.Clone()
	var largest float64
	for _, g := range dx.Data {
		largest = max(largest, math.Abs(float64(g)))
	}
	const step = 1e-2
	for i := range x.Data {
		old := x.Data[i]
		x.Data[i] = old + step
		above := value()
		x.Data[i] = old - step
		below := value()
		x.Data[i] = old
		want := (above - below) / (2 * step)
		if got := float64(dx.Data[i]); !(math.Abs(got-want) <= 1e-2*largest) { // from step² and rounding divided by the step
			t.Errorf("%s: dX[%d] is %v, difference %v", what, i, got, want)
		}
	}
	for i := range a.Rows {
		for j := range i { // both entries of an edge
			largest = max(largest, math.Abs(float64(da.Row(i)[j]+da.Row(j)[i])))
		}
	}
	for i := range a.Rows {
		for j := range i {
			old := a.Row(i)[j]
			set := func(w float32) { a.Row(i)[j], a.Row(j)[i] = w, w }
			set(old + step)
			above := value()
			set(old - step)
			below := value()
			set(old)
			want := (above - below) / (2 * step)
			if got := float64(da.Row(i)[j] + da.Row(j)[i]); !(math.Abs(got-want) <= 1e-2*largest) {
				t.Errorf("%s: dA[%d][%d] is %v, difference %v", what, i, j, got, want)
			}
		}
	}
}

// TestLinearFalls checks that gradient descent decreases the objective, and that training a relay decreases its cross
// entropy.
func TestLinearFalls(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	s, real, first := small(random)
	l := linearOn(s, NewGCond().Matching, real, first, &learn.Propagation{Hops: 2})
	l.restart(random)
	halves(t, l, s.X, 100, random)
	entropy := func() float64 {
		var logits mat.Dense
		mat.Mul(&logits, s.X, l.W)
		for i := range logits.Rows {
			for k := range logits.Row(i) {
				logits.Row(i)[k] += l.B.Data[k]
			}
		}
		return gnn.CrossEntropy(&logits, s.Y, 1)
	}
	before := entropy()
	if err := l.train(t.Context(), s.X, nil, 100); err != nil {
		t.Fatal(err)
	}
	if after := entropy(); !(after < before) {
		t.Errorf("cross entropy went from %v to %v", before, after)
	}
}

// BenchmarkLinear matches 70 condensed and 140 training nodes with 1433 features and 7 classes once, for A′ = I. "tape"
// uses package autodiff.
func BenchmarkLinear(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	s, first := &learn.Start{First: []int{0}, X: mattest.Normal(70, 1433, random)}, []int{0}
	for c := range 7 {
		s.Budget = append(s.Budget, 10)
		s.Y = append(s.Y, slices.Repeat([]int32{int32(c)}, 10)...)
		s.First, first = append(s.First, 10*(c+1)), append(first, 20*(c+1))
	}
	real := mattest.Normal(140, 1433, random)
	l := linearOn(s, NewGCond().Matching, real, first, &learn.Propagation{Hops: 2})
	l.restart(random)
	b.Run("written out", func(b *testing.B) {
		for b.Loop() {
			if _, _, _, err := l.match(b.Context(), s.X, nil, random); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("tape", func(b *testing.B) {
		for b.Loop() {
			byTape(l, s, real, first, s.X, nil)
		}
	})
}

// halves checks that gradient descent on x, without edges, decreases the objective to less than half.
func halves(t *testing.T, o relay, x *mat.Dense, steps int, random rand.Source) {
	t.Helper()
	descent := adam.New(0.01, x)
	var begun, ended float64
	for step := range steps {
		loss, dx, _, err := o.match(t.Context(), x, nil, random)
		if err != nil {
			t.Fatal(err)
		}
		if ended = loss; step == 0 {
			begun = loss
		}
		descent.Step(dx)
	}
	if !(ended < begun/2) {
		t.Errorf("the objective went from %v to %v in %d steps, want less than half", begun, ended, steps)
	}
}

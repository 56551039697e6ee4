package gradient

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// small returns a start with three classes, one of them empty, and rows of training nodes.
func small(random *rand.Rand) (s *learn.Start, real *mat.Dense, first []int) {
	s = &learn.Start{
		Budget: []int{3, 0, 4}, Y: []int32{0, 0, 0, 2, 2, 2, 2}, First: []int{0, 3, 3, 7}, X: mattest.Normal(7, 5, random),
	}
	return s, mattest.Normal(11, 5, random), []int{0, 6, 6, 11}
}

// twice computes the objective of a relay by its definition on a tape: the gradients of the cross entropy of each
// class, their distance, and the gradients of this distance. logits returns the logits of the training nodes and of the
// condensed nodes of a class.
func twice(
	m Matching, coeff []float32, parameters []*mat.Dense, x, a *mat.Dense,
	logits func(t *autodiff.Tape, p []*autodiff.Var, x, a *autodiff.Var, c int) (real, own *autodiff.Var),
) (loss float64, dx, da *mat.Dense) {
	t := autodiff.NewTape()
	p := learn.Put(t, parameters)
	vx, va := learn.Variables(t, x, a)
	total := t.Var(mat.NewDense(1, 1))
	for c, weight := range coeff {
		if weight == 0 {
			continue
		}
		gradients := func(logits *autodiff.Var) []*autodiff.Var {
			y := autodiff.OneHot(slices.Repeat([]int32{int32(c)}, logits.Value.Rows), len(coeff))
			return t.Grad(t.CrossEntropy(logits, t.Var(y)), p...)
		}
		real, own := logits(t, p, vx, va, c)
		g, h := gradients(real), gradients(own)
		for i := range g {
			var distance *autodiff.Var
			if m.Distance == MSE {
				difference := t.Sub(h[i], g[i])
				distance = t.Sum(t.Mul(difference, difference))
			} else if i%2 == 0 { // biases are not part of the cosine distance
				distance = byCosine(t, g[i], h[i])
			} else {
				continue
			}
			total = t.Add(total, t.Scale(weight, distance))
		}
	}
	return learn.Gradients(total, vx, va)
}

// byTape returns what twice returns for the linear relay.
func byTape(l *linear, s *learn.Start, real *mat.Dense, first []int, x, a *mat.Dense) (
	loss float64, dx, da *mat.Dense,
) {
	logits := func(t *autodiff.Tape, p []*autodiff.Var, x, a *autodiff.Var, c int) (_, _ *autodiff.Var) {
		z := x
		if a != nil {
			in := gnn.VariableInput(a, x)
			for range l.Hops {
				z = in.Symmetric(z)
			}
		}
		var rows []int32
		for i := s.First[c]; i < s.First[c+1]; i++ {
			rows = append(rows, int32(i))
		}
		from := t.Var(block(real, first[c], first[c+1]))
		return t.AddRow(t.MatMul(from, p[0]), p[1]), t.AddRow(t.MatMul(t.Rows(z, rows), p[0]), p[1])
	}
	return twice(l.Matching, l.coeff, []*mat.Dense{l.W, l.B}, x, a, logits)
}

// byCosine returns the sum of 1 − cosine over the columns.
func byCosine(t *autodiff.Tape, g, h *autodiff.Var) *autodiff.Var {
	n := g.Value.Cols
	length := func(v *autodiff.Var) *autodiff.Var { // differentiable even if the unit of a column is inactive at all nodes
		return t.Power(t.Add(t.ColumnSums(t.Mul(v, v)), t.Var(learn.Filled(1, n, tiny))), 0.5)
	}
	norm := t.Add(t.Mul(length(g), length(h)), t.Var(learn.Filled(1, n, guard)))
	cosines := t.Mul(t.ColumnSums(t.Mul(g, h)), t.Power(norm, -1))
	return t.Sum(t.Sub(t.Var(learn.Filled(1, n, 1)), cosines))
}

// TestLinearIsAutodiff compares the closed form with a tape that differentiates twice.
func TestLinearIsAutodiff(t *testing.T) {
	for _, distance := range []string{Cosine, MSE} {
		for _, structured := range []bool{false, true} {
			random := rand.New(rand.NewPCG(5, 6))
			s, real, first := small(random)
			m := newGCond().Matching
			m.Distance = distance
			l := linearOn(s, m, real, first, &learn.Propagation{Hops: m.Hops})
			l.Restart(random)
			var a *mat.Dense
			if structured {
				a = learntest.Symmetric(7, random)
			}
			loss, dx, da := matched(t, l, s.X, a, random)
			want, wantX, wantA := byTape(l, s, real, first, s.X, a)
			mattest.Near(t, loss, want, 1e-5*want, "%s: loss", distance)
			learntest.Close(t, distance+": dX", dx, wantX, 1e-4)
			if structured {
				learntest.Close(t, distance+": dA", da, wantA, 1e-4)
			}
		}
	}
}

// differences compares the gradients of a relay with central differences.
func differences(t *testing.T, what string, r relay, x, a *mat.Dense) {
	t.Helper()
	learntest.Differences(t, what, x, a, 1e-2, 1e-2, func() (float64, *mat.Dense, *mat.Dense) {
		return matched(t, r, x, a, rand.NewPCG(0, 0))
	})
}

// matched returns the objective of a relay and its gradients.
func matched(t testing.TB, r relay, x, a *mat.Dense, src rand.Source) (loss float64, dx, da *mat.Dense) {
	t.Helper()
	loss, dx, da, err := r.match(t.Context(), x, a, src)
	mattest.OK(t, err)
	return loss, dx, da
}

// TestLinearLearns checks that training a relay decreases its cross entropy.
func TestLinearLearns(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	s, real, first := small(random)
	l := linearOn(s, newGCond().Matching, real, first, &learn.Propagation{Hops: 2})
	l.Restart(random)
	entropy := func() float64 {
		tape := autodiff.NewTape()
		logits := tape.AddRow(tape.MatMul(tape.Var(s.X), tape.Var(l.W)), tape.Var(l.B)).Value
		return gnn.CrossEntropy(logits, s.Y, 1)
	}
	before := entropy()
	mattest.OK(t, l.train(t.Context(), s.X, nil, 100))
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
	l := linearOn(s, newGCond().Matching, real, first, &learn.Propagation{Hops: 2})
	l.Restart(random)
	b.Run("written out", func(b *testing.B) {
		for b.Loop() {
			matched(b, l, s.X, nil, random)
		}
	})
	b.Run("tape", func(b *testing.B) {
		for b.Loop() {
			byTape(l, s, real, first, s.X, nil)
		}
	})
}

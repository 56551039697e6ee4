package distribution

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

func TestMeansDifferences(t *testing.T) {
	for _, relay := range []string{GCN, SGC} {
		for _, structured := range []bool{false, true} {
			s := learntest.Begin(t)
			m := newGCDM().Means
			m.Relay, m.Hidden = relay, 7
			e := mattest.Must(newMeans(t.Context(), s, m))
			random := rand.New(rand.NewPCG(5, 5))
			learn.DrawLayer(e.w, e.b, random)
			for i := range e.b.Data {
				e.b.Data[i] += 2 // so that no ReLU changes its state within a step
			}
			var a *mat.Dense
			if structured {
				a = learntest.Symmetric(9, random)
			}
			e.real()
			learntest.Differences(t, relay, s.X, a, 2e-3, 2e-2, func() (float64, *mat.Dense, *mat.Dense) {
				return e.match(s.X, a, true)
			})
			if _, dx, da := e.match(s.X, a, false); structured && (dx != nil || da == nil) {
				t.Error("without features, want the gradient by A′ alone")
			}
		}
	}
}

// TestRealMeans compares the class means of the training nodes with the embeddings of the full graph.
func TestRealMeans(t *testing.T) {
	s := learntest.Begin(t)
	m := newGCDM().Means
	m.Hidden = 4
	e := mattest.Must(newMeans(t.Context(), s, m))
	learn.DrawLayer(e.w, e.b, rand.NewPCG(1, 1))
	e.real()
	tape := autodiff.NewTape()
	a, x := tape.Var(learntest.Written(t, s.Graph, graph.Symmetric)), tape.Var(s.Graph.X.(*mat.Dense))
	xw := tape.Scale(1/s.Unit, tape.MatMul(x, tape.Var(e.w)))
	all := tape.MatMul(a, tape.ReLU(tape.AddRow(tape.MatMul(a, xw), tape.Var(e.b)))).Value
	for c, nodes := range s.Train {
		for k := range m.Hidden {
			var want float64
			for _, v := range nodes {
				want += float64(all.Row(int(v))[k]) / float64(len(nodes))
			}
			mattest.Near(t, float64(e.mean.Row(c)[k]), want, 1e-5, "class %d, unit %d: mean", c, k)
		}
	}
}

// begun returns a start, the objective of SimGC with a small teacher and a threshold that removes edges, and A′.
func begun(t *testing.T, hops int) (*learn.Start, *moments, *mat.Dense) {
	t.Helper()
	s, m := learntest.Begin(t), newSimGC()
	m.Hops, m.TeacherHidden, m.TeacherEpochs, m.Threshold = hops, 7, 20, 0.3
	o := mattest.Must(newMoments(t.Context(), s, m, rand.NewPCG(1, 2)))
	return s, o, learntest.Symmetric(9, rand.New(rand.NewPCG(6, 9)))
}

func TestMomentsDifferences(t *testing.T) {
	s, o, a := begun(t, 2)
	o.Smoothness = 5 // so that the gradient with respect to A′ is well above the rounding errors of the objective
	learntest.Differences(t, "simgc", s.X, a, 4e-3, 2e-2, func() (float64, *mat.Dense, *mat.Dense) {
		return o.match(s.X, a)
	})
}

// TestMomentsAreTheirFormula compares the objective with its formula, computed in plain loops.
func TestMomentsAreTheirFormula(t *testing.T) {
	s, o, a := begun(t, 0)
	got, _, _ := o.match(s.X, a)
	rowsOf := func(c int) (real, own [][]float32) {
		all := s.Graph.X.(*mat.Dense)
		for _, v := range s.Train[c] {
			row := slices.Clone(all.Row(int(v)))
			for j := range row {
				row[j] /= s.Unit
			}
			real = append(real, row)
		}
		for i, y := range s.Y {
			if int(y) == c {
				own = append(own, s.X.Row(i))
			}
		}
		return real, own
	}
	moments := func(rows [][]float32, j int) (mean, deviation float64) {
		for _, row := range rows {
			mean += float64(row[j]) / float64(len(rows))
		}
		for _, row := range rows {
			deviation += (float64(row[j]) - mean) * (float64(row[j]) - mean) / float64(len(rows)-1)
		}
		return mean, math.Sqrt(deviation)
	}
	var want float64
	for c, n := range s.Budget {
		real, own := rowsOf(c)
		for j := range s.X.Cols {
			m1, d1 := moments(real, j)
			m2, d2 := moments(own, j)
			want += 10 * float64(n) / 9 * ((m1-m2)*(m1-m2) + (d1-d2)*(d1-d2)) / float64(s.X.Cols)
		}
	}
	tape := autodiff.NewTape()
	logits := learn.Logits(tape.Var(s.X), learn.Put(tape, o.teacher.All())).Value
	want += gnn.CrossEntropy(logits, s.Y, 1)
	var near, weight float64
	for i := range s.Y {
		for k, w := range a.Row(i) {
			if w < 0.3 {
				continue
			}
			for j, v := range s.X.Row(i) {
				diff := float64(v - s.X.Row(k)[j])
				near += float64(w) * math.Exp(-diff*diff/2) / float64(s.X.Cols)
			}
			weight += float64(w)
		}
	}
	want -= 0.1 * near / weight
	mattest.Near(t, got, want, 1e-5*math.Abs(want), "objective")
}

// TestOneNodeHasNoDeviation checks that the deviations of a class with one condensed node do not count.
func TestOneNodeHasNoDeviation(t *testing.T) {
	g := learntest.Graph(t, false)
	s := mattest.Must(learn.Begin(t.Context(), g, 3, 1))
	m := newSimGC()
	m.Hops, m.TeacherHidden, m.TeacherEpochs, m.Smoothness = 0, 7, 1, 0
	o := mattest.Must(newMoments(t.Context(), s, m, rand.NewPCG(1, 2)))
	means := mattest.Must(s.ClassMeans(t.Context(), 0))
	a := mat.NewDense(3, 3)
	all, _, _ := o.match(means, a)
	o.FeatureWeight = 0
	without, _, _ := o.match(means, a)
	mattest.Near(t, all, without, 1e-6, "objective of class means (want that without the features)")
}

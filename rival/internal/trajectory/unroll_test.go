package trajectory

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// problem holds the data, the start and the target of a student.
type problem struct {
	z, y          *mat.Dense
	start, target learn.Weights
}

// newProblem returns a random problem with soft labels.
func newProblem(n, d, h, c int, random *rand.Rand) problem {
	p := problem{
		z: mattest.Normal(n, d, random), y: mattest.Normal(n, c, random),
		start: learn.NewWeights(d, h, c).Draw(rand.NewPCG(1, 2)),
	}
	p.target = p.start.Clone()
	learntest.Shift(p.target.All(), 0.2, random)
	for i := range n {
		kernel.Softmax(p.y.Row(i))
	}
	return p
}

// match returns the objective of o and its gradients with respect to Z, Y and the rate.
func (p problem) match(t testing.TB, o *unroll, rate float64) (loss float64, dz, dy *mat.Dense, drate float64) {
	t.Helper()
	loss, dz, dy, drate, err := o.match(t.Context(), p.z, p.y, p.start, p.target, rate)
	mattest.OK(t, err)
	return loss, dz, dy, drate
}

// byTape computes the objective by its definition on a tape: every step is a gradient step on the tape, and the final
// distance is differentiated through all steps.
func (p problem) byTape(relu, root bool, steps int, rate float64) (loss float64, dz, dy *mat.Dense, drate float64) {
	t := autodiff.NewTape()
	z, y, pace := t.Var(p.z), t.Var(p.y), t.Var(learn.Filled(1, 1, float32(rate)))
	theta := learn.Put(t, p.start.All())
	for range steps {
		hidden := t.AddRow(t.MatMul(z, theta[0]), theta[1])
		if relu {
			hidden = t.ReLU(hidden)
		}
		entropy := t.CrossEntropy(t.AddRow(t.MatMul(hidden, theta[2]), theta[3]), y)
		for i, g := range t.Grad(entropy, theta...) {
			rates := t.MatMul(t.Var(learn.Filled(g.Value.Rows, 1, 1)), t.RepeatColumn(pace, g.Value.Cols))
			theta[i] = t.Sub(theta[i], t.Mul(rates, g))
		}
	}
	var end, whole *autodiff.Var
	add := func(sum, x *autodiff.Var) *autodiff.Var {
		square := t.Sum(t.Mul(x, x))
		if sum == nil {
			return square
		}
		return t.Add(sum, square)
	}
	for i, m := range p.target.All() {
		to := t.Var(m)
		end = add(end, t.Sub(theta[i], to))
		whole = add(whole, t.Sub(t.Var(p.start.All()[i]), to))
	}
	total := t.Mul(end, t.Power(whole, -1))
	if root {
		total = t.Power(total, 0.5)
	}
	g := t.Grad(total, z, y, pace)
	return float64(total.Value.Data[0]), g[0].Value, g[1].Value, float64(g[2].Value.Data[0])
}

// centred subtracts the mean of each row.
func centred(m *mat.Dense) *mat.Dense {
	c := m.Clone()
	for i := range c.Rows {
		var mean float32
		for _, v := range c.Row(i) {
			mean += v / float32(c.Cols)
		}
		for k := range c.Row(i) {
			c.Row(i)[k] -= mean
		}
	}
	return c
}

// TestUnrollIsAutodiff compares the gradients through an unroll with byTape.
func TestUnrollIsAutodiff(t *testing.T) {
	for _, c := range []struct{ relu, root bool }{{true, false}, {false, false}, {true, true}} {
		p := newProblem(7, 5, 6, 3, rand.New(rand.NewPCG(3, 4)))
		const steps, rate = 12, 0.4
		want, wantZ, wantY, wantRate := p.byTape(c.relu, c.root, steps, rate)
		o := unroll{relu: c.relu, root: c.root, steps: steps, stretch: 1}
		loss, dz, dy, drate := p.match(t, &o, rate)
		mattest.Near(t, loss, want, 1e-5*want, "loss")
		mattest.Near(t, drate, wantRate, 1e-4*math.Abs(wantRate), "gradient by the rate is")
		learntest.Close(t, "dZ", dz, wantZ, 1e-4)                   // rounding of float32
		learntest.Close(t, "dY", centred(dy), centred(wantY), 1e-4) // the rows of Y must continue to sum to 1
	}
}

// TestUnrollArrives checks that a student that reaches its target has a finite distance and finite gradients, although
// its squared distance may be slightly negative.
func TestUnrollArrives(t *testing.T) {
	for seed := range uint64(8) {
		p := newProblem(7, 5, 6, 3, rand.New(rand.NewPCG(seed, 4)))
		const rate = 0.4
		o := unroll{relu: true, root: true, steps: 12, stretch: 1}
		p.match(t, &o, rate)
		c := &o.now[0] // W₁_S = W₁_0 − ZᵀC
		var step mat.Dense
		mat.MulTA(&step, p.z, c)
		p.target = p.start.Clone()
		kernel.Axpy(-1, step.Data, p.target.W1.Data)
		for i := range c.Rows {
			kernel.Axpy(-1, c.Row(i), p.target.B1.Data)
		}
		copy(p.target.W2.Data, o.now[1].Data)
		copy(p.target.B2.Data, o.now[2].Data)
		loss, dz, dy, drate := p.match(t, &o, rate)
		if !(loss >= 0 && loss < 1e-2) || !kernel.Finite(dz.Data) || !kernel.Finite(dy.Data) || math.IsNaN(drate) {
			t.Errorf("seed %d: loss %v, gradient by the rate %v; all must be finite, and the loss near 0", seed, loss, drate)
		}
	}
}

// TestStretches checks that recomputed states give the same bits as stored ones.
func TestStretches(t *testing.T) {
	p := newProblem(7, 5, 6, 3, rand.New(rand.NewPCG(7, 8)))
	const steps = 23
	kept := unroll{relu: true, steps: steps, stretch: 1}
	loss, dz, _, drate := p.match(t, &kept, 0.3)
	for _, stretch := range []int{2, 5, 23, 30} {
		again := unroll{relu: true, steps: steps, stretch: stretch}
		gotLoss, got, _, gotRate := p.match(t, &again, 0.3)
		mattest.Equal(t, gotLoss, loss, "stretch %d: loss", stretch)
		mattest.Equal(t, gotRate, drate, "stretch %d: gradient by the rate", stretch)
		learntest.Close(t, "dZ", got, dz, 0)
	}
	const one = 4 * (70*256 + 256*7 + 7)
	for _, c := range []struct {
		bytes float64
		want  int
	}{{501 * one, 1}, {500 * one, 2}, {252 * one, 2}, {60 * one, 10}, {46 * one, 18}, {0, 23}} {
		if stretch, need := stretchFor(500, 70, 256, 7, c.bytes); stretch != c.want || stretch < 23 && need > c.bytes {
			t.Errorf("%v bytes: stretch %d takes %v, want %d", c.bytes, stretch, need, c.want)
		}
	}
}

// TestUnrollStops checks that match stops when its context is done.
func TestUnrollStops(t *testing.T) {
	p := newProblem(8, 6, 8, 3, rand.New(rand.NewPCG(9, 10)))
	o := unroll{relu: true, steps: 30, stretch: 4}
	_, _, _, _, err := o.match(mattest.Cancelled(t), p.z, p.y, p.start, p.target, 0.3)
	mattest.WantIs(t, err, context.Canceled)
}

// BenchmarkUnroll runs one student of the size used for Cora: 70 nodes, 1433 features, 256 units, 7 classes. "again"
// stores 45 of 500 states at a time and recomputes the others. "tape" differentiates through all steps at once, with
// W₁.
func BenchmarkUnroll(b *testing.B) {
	p := newProblem(70, 1433, 256, 7, rand.New(rand.NewPCG(1, 1)))
	for _, c := range []struct {
		name           string
		steps, stretch int
	}{{"500/kept", 500, 1}, {"500/again", 500, 23}, {"20/kept", 20, 1}} {
		b.Run(c.name, func(b *testing.B) {
			o := unroll{relu: true, steps: c.steps, stretch: c.stretch}
			for b.Loop() {
				p.match(b, &o, 0.05)
			}
		})
	}
	b.Run("20/tape", func(b *testing.B) {
		for b.Loop() {
			p.byTape(true, false, 20, 0.05)
		}
	})
}

package trajectory

import (
	"context"
	"math"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// unroll trains a student on the condensed nodes, and differentiates its final distance from the target state of an
// expert:
//
//	ℓ = ‖θ_S − θ*‖²/‖θ_0 − θ*‖²,  θ_{t+1} = θ_t − η·∇CE(σ(ZW₁ + b₁)W₂ + b₂, Y),
//
// where σ is ReLU or the identity; if root is set, the distance is √ℓ. Let D_t be the gradient of CE with respect to
// ZW₁ + b₁. W₁, the largest matrix, is never updated. With C_t = η·Σ_{τ<t} D_τ, N′×h,
//
//	W₁_t = W₁_0 − ZᵀC_t,  ZW₁_t + b₁_t = P − K·C_t,  P = ZW₁_0 + b₁_0,  K = ZZᵀ + 11ᵀ.
//
// A step then costs N′²·h operations instead of N′·d·h. The distance does not need W₁ either: with Δ = θ_0 − θ* and Q =
// ZΔ_W₁ + Δ_b₁, it is ‖Δ_W₁‖² + ‖Δ_b₁‖² − 2⟨Q, C⟩ + ⟨C, KC⟩ + ‖W₂_S − W₂*‖² + ‖b₂_S − b₂*‖².
//
// The gradient is propagated backwards through all steps, one at a time, so that the tape holds a single step. The
// state before each stretch of steps is stored, and the states within a stretch are recomputed. If the stretch is 1,
// all states are stored.
type unroll struct {
	relu    bool
	root    bool
	steps   int
	stretch int

	whole, step  *autodiff.Tape // K, P and Q as functions of Z; the current step
	k, p, y      *mat.Dense
	rate         float32
	kept, within []state   // the state before each stretch, and before each step of the current stretch
	now, g       state     // the current state, and the gradients with respect to it
	gk, gp, dy   mat.Dense // the gradients with respect to K, P and Y
}

// state holds the values that a step changes: C_t, W₂_t and b₂_t.
type state [3]mat.Dense

func (s *state) set(from *state) {
	for i := range s {
		s[i].Reshape(from[i].Dims())
		copy(s[i].Data, from[i].Data)
	}
}

// stretchFor returns the smallest stretch whose states fit into the given bytes, and their size. If none fits, it
// returns ⌈√steps⌉, which needs the least memory.
func stretchFor(steps, nodes, hidden, classes int, bytes float64) (stretch int, need float64) {
	one := 4 * (float64(nodes)*float64(hidden) + float64(hidden)*float64(classes) + float64(classes))
	least := int(math.Ceil(math.Sqrt(float64(steps))))
	for stretch = 1; ; stretch++ {
		need = one * float64((steps+stretch-1)/stretch+stretch)
		if need <= bytes || stretch >= least {
			return stretch, need
		}
	}
}

// at puts K, P, Y and a state on the tape of the step. It returns them and the gradients of the cross entropy with
// respect to P − KC, W₂ and b₂.
func (o *unroll) at(s *state) (constants, variables, gradients []*autodiff.Var) {
	t := o.step
	t.Reset()
	k, p, y := t.Var(o.k), t.Var(o.p), t.Var(o.y)
	c, w, b := t.Var(&s[0]), t.Var(&s[1]), t.Var(&s[2])
	u := t.Sub(p, t.MatMul(k, c))
	r := u
	if o.relu {
		r = t.ReLU(u)
	}
	entropy := t.CrossEntropy(t.AddRow(t.MatMul(r, w), b), y)
	return []*autodiff.Var{k, p, y}, []*autodiff.Var{c, w, b}, t.Grad(entropy, u, w, b)
}

// factor returns the factor by which a step multiplies gradient i before adding it to the state.
func (o *unroll) factor(i int) float32 {
	if i == 0 { // C is subtracted from W₁
		return o.rate
	}
	return -o.rate
}

// advance performs one training step.
func (o *unroll) advance(s *state) {
	_, _, gradients := o.at(s)
	for i, g := range gradients {
		kernel.Axpy(o.factor(i), g.Value.Data, s[i].Data)
	}
}

// retreat propagates the gradients g back from the state after a step to the state s before it. It returns the step's
// contribution to the gradient with respect to η.
func (o *unroll) retreat(s *state) (drate float64) {
	constants, variables, gradients := o.at(s)
	t := o.step
	total := t.Var(mat.NewDense(1, 1)) // ⟨g, change of the state⟩
	for i, d := range gradients {
		total = t.Add(total, t.Scale(o.factor(i), learn.Along(d, &o.g[i])))
	}
	to := []*mat.Dense{&o.gk, &o.gp, &o.dy, &o.g[0], &o.g[1], &o.g[2]}
	for i, g := range t.Grad(total, append(constants, variables...)...) {
		kernel.Add(to[i].Data, to[i].Data, g.Value.Data)
	}
	return float64(total.Value.Data[0]) / float64(o.rate)
}

// match returns ℓ, or √ℓ if root is set, and its gradients with respect to Z, Y and the rate η. The matrices are in o's
// memory and valid until the next call. If start equals target, all results are 0. If ctx is done, match returns ctx's
// error.
func (o *unroll) match(ctx context.Context, z, y *mat.Dense, start, target learn.Weights, rate float64) (
	loss float64, dz, dy *mat.Dense, drate float64, err error,
) {
	delta, norm := differences(start, target)
	o.dy.Reshape(y.Dims())
	clear(o.dy.Data)
	if norm == 0 { // the expert did not move, for example with only one class
		return 0, mat.NewDense(z.Dims()), &o.dy, 0, nil
	}
	if o.whole == nil {
		o.whole, o.step = autodiff.NewTape(), autodiff.NewTape()
	}
	t := o.whole
	t.Reset()
	vz := t.Var(z)
	k := t.Add(t.MatMulTB(vz, vz), t.Var(learn.Filled(z.Rows, z.Rows, 1)))
	p := t.AddRow(t.MatMul(vz, t.Var(start.W1)), t.Var(start.B1))
	q := t.AddRow(t.MatMul(vz, t.Var(delta.W1)), t.Var(delta.B1))
	o.k, o.p, o.y, o.rate = k.Value, p.Value, y, float32(rate)
	if err := o.forward(ctx, start); err != nil {
		return 0, nil, nil, 0, err
	}
	// Compute the distance and its gradients with respect to the last state, K and Q.
	c := &o.now[0]
	o.g.set(&o.now)
	mat.Mul(&o.g[0], k.Value, c)
	total := inner(delta.W1, delta.W1) + inner(delta.B1, delta.B1) + inner(&o.g[0], c) - 2*inner(q.Value, c)
	total += apart(&o.g[1], &o.now[1], target.W2) + apart(&o.g[2], &o.now[2], target.B2)
	kernel.Axpy(-1, q.Value.Data, o.g[0].Data)
	loss = total / norm
	scale := float32(2 / norm)
	if o.root {
		loss = math.Sqrt(max(0, loss))
		scale = float32(1 / (norm * max(loss, leastRoot)))
	}
	for i := range o.g {
		kernel.Scale(o.g[i].Data, scale, o.g[i].Data)
	}
	mat.MulTB(&o.gk, c, c)
	kernel.Scale(o.gk.Data, scale/2, o.gk.Data)
	gq := c.Clone()
	kernel.Scale(gq.Data, -scale, gq.Data)

	o.gp.Reshape(c.Dims())
	clear(o.gp.Data)
	if drate, err = o.backward(ctx); err != nil {
		return 0, nil, nil, 0, err
	}
	through := t.Add(learn.Along(k, &o.gk), t.Add(learn.Along(p, &o.gp), learn.Along(q, gq)))
	return loss, t.Grad(through, vz)[0].Value, &o.dy, drate, nil
}

// leastRoot is the smallest √ℓ by which the gradient is divided. A student that reaches its target has ℓ = 0, or
// slightly less because of rounding.
const leastRoot = 1e-6

// forward trains the student from start to its last state, which it stores in now.
func (o *unroll) forward(ctx context.Context, start learn.Weights) error {
	o.now.set(&state{*mat.NewDense(o.p.Dims()), *start.W2, *start.B2})
	if stretches := (o.steps + o.stretch - 1) / o.stretch; len(o.kept) != stretches {
		o.kept, o.within = make([]state, stretches), make([]state, o.stretch)
	}
	for t := range o.steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t%o.stretch == 0 {
			o.kept[t/o.stretch].set(&o.now)
		}
		o.advance(&o.now)
	}
	return nil
}

// backward propagates gradients back through all steps. It adds to gk, gp and dy, and returns the gradient with respect
// to the rate.
func (o *unroll) backward(ctx context.Context) (drate float64, err error) {
	for s := len(o.kept) - 1; s >= 0; s-- {
		states := o.within[:min(o.stretch, o.steps-s*o.stretch)]
		states[0].set(&o.kept[s])
		for i := range states[1:] {
			states[i+1].set(&states[i])
			o.advance(&states[i+1])
		}
		for i := range states {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			drate += o.retreat(&states[len(states)-1-i])
		}
	}
	return drate, nil
}

// differences returns θ_0 − θ* and its squared length.
func differences(start, target learn.Weights) (delta learn.Weights, norm float64) {
	delta = learn.NewWeights(start.W1.Rows, start.W1.Cols, start.W2.Cols)
	to := target.All()
	from := start.All()
	for i, d := range delta.All() {
		norm += apart(d, from[i], to[i])
	}
	return delta, norm
}

const sumChunk = 1 << 14 // the number of values that one goroutine sums

// apart sets dst to a − b and returns its squared length.
func apart(dst, a, b *mat.Dense) float64 {
	return parallel.Sum(len(a.Data), sumChunk, func(lo, hi int) (sum float64) {
		for i := lo; i < hi; i++ {
			d := a.Data[i] - b.Data[i]
			dst.Data[i] = d
			sum += float64(d) * float64(d)
		}
		return sum
	})
}

// inner returns the inner product of two matrices.
func inner(a, b *mat.Dense) float64 {
	return parallel.Sum(len(a.Data), sumChunk, func(lo, hi int) (sum float64) {
		for i := lo; i < hi; i++ {
			sum += float64(a.Data[i]) * float64(b.Data[i])
		}
		return sum
	})
}

package trajectory

import (
	"context"
	"math"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// weights are the parameters of a network with one hidden layer: W₁ (d×h), b₁ (1×h), W₂ (h×c) and b₂ (1×c).
type weights struct{ w1, b1, w2, b2 *mat.Dense }

func newWeights(features, hidden, classes int) weights {
	return weights{
		mat.NewDense(features, hidden), mat.NewDense(1, hidden), mat.NewDense(hidden, classes), mat.NewDense(1, classes),
	}
}

// all returns the parameters in order.
func (w weights) all() []*mat.Dense { return []*mat.Dense{w.w1, w.b1, w.w2, w.b2} }

// unroll trains a student on the condensed nodes, and differentiates its final distance from the target state of an
// expert:
//
//	ℓ = ‖θ_S − θ*‖²/‖θ_0 − θ*‖²,  θ_{t+1} = θ_t − η·∇CE(σ(ZW₁ + b₁)W₂ + b₂, Y),
//
// where σ is ReLU or the identity. Let D_t be the gradient of CE with respect to ZW₁ + b₁. W₁, the largest matrix, is
// never updated. With C_t = η·Σ_{τ<t} D_τ, N′×h,
//
//	W₁_t = W₁_0 − ZᵀC_t,  ZW₁_t + b₁_t = (ZW₁_0 + b₁_0) − K·C_t,  K = ZZᵀ + 11ᵀ.
//
// A step then costs N′²·h operations instead of N′·d·h. The distance does not need W₁ either: with Δ = θ_0 − θ* and Q =
// ZΔ_W₁ + Δ_b₁, it is ‖Δ_W₁‖² + ‖Δ_b₁‖² − 2⟨Q, C⟩ + ⟨C, KC⟩ + ‖W₂_S − W₂*‖² + ‖b₂_S − b₂*‖².
//
// The gradient is coded explicitly, because a tape cannot avoid W₁. With 70 nodes, 1433 features and 256 units, a tape
// takes 6 times as long for 5 steps and 9 times as long for 20 steps, and its memory grows with the steps
// (BenchmarkUnroll).
//
// The gradient is propagated backwards through all steps. The state (C_t, W₂_t, b₂_t) before each stretch of steps is
// stored, and the states within a stretch are recomputed. If the stretch is 1, all states are stored.
type unroll struct {
	relu    bool
	steps   int
	stretch int

	k, p, q             mat.Dense // K, ZW₁_0 + b₁_0, Q
	kept                []state   // the state before each stretch
	within              []state   // the states of the current stretch
	now                 state
	u, r, e, d, s       mat.Dense // computed by step
	back                mat.Dense
	gc, gw, gb          mat.Dense // gradients with respect to C, W₂ and b₂
	gk, gp              mat.Dense // gradients with respect to K and P
	gu, gr, ge, m, part mat.Dense // computed by retreat: G_U, its part through R, G_S, M, and summands
	dz, dy              mat.Dense
}

// state holds the values that a step changes.
type state struct{ c, w, b mat.Dense }

func (s *state) set(from *state) {
	for _, pair := range [][2]*mat.Dense{{&s.c, &from.c}, {&s.w, &from.w}, {&s.b, &from.b}} {
		pair[0].Reshape(pair[1].Dims())
		copy(pair[0].Data, pair[1].Data)
	}
}

// stateBytes returns the size of one state.
func stateBytes(nodes, hidden, classes int) float64 {
	return 4 * (float64(nodes)*float64(hidden) + float64(hidden)*float64(classes) + float64(classes))
}

// stretchFor returns the smallest stretch whose states fit into bytes, and their size. A stretch of √steps needs the
// least memory.
func stretchFor(steps, nodes, hidden, classes int, bytes float64) (stretch int, need float64) {
	one := stateBytes(nodes, hidden, classes)
	least := int(math.Ceil(math.Sqrt(float64(steps))))
	for stretch = 1; ; stretch++ {
		need = one * float64((steps+stretch-1)/stretch+stretch)
		if need <= bytes || stretch >= least {
			return stretch, need
		}
	}
}

// step performs the forward and backward pass at a state. It computes U = ZW₁ + b₁, R = σ(U), S = softmax(RW₂ + b₂), E
// = (S − Y)/N′ and D.
func (o *unroll) step(s *state, y *mat.Dense) {
	n := y.Rows
	mat.Mul(&o.u, &o.k, &s.c)
	o.r.Reshape(o.u.Dims())
	for i := range o.u.Data {
		o.u.Data[i] = o.p.Data[i] - o.u.Data[i]
	}
	if o.relu {
		kernel.ReLU(o.r.Data, o.u.Data)
	} else {
		copy(o.r.Data, o.u.Data)
	}
	mat.Mul(&o.s, &o.r, &s.w)
	o.e.Reshape(o.s.Dims())
	for i := range n {
		row, e := o.s.Row(i), o.e.Row(i)
		kernel.Add(row, row, s.b.Data)
		kernel.Softmax(row)
		for k, v := range row {
			e[k] = (v - y.Row(i)[k]) / float32(n)
		}
	}
	mat.MulTB(&o.d, &o.e, &s.w)
	o.mask(&o.d)
}

// mask sets x to 0 where the derivative of σ is 0.
func (o *unroll) mask(x *mat.Dense) {
	if o.relu {
		kernel.ReLUGrad(x.Data, x.Data, o.u.Data)
	}
}

// advance performs one training step.
func (o *unroll) advance(s *state, y *mat.Dense, rate float32) {
	o.step(s, y)
	kernel.Axpy(rate, o.d.Data, s.c.Data)
	mat.MulTA(&o.part, &o.r, &o.e)
	kernel.Axpy(-rate, o.part.Data, s.w.Data)
	for i := range o.e.Rows {
		kernel.Axpy(-rate, o.e.Row(i), s.b.Data)
	}
}

// match returns ℓ and its gradients with respect to Z, Y and the rate η. The matrices are in o's memory and valid until
// the next call. If start equals target, all results are 0. If ctx is done, match returns ctx's error.
func (o *unroll) match(ctx context.Context, z, y *mat.Dense, start, target weights, rate float64) (
	loss float64, dz, dy *mat.Dense, drate float64, err error,
) {
	n, h := z.Rows, start.w1.Cols
	delta, norm := differences(start, target)
	if norm == 0 { // the expert did not move, for example with only one class
		o.dz.Reshape(z.Dims())
		o.dy.Reshape(y.Dims())
		clear(o.dz.Data)
		clear(o.dy.Data)
		return 0, &o.dz, &o.dy, 0, nil
	}
	mat.MulTB(&o.k, z, z)
	for i := range o.k.Data {
		o.k.Data[i]++
	}
	mat.Mul(&o.p, z, start.w1)
	mat.Mul(&o.q, z, delta.w1)
	for i := range n {
		kernel.Add(o.p.Row(i), o.p.Row(i), start.b1.Data)
		kernel.Add(o.q.Row(i), o.q.Row(i), delta.b1.Data)
	}
	if err := o.forward(ctx, y, start, float32(rate)); err != nil {
		return 0, nil, nil, 0, err
	}
	// Compute the distance and its gradients with respect to the last state.
	mat.Mul(&o.gc, &o.k, &o.now.c)
	total := squares(delta.w1) + squares(delta.b1) + inner(&o.gc, &o.now.c) - 2*inner(&o.q, &o.now.c)
	o.gw.Reshape(o.now.w.Dims())
	o.gb.Reshape(o.now.b.Dims())
	total += apart(&o.gw, &o.now.w, target.w2) + apart(&o.gb, &o.now.b, target.b2)
	scale := float32(2 / norm)
	for i := range o.gc.Data {
		o.gc.Data[i] = scale * (o.gc.Data[i] - o.q.Data[i])
	}
	kernel.Scale(o.gw.Data, scale, o.gw.Data)
	kernel.Scale(o.gb.Data, scale, o.gb.Data)
	mat.MulTB(&o.gk, &o.now.c, &o.now.c)
	kernel.Scale(o.gk.Data, scale/2, o.gk.Data)
	o.dz.Reshape(z.Dims())
	mat.MulTB(&o.dz, &o.now.c, delta.w1) // the part through Q
	kernel.Scale(o.dz.Data, -scale, o.dz.Data)

	o.gp.Reshape(n, h)
	clear(o.gp.Data)
	o.dy.Reshape(y.Dims())
	clear(o.dy.Data)
	if drate, err = o.backward(ctx, y, float32(rate)); err != nil {
		return 0, nil, nil, 0, err
	}
	mat.MulTB(&o.part, &o.gp, start.w1)
	kernel.Add(o.dz.Data, o.dz.Data, o.part.Data)
	for i := range n {
		for j := range i {
			both := o.gk.Row(i)[j] + o.gk.Row(j)[i]
			o.gk.Row(i)[j], o.gk.Row(j)[i] = both, both
		}
		o.gk.Row(i)[i] *= 2
	}
	mat.Mul(&o.part, &o.gk, z)
	kernel.Add(o.dz.Data, o.dz.Data, o.part.Data)
	return total / norm, &o.dz, &o.dy, drate, nil
}

// forward trains the student from start to its last state, which it stores in now.
func (o *unroll) forward(ctx context.Context, y *mat.Dense, start weights, rate float32) error {
	o.now.c.Reshape(o.p.Dims())
	clear(o.now.c.Data)
	o.now.set(&state{c: o.now.c, w: *start.w2, b: *start.b2})
	stretches := (o.steps + o.stretch - 1) / o.stretch
	if len(o.kept) != stretches {
		o.kept, o.within = make([]state, stretches), make([]state, o.stretch)
	}
	for t := range o.steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t%o.stretch == 0 {
			o.kept[t/o.stretch].set(&o.now)
		}
		o.advance(&o.now, y, rate)
	}
	return nil
}

// backward propagates gradients back through all steps. It adds to gk, gp and dy, and returns the gradient with respect
// to the rate.
func (o *unroll) backward(ctx context.Context, y *mat.Dense, rate float32) (drate float64, err error) {
	for s := len(o.kept) - 1; s >= 0; s-- {
		first := s * o.stretch
		last := min(first+o.stretch, o.steps)
		states := o.kept[s : s+1]
		if o.stretch > 1 {
			o.now.set(&o.kept[s])
			for t := first; t < last; t++ {
				o.within[t-first].set(&o.now)
				if t < last-1 {
					o.advance(&o.now, y, rate)
				}
			}
			states = o.within[:last-first]
		}
		for t := last - 1; t >= first; t-- {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			drate += o.retreat(&states[t-first], y, rate)
		}
	}
	return drate, nil
}

// retreat propagates gradients back from the state after a step, (C + ηD, W₂ − ηRᵀE, b₂ − η1ᵀE), to the state s before
// it. Let G_C, G_W and G_b be the gradients with respect to the state after the step, ⊙σ′ the mask, and E = (S − Y)/N′.
// Then
//
//	M = ηG_C⊙σ′,  G_S = (MW₂ − η(RG_W + 1G_b))/N′,  L = S⊙(G_S − rowsums(S⊙G_S)),  G_U = (LW₂ᵀ − ηEG_Wᵀ)⊙σ′,
//	G_W ← G_W + MᵀE + RᵀL,  G_b ← G_b + 1ᵀL,  G_C ← G_C − KG_U,  G_P ← G_P + G_U,  G_K ← G_K − G_UCᵀ,  G_Y ← G_Y − G_S.
//
// It returns the step's contribution to the gradient with respect to η.
func (o *unroll) retreat(s *state, y *mat.Dense, rate float32) (drate float64) {
	n, c := y.Dims()
	o.step(s, y)
	// The contribution to the gradient of the rate is ⟨G_C, D⟩ − ⟨G_W, RᵀE⟩ − ⟨G_b, 1ᵀE⟩.
	mat.MulTA(&o.part, &o.r, &o.e)
	drate = inner(&o.gc, &o.d) - inner(&o.gw, &o.part)
	for i := range n {
		drate -= float64(kernel.Dot(o.gb.Data, o.e.Row(i)))
	}
	// Compute M, G_S without its last term, the part of G_U through R, and MᵀE.
	o.m.Reshape(o.gc.Dims())
	kernel.Scale(o.m.Data, rate, o.gc.Data)
	o.mask(&o.m)
	mat.Mul(&o.ge, &o.m, &s.w)
	mat.Mul(&o.back, &o.r, &o.gw)
	mat.MulTB(&o.gr, &o.e, &o.gw)
	kernel.Scale(o.gr.Data, -rate, o.gr.Data)
	mat.MulTA(&o.part, &o.m, &o.e)
	// Compute G_S and G_Y, and replace S by L.
	for i := range n {
		ge, p, dy := o.ge.Row(i), o.s.Row(i), o.dy.Row(i)
		var along float32
		for k := range c {
			ge[k] = (ge[k] - rate*(o.back.Row(i)[k]+o.gb.Data[k])) / float32(n)
			dy[k] -= ge[k]
			along += ge[k] * p[k]
		}
		for k := range c {
			p[k] *= ge[k] - along
		}
	}
	kernel.Add(o.gw.Data, o.gw.Data, o.part.Data)
	mat.MulTA(&o.part, &o.r, &o.s)
	mat.MulTB(&o.gu, &o.s, &s.w)
	kernel.Add(o.gw.Data, o.gw.Data, o.part.Data)
	for i := range n {
		kernel.Add(o.gb.Data, o.gb.Data, o.s.Row(i))
	}
	// Compute G_U, and continue through U = P − KC.
	kernel.Add(o.gu.Data, o.gu.Data, o.gr.Data)
	o.mask(&o.gu)
	kernel.Add(o.gp.Data, o.gp.Data, o.gu.Data)
	mat.MulTB(&o.part, &o.gu, &s.c)
	kernel.Axpy(-1, o.part.Data, o.gk.Data)
	mat.Mul(&o.part, &o.k, &o.gu)
	kernel.Axpy(-1, o.part.Data, o.gc.Data)
	return drate
}

// differences returns θ_0 − θ* and its squared length.
func differences(start, target weights) (delta weights, norm float64) {
	delta = newWeights(start.w1.Rows, start.w1.Cols, start.w2.Cols)
	to := target.all()
	from := start.all()
	for i, d := range delta.all() {
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

func squares(a *mat.Dense) float64 { return inner(a, a) }

package gradient

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/adam"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// convolution is the relay GCN with two layers, Z = Â·ReLU(ÂX·W₁ + b₁)·W₂ + b₂. Its parameter gradient for the nodes of
// class c is
//
//	∇W₁ = (ÂX)ᵀD,  D = Â(E·W₂ᵀ) ⊙ 1[ÂX·W₁ + b₁ > 0],  ∇b₁ = 1ᵀD,
//	∇W₂ = VᵀE,     V = Â·ReLU(ÂX·W₁ + b₁),              ∇b₂ = 1ᵀE,
//
// with E as in linear. The objective differentiates this gradient a second time.
//
// ∇W₁, d×hidden, is the largest matrix, but its rank is at most the rank of D. It is never computed explicitly: with K
// = Z′Z′ᵀ and C = Z′·Sᵀ, where Z′ = Â′X′ and S holds the rows of ÂX of the original graph,
//
//	‖∇W₁′ column k‖² = (D′ ⊙ K·D′ summed over rows)_k,  ⟨∇W₁′, ∇W₁⟩_k = (D′ ⊙ C·D summed over rows)_k.
type convolution struct {
	Matching
	coeff   []float32
	members [][]int32 // condensed nodes of each class; nil if there are none
	real    []realClass

	weights learn.Weights
	steps   *adam.Optimizer
	tape    *autodiff.Tape
	y       *mat.Dense // one-hot labels
	masks   []mat.Dense
}

// realClass holds the training nodes of one class, their neighbours, and their gradients.
type realClass struct {
	*learn.TwoLayers
	gram *mat.Dense // S·Sᵀ; nil if there are many rows

	d, w2, b1, b2 mat.Dense // D and the gradients
	kd            mat.Dense
	squares       []float64 // squared lengths of the columns of ∇W₁
}

// newConvolution returns the relay for the graph of s.
func newConvolution(ctx context.Context, s *learn.Start, m Matching) (*convolution, error) {
	c := len(s.Budget)
	o := &convolution{
		Matching: m, coeff: s.Coefficients(), tape: autodiff.NewTape(),
		real: make([]realClass, c), members: make([][]int32, c), masks: make([]mat.Dense, c),
		y: autodiff.OneHot(s.Y, c), weights: learn.NewWeights(s.X.Cols, m.Hidden, c),
	}
	o.steps = adam.New(m.RelayRate, o.weights.All()...)
	for class, nodes := range s.Train {
		if s.Budget[class] == 0 {
			continue
		}
		o.members[class] = memory.Range(s.First[class], s.First[class+1])
		layers, err := s.Convolution(ctx, nodes)
		if err != nil {
			return nil, err
		}
		r := &o.real[class]
		r.TwoLayers = layers
		if rows := layers.S.Matrix; rows.Rows <= gramNodes {
			r.gram = new(mat.Dense)
			mat.MulTB(r.gram, rows.Dense(), rows.Dense())
		}
	}
	return o, nil
}

// gramNodes is the largest number of rows of S for which the Gram matrix is stored. With more rows, ∇W₁ is computed
// explicitly.
const gramNodes = 2048

// Restart draws weights and biases.
func (o *convolution) Restart(src rand.Source) {
	o.weights.Draw(src)
	o.steps.Restart()
}

// gradient computes the gradients for the training nodes of the class. It resets the tape.
func (r *realClass) gradient(t *autodiff.Tape, weights learn.Weights) {
	t.Reset()
	p, u, logits := r.Forward(t, weights)
	g := t.Grad(t.CrossEntropy(logits, t.Var(r.Y)), u, p[2], p[3])
	for dst, src := range map[*mat.Dense]*autodiff.Var{&r.d: g[0], &r.b1: t.ColumnSums(g[0]), &r.w2: g[1], &r.b2: g[2]} {
		dst.Reshape(src.Value.Dims())
		copy(dst.Data, src.Value.Data)
	}
	r.squares = append(r.squares[:0], make([]float64, r.d.Cols)...)
	factor := &r.d // ∇W₁ᵀ∇W₁ = DᵀKD
	if r.gram != nil {
		mat.Mul(&r.kd, r.gram, &r.d)
	} else {
		r.S.T().Apply(&r.kd, &r.d) // ∇W₁
		factor = &r.kd
	}
	for i := range r.kd.Rows {
		d := factor.Row(i)
		for k, g := range r.kd.Row(i) {
			r.squares[k] += float64(g) * float64(d[k])
		}
	}
}

// forward holds the variables of a forward pass.
type forward struct {
	x, a    *autodiff.Var // X′, and A′ or nil for I
	p       []*autodiff.Var
	in      *gnn.Input
	z, u, v *autodiff.Var // Â′X′, Â′X′·W₁ + b₁, V
	logits  *autodiff.Var
	columns *autodiff.Var // Z′ᵀ
	gram    *autodiff.Var // Z′·Z′ᵀ, shared by all classes; computed only if A′ is not I
}

// forward computes the logits of the condensed nodes. It resets the tape.
func (o *convolution) forward(x, a *mat.Dense) (f forward) {
	t := o.tape
	t.Reset()
	f.x, f.a = learn.Variables(t, x, a)
	f.p = learn.Put(t, o.weights.All())
	f.in = gnn.VariableInput(f.a, f.x)
	f.z = f.in.Symmetric(f.x)
	f.u = t.AddRow(t.MatMul(f.z, f.p[0]), f.p[1])
	f.v = f.in.Symmetric(t.ReLU(f.u))
	f.logits = t.AddRow(t.MatMul(f.v, f.p[2]), f.p[3])
	return f
}

// match returns the objective on all training nodes and its gradients with respect to X′ and A′.
func (o *convolution) match(ctx context.Context, x, a *mat.Dense, _ rand.Source) (
	loss float64, dx, da *mat.Dense, err error,
) {
	for c := range o.real {
		if o.members[c] != nil {
			o.real[c].gradient(o.tape, o.weights)
		}
		if err := ctx.Err(); err != nil {
			return 0, nil, nil, err
		}
	}
	t := o.tape
	f := o.forward(x, a)
	if a != nil {
		f.columns, f.gram = t.Transpose(f.z), t.MatMulTB(f.z, f.z)
	}
	total := t.Var(mat.NewDense(1, 1))
	for c, members := range o.members {
		if members != nil {
			total = t.Add(total, t.Scale(o.coeff[c], o.matchClass(f, c)))
		}
	}
	loss, dx, da = learn.Gradients(total, f.x, f.a)
	return loss, dx, da, nil
}

// matchClass computes the distance of class c on the tape.
func (o *convolution) matchClass(f forward, c int) *autodiff.Var {
	t, r, members := o.tape, &o.real[c], o.members[c]
	labels := t.Rows(t.Var(o.y), members)
	e := t.Exp(t.LogSoftmax(t.Rows(f.logits, members)))
	e = t.Scale(1/float32(len(members)), t.Sub(e, labels))
	v, b2 := t.Rows(f.v, members), t.ColumnSums(e)
	columns, gram, u, back := f.columns, f.gram, f.u, t.MatMulTB(e, f.p[2])
	if f.a != nil {
		back = f.in.Symmetric(t.SpreadRows(back, members, f.z.Value.Rows))
	} else { // nodes of other classes have no influence
		z := t.Rows(f.z, members)
		columns, gram, u = t.Transpose(z), t.MatMulTB(z, z), t.Rows(f.u, members)
	}
	mask := &o.masks[c]
	mask.Reshape(u.Value.Dims())
	for i, value := range u.Value.Data {
		mask.Data[i] = 0
		if value > 0 {
			mask.Data[i] = 1
		}
	}
	d := t.Mul(back, t.Var(mask))
	squares := t.ColumnSums(t.Mul(d, t.MatMul(gram, d)))
	inner := t.ColumnSums(t.Mul(d, t.MatMulTA(t.Linear(r.S, columns), t.Var(&r.d))))
	g2 := t.MatMulTA(v, e)
	if o.Distance == Cosine {
		return t.Add(o.cosines(inner, squares, r.squares), o.cosineOf(g2, &r.w2))
	}
	var constant float64
	for _, s := range r.squares {
		constant += s
	}
	loss := t.Sum(t.Sub(squares, t.Scale(2, inner)))
	loss = t.Add(loss, t.Var(learn.Filled(1, 1, float32(constant))))
	for _, pair := range []struct {
		g    *autodiff.Var
		real *mat.Dense
	}{{g2, &r.w2}, {b2, &r.b2}, {t.ColumnSums(d), &r.b1}} {
		difference := t.Sub(pair.g, t.Var(pair.real))
		loss = t.Add(loss, t.Sum(t.Mul(difference, difference)))
	}
	return loss
}

// tiny is added to squared lengths, because the square root has no derivative at 0. A column has length 0 if its unit
// is inactive at all nodes.
const tiny = 1e-14

// cosines returns Σ_k 1 − inner_k/(√real_k·√squares_k + 10⁻⁶).
func (o *convolution) cosines(inner, squares *autodiff.Var, real []float64) *autodiff.Var {
	t, n := o.tape, len(real)
	lengths := mat.NewDense(1, n)
	for k, s := range real {
		lengths.Data[k] = float32(math.Sqrt(max(0, s)))
	}
	own := t.Power(t.Add(t.ReLU(squares), t.Var(learn.Filled(1, n, tiny))), 0.5)
	norm := t.Add(t.Mul(t.Var(lengths), own), t.Var(learn.Filled(1, n, guard)))
	return t.Sum(t.Sub(t.Var(learn.Filled(1, n, 1)), t.Mul(inner, t.Power(norm, -1))))
}

// cosineOf implements cosines for two explicit matrices.
func (o *convolution) cosineOf(g *autodiff.Var, real *mat.Dense) *autodiff.Var {
	t := o.tape
	squares := make([]float64, real.Cols)
	for i := range real.Rows {
		for k, x := range real.Row(i) {
			squares[k] += float64(x) * float64(x)
		}
	}
	return o.cosines(t.ColumnSums(t.Mul(g, t.Var(real))), t.ColumnSums(t.Mul(g, g)), squares)
}

// train takes steps that minimise the mean cross entropy of the condensed nodes.
func (o *convolution) train(ctx context.Context, x, a *mat.Dense, steps int) error {
	for range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		f := o.forward(x, a)
		g := o.tape.Grad(o.tape.CrossEntropy(f.logits, o.tape.Var(o.y)), f.p...)
		o.steps.Step(learn.Values(g)...)
	}
	return nil
}

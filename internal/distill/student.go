package distill

import (
	"context"
	"math"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// student fits ridge regressions of targets T, n×c, on the embeddings H, n×d, one after another: W = (HᵀH + λI)⁻¹HᵀT,
// with λ the mean squared norm of a row of H.
type student struct {
	h        *mat.Dense
	penalty  float64
	cholesky *factor.Cholesky // of HᵀH + λI; nil if conjugate gradients are cheaper
}

const (
	// The normal equations are factored if d is at most directColumns, or at most mostDirect and n at least manyRows·d.
	// The factorisation costs n·d² + d³/3 and then serves all targets. Bags of words have thousands of columns and few
	// nodes. For them, conjugate gradients need tens of products with H, which cost n·d·c each and read H each time.
	directColumns, mostDirect, manyRows = 1024, 2048, 4
	// mostSteps bounds the steps of conjugate gradients. A column ends at the relative residual called residual. λ bounds
	// the condition number by n + 1, and the spectra of embeddings decay fast.
	mostSteps = 60
	residual  = 1e-4
)

// newStudent returns the regression on h. It is an error if squares of h overflow in float32. It returns ctx's error
// soon after ctx is done.
func newStudent(ctx context.Context, h *mat.Dense) (*student, error) {
	squares := parallel.Sum(h.Rows, rowChunk, func(lo, hi int) (sum float64) {
		for _, v := range h.Data[lo*h.Cols : hi*h.Cols] {
			sum += float64(v) * float64(v)
		}
		return sum
	})
	s := &student{h: h, penalty: squares / float64(h.Rows)}
	if s.penalty == 0 {
		s.penalty = 1 // all embeddings are 0, and so is W
	}
	if h.Cols > directColumns && (h.Cols > mostDirect || h.Rows < manyRows*h.Cols) {
		return s, nil
	}
	gram, err := factor.Gram(ctx, h)
	if err != nil {
		return nil, err
	}
	if trace := gram.Trace(); !(trace <= math.MaxFloat64) {
		return nil, inRange(h, trace)
	}
	for k := range gram.N {
		gram.Data[k*gram.N+k] += s.penalty
	}
	s.cholesky, err = gram.Cholesky(ctx)
	return s, err
}

// outputs sets dst to HW for the given targets, which it does not change. The result is the same for any number of
// threads.
func (s *student) outputs(ctx context.Context, dst, targets *mat.Dense) error {
	right := new(mat.Dense)
	mat.MulTA(right, s.h, targets) // HᵀT
	solve := s.descend
	if s.cholesky != nil {
		solve = s.cholesky.SolveDense
	}
	w, err := solve(ctx, right)
	if err != nil {
		return err
	}
	mat.Mul(dst, s.h, w)
	return ctx.Err()
}

// descend returns (HᵀH + λI)⁻¹b by conjugate gradients (Hestenes and Stiefel 1952). Columns have their own steps and
// share products.
func (s *student) descend(ctx context.Context, b *mat.Dense) (*mat.Dense, error) {
	w := mat.NewDense(b.Rows, b.Cols)
	r, p := b.Clone(), b.Clone() // r is the residual, and p is the direction
	var hp, ap mat.Dense
	norms := columnDots(r, r)
	first := norms
	for range mostSteps {
		mat.Mul(&hp, s.h, p)
		mat.MulTA(&ap, s.h, &hp)
		for i, v := range p.Data {
			ap.Data[i] += float32(s.penalty) * v
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		curves := columnDots(p, &ap)
		step := make([]float64, len(norms))
		for c := range step {
			if norms[c] > residual*residual*first[c] && curves[c] > 0 {
				step[c] = norms[c] / curves[c]
			}
		}
		for i := range w.Rows {
			wi, ri, pi, ai := w.Row(i), r.Row(i), p.Row(i), ap.Row(i)
			for c, a := range step {
				wi[c] += float32(a * float64(pi[c]))
				ri[c] -= float32(a * float64(ai[c]))
			}
		}
		next := columnDots(r, r)
		done := true
		for i := range p.Rows {
			pi, ri := p.Row(i), r.Row(i)
			for c, a := range step {
				if a > 0 {
					pi[c] = ri[c] + float32(next[c]/norms[c]*float64(pi[c]))
				}
			}
		}
		for c, a := range step {
			done = done && a == 0
			if math.IsNaN(next[c]) {
				next[c] = 0 // ends the column
			}
		}
		if done {
			break
		}
		norms = next
	}
	return w, nil
}

// columnDots returns the inner product of each column of a with the same column of b.
func columnDots(a, b *mat.Dense) []float64 {
	sums := make([]float64, a.Cols)
	for i := range a.Rows {
		bi := b.Row(i)
		for c, v := range a.Row(i) {
			sums[c] += float64(v) * float64(bi[c])
		}
	}
	return sums
}

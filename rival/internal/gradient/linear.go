package gradient

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// linear is the relay SGC with one weight matrix: logits Z·W + b with Z = ÂᴷX. For the rows of class c:
//
//	E_c = (softmax(Z_c·W + b) − Y_c)/n_c,  ∇_W ℓ_c = Z_cᵀ·E_c,  ∇_b ℓ_c = 1ᵀE_c.
//
// The gradient of the objective with respect to Z′ is coded explicitly. With 70 condensed nodes and 1433 features and
// without edges, a tape takes 1.9 times as long, and 3 times if it also differentiates ℓ_c (BenchmarkLinear).
type linear struct {
	Matching
	classes int
	coeff   []float32  // of each class
	first   []int      // rows of each class in Z′
	y       *mat.Dense // one-hot labels of the rows

	real      *mat.Dense // Z of the training nodes, class by class
	realFirst []int
	batch     mat.Dense
	from      []int // rows of each class in the batch

	*learn.Regression // W, d×c, and b, 1×c
	propagation
	z       *mat.Dense
	matches []match // one for each class
	dz      mat.Dense
}

// propagation computes Z′ from X′ and A′, as learn.Propagation does for one graph.
type propagation interface {
	Forward(x, a *mat.Dense) *mat.Dense
	Backward(a, dz *mat.Dense) (dx, da *mat.Dense)
}

// match holds the matrices for matching one class.
type match struct {
	e, g, b    mat.Dense // E, ∇_W and ∇_b on the training nodes
	e2, g2, b2 mat.Dense // E, ∇_W and ∇_b on the condensed nodes
	p          mat.Dense // softmax on the condensed nodes
	dg, de     mat.Dense
	loss       float64
}

// newLinear returns the relay for the graph of s.
func newLinear(ctx context.Context, s *learn.Start, m Matching) (*linear, error) {
	nodes, first := s.Labelled()
	h, err := s.Embeddings(ctx, m.Hops, nodes)
	if err != nil {
		return nil, err
	}
	return linearOn(s, m, h[m.Hops], first, &learn.Propagation{Hops: m.Hops}), nil
}

// linearOn returns the relay for given training rows: the rows of class c are realFirst[c] to realFirst[c+1]−1.
func linearOn(s *learn.Start, m Matching, real *mat.Dense, realFirst []int, p propagation) *linear {
	c := len(s.Budget)
	return &linear{
		Matching: m, classes: c, coeff: s.Coefficients(), first: s.First, y: autodiff.OneHot(s.Y, c), real: real,
		realFirst: realFirst, Regression: learn.NewRegression(s.X.Cols, c, m.RelayRate), propagation: p,
		matches: make([]match, c),
	}
}

// restart draws weights and bias.
func (l *linear) restart(src rand.Source) { l.Restart(src) }

// draw returns the training rows of a step: all rows, or a random batch of each class.
func (l *linear) draw(src rand.Source) (rows *mat.Dense, first []int) {
	all := true
	for c := range l.classes {
		all = all && (l.Batch == 0 || l.realFirst[c+1]-l.realFirst[c] <= l.Batch)
	}
	if all {
		return l.real, l.realFirst
	}
	random := rand.New(src)
	var index []int32
	l.from = append(l.from[:0], 0)
	for c := range l.classes {
		lo, n := l.realFirst[c], l.realFirst[c+1]-l.realFirst[c]
		if n <= l.Batch {
			for i := range n {
				index = append(index, int32(lo+i))
			}
		} else {
			for range l.Batch { // with replacement: repeats are rare in a large class
				index = append(index, int32(lo+random.IntN(n)))
			}
		}
		l.from = append(l.from, len(index))
	}
	l.real.Gather(&l.batch, index)
	return &l.batch, l.from
}

// match returns the objective and its gradients with respect to X′ and A′.
func (l *linear) match(_ context.Context, x, a *mat.Dense, src rand.Source) (
	loss float64, dx, da *mat.Dense, err error,
) {
	l.z = l.Forward(x, a)
	rows, from := l.draw(src)
	l.dz.Reshape(l.z.Dims())
	clear(l.dz.Data)
	parallel.For(l.classes, 1, func(lo, hi int) {
		for c := lo; c < hi; c++ {
			if m := &l.matches[c]; l.coeff[c] > 0 {
				realRows := block(rows, from[c], from[c+1])
				gradient(&m.p, &m.e, &m.g, &m.b, &realRows, l.W, l.B, c)
				l.matchClass(c)
			}
		}
	})
	for c := range l.matches {
		if l.coeff[c] > 0 {
			loss += float64(l.coeff[c]) * l.matches[c].loss
		}
	}
	dx, da = l.Backward(a, &l.dz)
	return loss, dx, da, nil
}

// block returns rows lo to hi−1 of m. They share m's memory.
func block(m *mat.Dense, lo, hi int) mat.Dense {
	return mat.Dense{Rows: hi - lo, Cols: m.Cols, Data: m.Data[lo*m.Cols : hi*m.Cols]}
}

// gradient sets p to softmax(z·w + b), e to (p − Y)/n for rows that are all of class c, g to zᵀ·e and gb to 1ᵀe. It
// uses one goroutine.
func gradient(p, e, g, gb, z, w, b *mat.Dense, c int) {
	n, d, k := z.Rows, z.Cols, w.Cols
	p.Reshape(n, k)
	e.Reshape(n, k)
	g.Reshape(d, k)
	gb.Reshape(1, k)
	clear(gb.Data)
	kernel.Gemm(kernel.Rows(p.Data, k), kernel.Rows(z.Data, d), kernel.Rows(w.Data, k), n, k, d, false)
	for i := range n {
		row, error := p.Row(i), e.Row(i)
		kernel.Add(row, row, b.Data)
		kernel.Softmax(row)
		copy(error, row)
		error[c]--
		kernel.Scale(error, 1/float32(n), error)
		kernel.Add(gb.Data, gb.Data, error)
	}
	kernel.Gemm(kernel.Rows(g.Data, k), kernel.Rows(z.Data, d).T(), kernel.Rows(e.Data, k), d, k, n, false)
}

// matchClass computes the distance of class c, and sets its rows of dz to the gradient.
func (l *linear) matchClass(c int) {
	m := &l.matches[c]
	lo, hi := l.first[c], l.first[c+1]
	z, dz := block(l.z, lo, hi), block(&l.dz, lo, hi)
	gradient(&m.p, &m.e2, &m.g2, &m.b2, &z, l.W, l.B, c)
	n, d, k := z.Rows, z.Cols, l.W.Cols
	m.dg.Reshape(d, k)
	m.de.Reshape(n, k)
	if l.Distance == Cosine {
		m.loss = cosine(&m.dg, &m.g, &m.g2)
	} else {
		m.loss = squares(&m.dg, &m.g, &m.g2)
	}
	kernel.Scale(m.dg.Data, l.coeff[c], m.dg.Data)
	// Here dZ = E·dGᵀ and dE = Z·dG.
	kernel.Gemm(kernel.Rows(dz.Data, d), kernel.Rows(m.e2.Data, k), kernel.Rows(m.dg.Data, k).T(), n, d, k, false)
	kernel.Gemm(kernel.Rows(m.de.Data, k), kernel.Rows(z.Data, d), kernel.Rows(m.dg.Data, k), n, k, d, false)
	if l.Distance == MSE { // the distance includes the bias
		for j, b := range m.b2.Data {
			diff := b - m.b.Data[j]
			m.loss += float64(diff) * float64(diff)
			for i := range n {
				m.de.Row(i)[j] += 2 * l.coeff[c] * diff
			}
		}
	}
	// Continue through the softmax and Z·W.
	for i := range n {
		p, de := m.p.Row(i), m.de.Row(i)
		inner := kernel.Dot(p, de)
		for j := range de {
			de[j] = p[j] * (de[j] - inner) / float32(n)
		}
	}
	kernel.Gemm(kernel.Rows(dz.Data, d), kernel.Rows(m.de.Data, k), kernel.Rows(l.W.Data, k).T(), n, d, k, true)
}

// guard keeps the cosine of a zero column finite.
const guard = 1e-6

// cosine returns Σ_k 1 − ⟨g_k, h_k⟩/(‖g_k‖·‖h_k‖ + 10⁻⁶) over the columns k, and sets dh to its gradient with respect
// to h.
func cosine(dh, g, h *mat.Dense) (loss float64) {
	columns := h.Cols
	inner, gg, hh := make([]float64, columns), make([]float64, columns), make([]float64, columns)
	for i := range h.Rows {
		a, b := g.Row(i), h.Row(i)
		for k := range columns {
			x, y := float64(a[k]), float64(b[k])
			inner[k] += x * y
			gg[k] += x * x
			hh[k] += y * y
		}
	}
	alongG, alongH := make([]float32, columns), make([]float32, columns)
	for k := range columns {
		ng, nh := math.Sqrt(gg[k]), math.Sqrt(hh[k])
		norm := ng*nh + guard
		loss += 1 - inner[k]/norm
		alongG[k] = float32(-1 / norm)
		if nh > 0 {
			alongH[k] = float32(inner[k] * ng / (nh * norm * norm))
		}
	}
	for i := range h.Rows {
		d, a, b := dh.Row(i), g.Row(i), h.Row(i)
		for k := range columns {
			d[k] = alongG[k]*a[k] + alongH[k]*b[k]
		}
	}
	return loss
}

// squares returns ‖h − g‖², and sets dh to its gradient with respect to h.
func squares(dh, g, h *mat.Dense) (loss float64) {
	for i, y := range h.Data {
		d := y - g.Data[i]
		loss += float64(d) * float64(d)
		dh.Data[i] = 2 * d
	}
	return loss
}

// train takes steps that minimise the mean cross entropy of the rows of Z′.
func (l *linear) train(ctx context.Context, x, a *mat.Dense, steps int) error {
	if steps == 0 {
		return nil
	}
	z := l.Forward(x, a)
	for range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.Step(z, l.y)
	}
	return nil
}

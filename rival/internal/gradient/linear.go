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
	real, own gradients // on the training nodes and on the condensed nodes
	dg, de    mat.Dense
	loss      float64
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

// draw returns the training rows of a step: all rows, or a random batch of each class.
func (l *linear) draw(src rand.Source) (rows *mat.Dense, first []int) {
	random := rand.New(src)
	var index []int32
	l.from = append(l.from[:0], 0)
	for c := range l.classes {
		lo, n := l.realFirst[c], l.realFirst[c+1]-l.realFirst[c]
		for i := range n {
			if l.Batch == 0 || n <= l.Batch {
				index = append(index, int32(lo+i))
			} else if i < l.Batch { // with replacement: repeats are rare in a large class
				index = append(index, int32(lo+random.IntN(n)))
			}
		}
		l.from = append(l.from, len(index))
	}
	if len(index) == l.real.Rows {
		return l.real, l.realFirst
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
				m.real.of(block(rows, from[c], from[c+1]), l.W, l.B, c)
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
func block(m *mat.Dense, lo, hi int) *mat.Dense {
	return &mat.Dense{Rows: hi - lo, Cols: m.Cols, Data: m.Data[lo*m.Cols : hi*m.Cols]}
}

// gradients holds the gradients of the mean cross entropy of rows Z of one class.
type gradients struct {
	p, e mat.Dense // softmax(Z·W + b), and (p − Y)/n
	w, b mat.Dense // Zᵀ·e and 1ᵀe
}

// of computes the gradients for rows that are all of class c. It uses one goroutine.
func (g *gradients) of(z, w, b *mat.Dense, c int) {
	n, d, k := z.Rows, z.Cols, w.Cols
	g.p.Reshape(n, k)
	g.e.Reshape(n, k)
	g.w.Reshape(d, k)
	g.b.Reshape(1, k)
	clear(g.b.Data)
	kernel.Gemm(kernel.Rows(g.p.Data, k), kernel.Rows(z.Data, d), kernel.Rows(w.Data, k), n, k, d, false)
	for i := range n {
		p, e := g.p.Row(i), g.e.Row(i)
		kernel.Add(p, p, b.Data)
		kernel.Softmax(p)
		copy(e, p)
		e[c]--
		kernel.Scale(e, 1/float32(n), e)
		kernel.Add(g.b.Data, g.b.Data, e)
	}
	kernel.Gemm(kernel.Rows(g.w.Data, k), kernel.Rows(z.Data, d).T(), kernel.Rows(g.e.Data, k), d, k, n, false)
}

// matchClass computes the distance of class c, and sets its rows of dz to the gradient.
func (l *linear) matchClass(c int) {
	m := &l.matches[c]
	lo, hi := l.first[c], l.first[c+1]
	z, dz := block(l.z, lo, hi), block(&l.dz, lo, hi)
	m.own.of(z, l.W, l.B, c)
	n, d, k := z.Rows, z.Cols, l.W.Cols
	m.dg.Reshape(d, k)
	m.de.Reshape(n, k)
	if l.Distance == Cosine {
		m.loss = cosine(&m.dg, &m.real.w, &m.own.w)
	} else {
		m.loss = squares(&m.dg, &m.real.w, &m.own.w)
	}
	kernel.Scale(m.dg.Data, l.coeff[c], m.dg.Data)
	// Here dZ = E·dGᵀ and dE = Z·dG.
	kernel.Gemm(kernel.Rows(dz.Data, d), kernel.Rows(m.own.e.Data, k), kernel.Rows(m.dg.Data, k).T(), n, d, k, false)
	kernel.Gemm(kernel.Rows(m.de.Data, k), kernel.Rows(z.Data, d), kernel.Rows(m.dg.Data, k), n, k, d, false)
	if l.Distance == MSE { // the distance includes the bias
		var db mat.Dense
		db.Reshape(1, k)
		m.loss += squares(&db, &m.real.b, &m.own.b)
		for i := range n {
			kernel.Axpy(l.coeff[c], db.Data, m.de.Row(i))
		}
	}
	// Continue through the softmax and Z·W.
	for i := range n {
		p, de := m.own.p.Row(i), m.de.Row(i)
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

package gnn

import (
	"context"
	"sync"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

type gat struct {
	name  string
	heads int // of the hidden layer
}

const (
	gatDropout = 0.6 // for attention weights, as in the GAT paper
	gatSlope   = 0.2 // for the LeakyReLU of the scores, as in the GAT paper
)

// GAT returns the model of Veličković et al., Graph attention networks (ICLR 2018). The hidden layer concatenates 8
// heads of f = ⌈hidden/8⌉ units; the output layer has one head of c units:
//
//	H = ELU(‖_k α_k·X·W_k + b₁),  Z = α·H·V + b₂,  W_k d×f, V hidden×c,
//	α_ij = softmax over j of LeakyReLU_0.2(u·(XW)_i + v·(XW)_j),  j a neighbour of i or i itself,
//
// with u and v 1×f for each head.
//
// Attention weights are dropped with probability 0.6, unless Config.Dropout is 0. Edge weights of a constant A are not
// used; see Input.Attend for a variable A. On a sample without edges, u and v have no gradient, and weight decay
// shrinks them towards zero. At zero, attention is the plain mean.
func GAT() Model { return gats.standard() }

var gats = family{
	"gat", []setting{{name: "heads", standard: 8, least: 1, most: 64}},
	func(name string, v []float64) Model { return gat{name, int(v[0])} },
}

// Name implements Model.
func (m gat) Name() string { return m.name }

// Shapes lists W, u, v and b of the hidden layer, with the heads side by side, and then W, u, v and b of the output
// layer.
func (m gat) Shapes(features, hidden, classes int) []Shape {
	width := m.heads * headWidth(hidden, m.heads)
	return []Shape{
		{Rows: features, Cols: width}, {Rows: width, Cols: 1}, {Rows: width, Cols: 1}, {Rows: 1, Cols: width, Bias: true},
		{Rows: width, Cols: classes}, {Rows: classes, Cols: 1}, {Rows: classes, Cols: 1},
		{Rows: 1, Cols: classes, Bias: true},
	}
}

// headWidth returns the number of units of a head: hidden over the number of heads, rounded up.
func headWidth[N int | int64](hidden, heads N) N { return (hidden + heads - 1) / heads }

// Forward returns Z.
func (m gat) Forward(t *autodiff.Tape, in *Input, p []*autodiff.Var) *autodiff.Var {
	layer := func(x *autodiff.Var, p []*autodiff.Var, heads int) *autodiff.Var {
		own, other := in.headDots(x, p[0], heads), in.headDots(x, p[1], heads)
		return t.AddRow(in.Attend(Attention{Own: own, Other: other, Slope: gatSlope, Dropout: gatDropout}, x), p[2])
	}
	h := t.ELU(layer(in.Times(p[0]), p[1:4], m.heads))
	return layer(t.MatMul(in.Dropout(h), p[4]), p[5:8], 1)
}

// Infer computes one head after another. ELU acts on each unit separately, so the units of a head are immediately
// projected on the classes and then discarded. Memory per node is a few times f + c values; edges need none.
func (m gat) Infer(ctx context.Context, v *View, p []*mat.Dense) (*mat.Dense, error) {
	w := &v.work
	w.reset()
	near, far := v.field(1), v.field(2)
	width := p[0].Cols / m.heads
	projected, part, u, h := w.take(), w.take(), w.take(), w.take()
	for k := range m.heads {
		taken := w.taken
		lo, hi := k*width, (k+1)*width
		weights := columns(w, p[0], lo, hi)
		if err := v.times(ctx, u, far, weights); err != nil {
			return nil, err
		}
		head := attentionHead{p[1].Data[lo:hi], p[2].Data[lo:hi], p[3].Data[lo:hi]}
		if err := v.attend(ctx, h, located{u, far}, head, near); err != nil {
			return nil, err
		}
		elu(h)
		to := part
		if k == 0 {
			to = projected
		}
		units := rowsOf(p[4], lo, hi)
		mat.Mul(to, h, &units)
		if k > 0 {
			sum(projected, part)
		}
		w.taken = taken
	}
	z := w.take()
	head := attentionHead{p[5].Data, p[6].Data, p[7].Data}
	return z, v.attend(ctx, z, located{projected, near}, head, v.field(0))
}

// times sets dst to X·weights at the nodes of a field.
func (v *View) times(ctx context.Context, dst *mat.Dense, at *field, weights *mat.Dense) error {
	s, ok := v.x.(*mat.CSR)
	if !ok {
		return v.multiplyRows(ctx, dst, weights, at)
	}
	all := v.work.take()
	mat.MulSparse(all, s, weights)
	if at.nodes == nil {
		*dst, *all = *all, *dst
	} else {
		all.Gather(dst, at.nodes)
	}
	return ctx.Err()
}

// attentionHead holds the parameters of one head: the vectors u and v of its scores, and the bias b.
type attentionHead struct {
	u, v, b []float32
}

// attend computes Σ_j α_ij·x_j + b for each node i of to, and stores the results as the rows of dst.
func (v *View) attend(ctx context.Context, dst *mat.Dense, x located, head attentionHead, to *field) error {
	w := &v.work
	x.at.positions()
	dst.Reshape(v.size(to), x.Cols)
	taken := w.taken
	scores := w.take() // v·x_j
	scores.Reshape(x.Rows, 1)
	w.taken = taken
	a := attention{v.adj, *dst, *x.Dense, scores.Data, head, x.at, to}
	attentions.For(x.Rows, 4096, a, (*attention).score)
	return attentions.ForContext(ctx, dst.Rows, 256, a, (*attention).run)
}

// attention holds the arguments of a call to attend.
type attention struct {
	adj      *mat.CSR
	dst, x   mat.Dense // copies of the headers
	scores   []float32
	head     attentionHead
	from, to *field
}

var attentions parallel.Loop[attention]

// score computes v·x_j for nodes lo to hi−1 of a.from.
func (a *attention) score(lo, hi int) {
	for j := lo; j < hi; j++ {
		a.scores[j] = kernel.Dot(a.x.Row(j), a.head.v)
	}
}

// segmentPool keeps the sparse matrices of run for reuse.
var segmentPool = sync.Pool{New: func() any { return new(kernel.Sparse) }}

// run computes rows lo to hi−1 of dst. It stores the attention weights of these nodes in a sparse matrix, which it
// multiplies by x.
func (a *attention) run(lo, hi int) {
	s := segmentPool.Get().(*kernel.Sparse)
	defer segmentPool.Put(s)
	s.Indptr, s.Indices, s.Weights = append(s.Indptr[:0], 0), s.Indices[:0], s.Weights[:0]
	for r := lo; r < hi; r++ {
		i := int32(r)
		if a.to.nodes != nil {
			i = a.to.nodes[r]
		}
		first := len(s.Indices)
		s.Indices = append(s.Indices, a.from.place(i))
		for _, j := range a.adj.Indices[a.adj.Indptr[i]:a.adj.Indptr[i+1]] {
			s.Indices = append(s.Indices, a.from.place(j))
		}
		own := kernel.Dot(a.x.Row(int(s.Indices[first])), a.head.u)
		for _, j := range s.Indices[first:] {
			score := own + a.scores[j]
			if score < 0 {
				score *= gatSlope
			}
			s.Weights = append(s.Weights, score)
		}
		kernel.Softmax(s.Weights[first:])
		s.Indptr = append(s.Indptr, int64(len(s.Indices)))
	}
	d := a.x.Cols
	to := a.dst.Data[lo*d : hi*d]
	kernel.Gather(kernel.Rows(to, d), *s, 0, hi-lo, kernel.Rows(a.x.Data, d), d)
	for r := lo; r < hi; r++ {
		kernel.Add(a.dst.Row(r), a.dst.Row(r), a.head.b)
	}
}

const eluChunk = 1 << 14

// elu replaces each negative x with exp(x) − 1.
func elu(m *mat.Dense) {
	elus.For(len(m.Data), eluChunk, m.Data, func(data *[]float32, lo, hi int) {
		buffer := eluBuffers.Get().(*[eluChunk]float32)
		defer eluBuffers.Put(buffer)
		x := (*data)[lo:hi]
		negative := buffer[:len(x)]
		for i, v := range x {
			negative[i] = min(0, v)
		}
		kernel.ExpShifted(negative, negative, 0)
		for i, e := range negative {
			x[i] = max(0, x[i]) + e - 1
		}
	})
}

var (
	elus       parallel.Loop[[]float32]
	eluBuffers = sync.Pool{New: func() any { return new([eluChunk]float32) }}
)

package gnn

import (
	"context"
	"math/rand/v2"
	"sync"

	"github.com/graph-condensation/cgc/autodiff"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// gat is the model that GAT returns.
type gat struct{}

const (
	gatHeads = 8
	// gatDropout is the probability with which an attention weight is left out in an epoch, as in the model's paper.
	gatDropout = 0.6
	// gatSlope is the slope of the LeakyReLU over scores, as in the model's paper.
	gatSlope = 0.2
)

// GAT returns the model of Veličković et al., Graph attention networks (ICLR 2018), with 8 heads of f = ⌈hidden/8⌉ units that are
// concatenated in the hidden layer, and one head of c units in the last:
//
//	H = ELU(‖_k α_k·X·W_k + b₁),  Z = α·H·V + b₂,  W_k d×f, V hidden×c,
//	α_ij = softmax over j of LeakyReLU_0.2(u·(XW)_i + v·(XW)_j),  j a neighbour of i or i itself, u and v 1×f for each head.
//
// Attention weights are dropped out with probability 0.6, unless Config.Dropout is 0. Edge weights are not used. On a
// sample without edges nothing trains u and v: decay takes them towards zero, where attention is the plain mean.
func GAT() Model { return gat{} }

// Name returns "gat".
func (gat) Name() string { return "gat" }

// shapes lists W, u, v, b of the hidden layer, heads side by side, then those of the last layer.
func (gat) shapes(features, hidden, classes int) []shape {
	width := gatHeads * ((hidden + gatHeads - 1) / gatHeads)
	return []shape{
		{rows: features, cols: width}, {rows: width, cols: 1}, {rows: width, cols: 1}, {rows: 1, cols: width, bias: true},
		{rows: width, cols: classes}, {rows: classes, cols: 1}, {rows: classes, cols: 1}, {rows: 1, cols: classes, bias: true},
	}
}

// prepare turns A + I into a list of edges.
func (gat) prepare(ctx context.Context, s *Sample, config Config) (pass, error) {
	n, _ := s.X.Dims()
	edges := autodiff.NewEdges(withLoops(s.Adj, n))
	attention := gatDropout
	if config.Dropout == 0 {
		attention = 0
	}
	var owners [gatHeads + 1]*mat.Dense // by number of heads
	layer := func(t *autodiff.Tape, x *autodiff.Var, p []*autodiff.Var, heads int, src rand.Source) *autodiff.Var {
		// The inner product of a row of x with the part of u that belongs to each head, n×heads, as one product of matrices.
		if owners[heads] == nil {
			owners[heads] = headOwners(p[0].Value.Rows, heads)
		}
		owner := t.Var(owners[heads])
		dots := func(a *autodiff.Var) *autodiff.Var { return t.MatMul(x, t.Mul(t.RepeatColumn(a, heads), owner)) }
		u := t.EdgeRows(edges, dots(p[0]), false)
		v := t.EdgeRows(edges, dots(p[1]), true)
		weights := t.EdgeSoftmax(edges, t.LeakyReLU(gatSlope, t.Add(u, v)))
		return t.AddRow(t.Attend(edges, t.Dropout(weights, attention, src), x, false), p[2])
	}
	first := func(t *autodiff.Tape, w *autodiff.Var, src rand.Source) *autodiff.Var {
		return t.MatMul(t.Dropout(t.Var(s.X.(*mat.Dense)), config.InputDropout, src), w)
	}
	if x, ok := s.X.(*mat.CSR); ok {
		features := newFeatures(x)
		first = func(t *autodiff.Tape, w *autodiff.Var, src rand.Source) *autodiff.Var {
			features.drop(config.InputDropout, src)
			return t.Linear(features, w)
		}
	}
	return func(t *autodiff.Tape, p []*autodiff.Var, src rand.Source) *autodiff.Var {
		h := t.ELU(layer(t, first(t, p[0], src), p[1:4], gatHeads, src))
		return layer(t, t.MatMul(t.Dropout(h, config.Dropout, src), p[4]), p[5:8], 1, src)
	}, ctx.Err()
}

// headOwners returns the width×heads matrix with a 1 where the unit belongs to the head.
func headOwners(width, heads int) *mat.Dense {
	m := mat.NewDense(width, heads)
	for i := range width {
		m.Row(i)[i*heads/width] = 1
	}
	return m
}

// withLoops returns the pattern of A + I for n nodes; a nil A has no edges.
func withLoops(a *mat.CSR, n int) *mat.CSR {
	p := &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)}
	for i := range n {
		placed := false
		if a != nil {
			for _, j := range a.Indices[a.Indptr[i]:a.Indptr[i+1]] {
				if !placed && int(j) > i {
					p.Indices = append(p.Indices, int32(i))
					placed = true
				}
				p.Indices = append(p.Indices, j)
			}
		}
		if !placed {
			p.Indices = append(p.Indices, int32(i))
		}
		p.Indptr[i+1] = int64(len(p.Indices))
	}
	return p
}

// logits takes one head at a time: ELU acts on each unit by itself, so a head's units are projected on the classes and forgotten. What
// is kept for a node is 2f units and c values, for an edge nothing.
func (gat) logits(ctx context.Context, v *view, w *workspace, p []*mat.Dense) (*mat.Dense, error) {
	w.reset()
	near, far := v.field(1), v.field(2)
	width := p[0].Cols / gatHeads
	projected, part, u, h := w.take(), w.take(), w.take(), w.take()
	for k := range gatHeads {
		lo, hi := k*width, (k+1)*width
		weights := columns(w, p[0], lo, hi)
		if err := v.times(ctx, w, u, far, weights); err != nil {
			return nil, err
		}
		if err := v.attend(ctx, w, h, u, p[1].Data[lo:hi], p[2].Data[lo:hi], p[3].Data[lo:hi], far, near); err != nil {
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
	}
	z := w.take()
	return z, v.attend(ctx, w, z, projected, p[5].Data, p[6].Data, p[7].Data, near, v.field(0))
}

// times sets dst to X·weights on a field, in blocks of rows.
func (v *view) times(ctx context.Context, w *workspace, dst *mat.Dense, at *field, weights *mat.Dense) error {
	if s, ok := v.x.(*mat.CSR); ok {
		all := w.take()
		mat.MulSparse(all, s, weights)
		if at.nodes == nil {
			*dst, *all = *all, *dst
			return ctx.Err()
		}
		mat.Rows(dst, all, at.nodes)
		return ctx.Err()
	}
	n := v.size(at)
	x := w.take()
	dst.Reshape(n, weights.Cols)
	for lo := 0; lo < n && ctx.Err() == nil; lo += blockRows {
		hi := min(lo+blockRows, n)
		to, block := rowsOf(dst, lo, hi), mat.Dense{}
		if at.nodes == nil {
			block = rowsOf(v.x.(*mat.Dense), lo, hi)
		} else {
			mat.Rows(x, v.x, at.nodes[lo:hi])
			block = *x
		}
		mat.Mul(&to, &block, weights)
	}
	return ctx.Err()
}

// attend sets row i of dst, on the field to, to Σ_j α_ij·x_j + b for one head with vectors u and v, for x on the field from.
func (v *view) attend(ctx context.Context, w *workspace, dst, x *mat.Dense, u, vec, b []float32, from, to *field) error {
	dst.Reshape(v.size(to), x.Cols)
	taken := w.taken
	scores := w.take() // v·x_j
	scores.Reshape(x.Rows, 1)
	w.taken = taken
	a := attention{v.adj, *dst, *x, scores.Data, u, vec, b, from, to}
	attentions.For(x.Rows, 4096, a, (*attention).score)
	return attentions.ForContext(ctx, dst.Rows, 256, a, (*attention).run)
}

// attention is a call of attend.
type attention struct {
	adj      *mat.CSR
	dst, x   mat.Dense // copies of the headers
	scores   []float32
	u, v, b  []float32
	from, to *field
}

var attentions parallel.Loop[attention]

// score computes the scores that nodes lo to hi−1 of the field from have as neighbours.
func (a *attention) score(lo, hi int) {
	for j := lo; j < hi; j++ {
		a.scores[j] = kernel.Dot(a.x.Row(j), a.v)
	}
}

// segments is the edges of some nodes as rows of a sparse matrix.
type segments struct {
	indptr  []int64
	indices []int32
	weights []float32
}

var segmentPool = sync.Pool{New: func() any { return new(segments) }}

// run computes rows lo to hi−1 of dst. It writes the edges of these nodes as a sparse matrix, and leaves the rest to the gathering kernel.
func (a *attention) run(lo, hi int) {
	s := segmentPool.Get().(*segments)
	defer segmentPool.Put(s)
	s.indptr, s.indices, s.weights = append(s.indptr[:0], 0), s.indices[:0], s.weights[:0]
	for r := lo; r < hi; r++ {
		i := int32(r)
		if a.to.nodes != nil {
			i = a.to.nodes[r]
		}
		first := len(s.indices)
		s.indices = append(s.indices, a.from.place(i))
		for _, j := range a.adj.Indices[a.adj.Indptr[i]:a.adj.Indptr[i+1]] {
			s.indices = append(s.indices, a.from.place(j))
		}
		own := kernel.Dot(a.x.Row(int(s.indices[first])), a.u)
		for _, j := range s.indices[first:] {
			score := own + a.scores[j]
			if score < 0 {
				score *= gatSlope
			}
			s.weights = append(s.weights, score)
		}
		kernel.Softmax(s.weights[first:])
		s.indptr = append(s.indptr, int64(len(s.indices)))
	}
	d := a.x.Cols
	kernel.Gather(a.dst.Data[lo*d:hi*d], d, 0, hi-lo, s.indptr, s.indices, s.weights, nil, nil, 0, a.x.Data, d, d)
	for r := lo; r < hi; r++ {
		kernel.Add(a.dst.Row(r), a.dst.Row(r), a.b)
	}
}

const eluChunk = 1 << 14

// elu replaces each negative x by exp(x) − 1.
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

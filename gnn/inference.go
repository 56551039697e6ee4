package gnn

import (
	"context"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// blockRows is the number of nodes whose hidden units are kept at a time: 8 MB for 256 units, and enough rows for the product's kernel.
const blockRows = 8192

// sparseUnits is view.units: 256 MB, and all the units of graphs of up to 262,144 nodes.
const sparseUnits = 1 << 26

// logits works from the output back to what is needed. The last layer's filters reach nodes at most some hops from the rows of v; at
// those nodes, in blocks, hidden units are computed and at once projected on the classes, for each filter of the last layer;
// propagation then moves rows of c values only.
func (m *polynomial) logits(ctx context.Context, v *view, w *workspace, parameters []*mat.Dense) (*mat.Dense, error) {
	w.reset()
	filters := m.layers[0]
	weights, bias := parameters[:len(filters)], parameters[len(filters)]
	if len(m.layers) == 1 {
		z := w.take()
		z.Reshape(v.size(v.field(0)), bias.Cols)
		err := v.firstLayer(ctx, w, filters, 0, weights, bias, func(lo, first int, h mat.Dense) {
			for i := range h.Rows {
				copy(z.Row(lo + i)[first:], h.Row(i))
			}
		})
		return z, err
	}
	parameters = parameters[len(filters)+1:]
	last := m.layers[1]
	reach := 0
	for _, f := range last {
		reach = max(reach, f.degree())
	}
	at := v.field(reach)
	projected := make([]*mat.Dense, 0, fewFilters)
	for k := range last {
		projected = append(projected, w.take())
		projected[k].Reshape(v.size(at), parameters[k].Cols)
	}
	part := w.take()
	taken := w.taken
	err := v.firstLayer(ctx, w, filters, reach, weights, bias, func(lo, first int, h mat.Dense) {
		kernel.ReLU(h.Data, h.Data)
		for k, p := range projected {
			to, units := rowsOf(p, lo, lo+h.Rows), rowsOf(parameters[k], first, first+h.Cols)
			if first == 0 {
				mat.Mul(&to, &h, &units)
				continue
			}
			mat.Mul(part, &h, &units)
			kernel.Add(to.Data, to.Data, part.Data)
		}
	})
	if err != nil {
		return nil, err
	}
	w.taken = taken // the first layer's memory serves the last
	var z *mat.Dense
	for k, f := range last {
		term, err := v.filter(ctx, w, f, projected[k], at, 0)
		if err != nil {
			return nil, err
		}
		if z = sum(z, term); k == 0 {
			taken = w.taken
		}
		w.taken = taken
	}
	addRow(z, parameters[len(last)].Data)
	return z, nil
}

// fewFilters is the number of filters of a layer whose lists stay off the heap.
const fewFilters = 4

// firstLayer computes Σ_k P_k·X·W_k + b at the nodes within the given number of hops, and hands it to each in parts, whose memory is
// used again: h holds units first, first+1, … of the nodes lo, lo+1, … of that field.
//
// Dense X is propagated before the product with W: that does not depend on the weights, and hidden units need not be kept; parts
// are blocks of nodes. Sparse X is multiplied first, since X has fewer entries than its propagated form; parts are
// blocks of nodes and of units, so that what is kept for all nodes is bounded.
func (v *view) firstLayer(ctx context.Context, w *workspace, filters []filter, hops int, weights []*mat.Dense, bias *mat.Dense, each func(lo, first int, h mat.Dense)) error {
	if s, ok := v.x.(*mat.CSR); ok {
		width := max(16, v.units/s.Rows/16*16)
		for first := 0; first < bias.Cols; first += width {
			if err := v.firstLayerSparse(ctx, w, s, filters, hops, weights, bias, first, min(first+width, bias.Cols), each); err != nil {
				return err
			}
		}
		return nil
	}
	n := v.size(v.field(hops))
	sources := make([]source, 0, fewFilters)
	for _, f := range filters {
		from, err := v.features(ctx, w, f, hops)
		if err != nil {
			return err
		}
		sources = append(sources, from)
	}
	x, h, product := w.take(), w.take(), w.take()
	for lo := 0; lo < n; lo += blockRows {
		hi := min(lo+blockRows, n)
		for k, from := range sources {
			block, err := from.rows(ctx, v, w, x, lo, hi)
			if err != nil {
				return err
			}
			if k == 0 {
				mat.Mul(h, &block, weights[k])
				continue
			}
			mat.Mul(product, &block, weights[k])
			sum(h, product)
		}
		addRow(h, bias.Data)
		each(lo, 0, *h)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// firstLayerSparse does for units lo to hi−1 what firstLayer does for all.
func (v *view) firstLayerSparse(ctx context.Context, w *workspace, x *mat.CSR, filters []filter, hops int, weights []*mat.Dense, bias *mat.Dense, lo, hi int, each func(lo, first int, h mat.Dense)) error {
	taken := w.taken
	defer func() { w.taken = taken }()
	var h *mat.Dense
	for k, f := range filters {
		units := weights[k]
		if hi-lo < units.Cols {
			units = columns(w, units, lo, hi)
		}
		u := w.take()
		mat.MulSparse(u, x, units)
		term, err := v.filter(ctx, w, f, u, &v.whole, hops)
		if err != nil {
			return err
		}
		h = sum(h, term)
	}
	addRow(h, bias.Data[lo:hi])
	for first := 0; first < h.Rows; first += blockRows {
		each(first, lo, rowsOf(h, first, min(first+blockRows, h.Rows)))
	}
	return ctx.Err()
}

// columns returns columns lo to hi−1 of m in memory of w.
func columns(w *workspace, m *mat.Dense, lo, hi int) *mat.Dense {
	c := w.take()
	c.Reshape(m.Rows, hi-lo)
	for i := range m.Rows {
		copy(c.Row(i), m.Row(i)[lo:hi])
	}
	return c
}

// source is P·X for dense X at the nodes of a field: in memory, or one propagation away from it.
type source struct {
	filter filter
	at     *field
	px     *mat.Dense // P·X, nil if it is not in memory
	z      *mat.Dense // all but the last step of Horner's rule, at all nodes
}

// features returns P·X for dense X, at the nodes within the given number of hops. All but the last propagation are done here, for
// all nodes; the last is done block by block, or kept once it was done if v keeps and has room.
func (v *view) features(ctx context.Context, w *workspace, f filter, hops int) (source, error) {
	s := source{filter: f, at: v.field(hops)}
	if f.degree() == 0 {
		return s, nil
	}
	x := v.x.(*mat.Dense)
	keep := false
	if v.keep {
		v.keptMu.Lock()
		defer v.keptMu.Unlock()
		for _, k := range v.kept {
			if k.hops == hops && k.filter.equal(f) {
				s.px = k.px
				return s, nil
			}
		}
		keep = v.size(s.at)*x.Cols <= v.room
	}
	taken := w.taken
	s.z = x
	for j := f.degree() - 1; j > 0; j-- {
		next := w.take()
		if err := v.horner(ctx, w, f, j, next, s.z, &v.whole, x, &v.whole, &v.whole); err != nil {
			return s, err
		}
		s.z = next
	}
	if keep {
		px := &mat.Dense{}
		if _, err := s.rows(ctx, v, w, px, 0, v.size(s.at)); err != nil {
			return s, err
		}
		s.px, s.z = px, nil
		v.kept = append(v.kept, kept{f, hops, px})
		v.room -= len(px.Data)
		w.taken = taken // z is not needed any more
	}
	return s, nil
}

// rows returns rows lo to hi−1 of the source, computed in dst or in memory of their own.
func (s source) rows(ctx context.Context, v *view, w *workspace, dst *mat.Dense, lo, hi int) (mat.Dense, error) {
	x := v.x.(*mat.Dense)
	switch {
	case s.px != nil:
		return rowsOf(s.px, lo, hi), nil
	case s.filter.degree() > 0:
		part := &field{nodes: v.nodes(w, s.at, lo, hi)}
		err := v.horner(ctx, w, s.filter, 0, dst, s.z, &v.whole, x, &v.whole, part)
		return *dst, err
	case s.at.nodes == nil:
		return rowsOf(x, lo, hi), nil
	}
	mat.Rows(dst, x, s.at.nodes[lo:hi])
	return *dst, nil
}

// nodes returns nodes lo to hi−1 of a field.
func (v *view) nodes(w *workspace, f *field, lo, hi int) []int32 {
	if f.nodes != nil {
		return f.nodes[lo:hi]
	}
	w.index = w.index[:0]
	for i := lo; i < hi; i++ {
		w.index = append(w.index, int32(i))
	}
	return w.index
}

// filter returns f·x at the nodes within the given number of hops, for x known on the field from, which reaches far enough. The
// result is memory of w, or x itself.
func (v *view) filter(ctx context.Context, w *workspace, f filter, x *mat.Dense, from *field, hops int) (*mat.Dense, error) {
	if f.degree() == 0 {
		return v.restrict(w, x, from, v.field(hops)), nil // c_0 is 1 in all models
	}
	z, at := x, from
	var next, spare *mat.Dense // two matrices that take turns, whatever the degree
	for j := f.degree() - 1; j >= 0; j-- {
		if next, spare = spare, nil; next == nil {
			next = w.take()
		}
		to := v.field(hops + j)
		if err := v.horner(ctx, w, f, j, next, z, at, x, from, to); err != nil {
			return nil, err
		}
		if z != x {
			spare = z
		}
		z, at = next, to
	}
	return z, nil
}

// horner is the step of Horner's rule that adds the term of degree j: dst = P·z + c_j·x on the field to, for z on the field at and x
// on the field from. In the first step z is x without its coefficient.
func (v *view) horner(ctx context.Context, w *workspace, f filter, j int, dst, z *mat.Dense, at *field, x *mat.Dense, from, to *field) error {
	op := v.operator(f)
	var err error
	if to.nodes == nil {
		err = op.Apply(ctx, dst, z)
	} else {
		err = op.ApplyRows(ctx, dst, z, to.nodes, at.position)
	}
	if err != nil {
		return err
	}
	if m := f.degree(); j == m-1 && f.c[m] != 1 {
		kernel.Scale(dst.Data, f.c[m], dst.Data)
	}
	if f.c[j] != 0 {
		taken := w.taken
		kernel.Axpy(f.c[j], v.restrict(w, x, from, to).Data, dst.Data)
		w.taken = taken
	}
	return nil
}

// sum adds b to a, or returns b if there is no a yet.
func sum(a, b *mat.Dense) *mat.Dense {
	if a == nil {
		return b
	}
	kernel.Add(a.Data, a.Data, b.Data)
	return a
}

// rowsOf returns rows lo to hi−1 of m, in m's memory.
func rowsOf(m *mat.Dense, lo, hi int) mat.Dense {
	return mat.Dense{Rows: hi - lo, Cols: m.Cols, Data: m.Data[lo*m.Cols : hi*m.Cols : hi*m.Cols]}
}

// addRow adds the row b to each row of x.
func addRow(x *mat.Dense, b []float32) {
	rowAdditions.For(x.Rows, 256, rowAddition{*x, b}, func(a *rowAddition, lo, hi int) {
		for i := lo; i < hi; i++ {
			kernel.Add(a.x.Row(i), a.x.Row(i), a.b)
		}
	})
}

// rowAddition is a call of addRow.
type rowAddition struct {
	x mat.Dense // a copy of the header
	b []float32
}

var rowAdditions parallel.Loop[rowAddition]

package gnn

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// blockRows is the number of nodes whose hidden units are kept at a time: 8 MB for 256 units, and enough rows for the product's kernel.
const blockRows = 8192

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
		err := v.firstLayer(ctx, w, filters, 0, weights, bias, func(lo, hi int, h *mat.Dense) { copy(rowsOf(z, lo, hi).Data, h.Data) })
		return z, err
	}
	parameters = parameters[len(filters)+1:]
	last := m.layers[1]
	reach := 0
	for _, f := range last {
		reach = max(reach, f.degree())
	}
	at := v.field(reach)
	projected := make([]*mat.Dense, len(last))
	for k := range projected {
		projected[k] = w.take()
		projected[k].Reshape(v.size(at), parameters[k].Cols)
	}
	err := v.firstLayer(ctx, w, filters, reach, weights, bias, func(lo, hi int, h *mat.Dense) {
		kernel.ReLU(h.Data, h.Data)
		for k, p := range projected {
			mat.Mul(rowsOf(p, lo, hi), h, parameters[k])
		}
	})
	if err != nil {
		return nil, err
	}
	var z *mat.Dense
	for k, f := range last {
		term, err := v.filter(ctx, w, f, projected[k], at, 0)
		if err != nil {
			return nil, err
		}
		z = sum(z, term)
	}
	addRow(z, parameters[len(last)])
	return z, nil
}

// firstLayer computes Σ_k P_k·X·W_k + b at the nodes within the given number of hops, and hands it to each in blocks of rows, whose
// memory is used again.
//
// Dense X is propagated before the product with W: that does not depend on the weights, and hidden units need not be kept. Sparse
// X is multiplied first, since X has fewer entries than its propagated form; that keeps a row of hidden units for each node.
func (v *view) firstLayer(ctx context.Context, w *workspace, filters []filter, hops int, weights []*mat.Dense, bias *mat.Dense, each func(lo, hi int, h *mat.Dense)) error {
	n := v.size(v.field(hops))
	if s, ok := v.x.(*mat.CSR); ok {
		var h *mat.Dense
		for k, f := range filters {
			u := w.take()
			mat.MulSparse(u, s, weights[k])
			term, err := v.filter(ctx, w, f, u, &v.whole, hops)
			if err != nil {
				return err
			}
			h = sum(h, term)
		}
		addRow(h, bias)
		for lo := 0; lo < n; lo += blockRows {
			hi := min(lo+blockRows, n)
			each(lo, hi, rowsOf(h, lo, hi))
		}
		return ctx.Err()
	}
	source := make([]blocks, len(filters))
	for k, f := range filters {
		var err error
		if source[k], err = v.features(ctx, w, f, hops); err != nil {
			return err
		}
	}
	x, h, product := w.take(), w.take(), w.take()
	for lo := 0; lo < n; lo += blockRows {
		hi := min(lo+blockRows, n)
		for k := range filters {
			block, err := source[k](x, lo, hi)
			if err != nil {
				return err
			}
			if k == 0 {
				mat.Mul(h, block, weights[k])
				continue
			}
			mat.Mul(product, block, weights[k])
			sum(h, product)
		}
		addRow(h, bias)
		each(lo, hi, h)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// blocks returns rows lo to hi−1 of a matrix, in dst or in memory of its own.
type blocks func(dst *mat.Dense, lo, hi int) (*mat.Dense, error)

// features returns P·X for dense X, at the nodes within the given number of hops. All but the last propagation are done here, for
// all nodes; the last is done block by block, or kept once it was done if v keeps.
func (v *view) features(ctx context.Context, w *workspace, f filter, hops int) (blocks, error) {
	x := v.x.(*mat.Dense)
	at := v.field(hops)
	m := f.degree()
	if m == 0 {
		if at.nodes == nil {
			return func(_ *mat.Dense, lo, hi int) (*mat.Dense, error) { return rowsOf(x, lo, hi), nil }, nil
		}
		return func(dst *mat.Dense, lo, hi int) (*mat.Dense, error) {
			mat.Rows(dst, x, at.nodes[lo:hi])
			return dst, nil
		}, nil
	}
	if v.keep {
		v.keptMu.Lock()
		defer v.keptMu.Unlock()
	}
	key := fmt.Sprint(f.mean, f.c, hops)
	kept := v.kept[key]
	if kept == nil {
		z := x
		for j := m - 1; j > 0; j-- {
			next := w.take()
			if err := v.horner(ctx, w, f, j, next, z, &v.whole, x, &v.whole, &v.whole); err != nil {
				return nil, err
			}
			z = next
		}
		last := func(dst *mat.Dense, lo, hi int) (*mat.Dense, error) {
			part := &field{nodes: v.nodes(w, at, lo, hi)}
			return dst, v.horner(ctx, w, f, 0, dst, z, &v.whole, x, &v.whole, part)
		}
		if !v.keep {
			return last, nil
		}
		kept = &mat.Dense{}
		if _, err := last(kept, 0, v.size(at)); err != nil {
			return nil, err
		}
		v.kept[key] = kept
	}
	return func(_ *mat.Dense, lo, hi int) (*mat.Dense, error) { return rowsOf(kept, lo, hi), nil }, nil
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
	for j := f.degree() - 1; j >= 0; j-- {
		next, to := w.take(), v.field(hops+j)
		if err := v.horner(ctx, w, f, j, next, z, at, x, from, to); err != nil {
			return nil, err
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
func rowsOf(m *mat.Dense, lo, hi int) *mat.Dense {
	return &mat.Dense{Rows: hi - lo, Cols: m.Cols, Data: m.Data[lo*m.Cols : hi*m.Cols : hi*m.Cols]}
}

// addRow adds the row b to each row of x.
func addRow(x, b *mat.Dense) {
	parallel.For(x.Rows, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			kernel.Add(x.Row(i), x.Row(i), b.Data)
		}
	})
}

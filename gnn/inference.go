package gnn

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// blockRows is the number of nodes whose hidden units are in memory at once. With 256 units they need 8 MB. More rows
// would not make the matrix product faster.
const blockRows = 8192

// sparseUnits is the initial value of scope.units: 256 MB. Graphs of up to 262,144 nodes then need one part for 256
// units.
const sparseUnits = 1 << 26

// Infer works backwards from the output to determine which nodes are needed. The filters of the layers after the first
// reach nodes within a few hops of the rows of v. There, hidden units of the first layer are computed in blocks of
// nodes and immediately multiplied by the weights of the next layer, for each of its filters. With two layers,
// propagation then moves only rows of c values, and only these are kept for all nodes. A layer between the first and
// the last moves rows of hidden units and keeps them for all nodes that it reaches (needs.middleLayers).
func (m *polynomial) Infer(ctx context.Context, v *View, parameters []*mat.Dense) (*mat.Dense, error) {
	v.work.reset()
	filters := m.layers[0]
	first := firstLayer{filters: filters, weights: parameters[:len(filters)], bias: parameters[len(filters)].Data}
	if len(m.layers) == 1 {
		z := v.work.take()
		z.Reshape(v.size(v.field(0)), len(first.bias))
		err := v.first(ctx, first, func(lo, unit int, h mat.Dense) { setColumns(z, lo, unit, &h) })
		return z, err
	}
	first.hops = hopsOf(m.layers[1:])
	var hidden *mat.Dense // the input of the layer; nil if it is the first layer
	if len(m.layers) > 2 {
		hidden = v.work.take()
	}
	kept, last := v.work.taken, len(m.layers)-1
	for l := 1; ; l++ {
		parameters = parameters[len(filters)+1:]
		filters = m.layers[l]
		next := laterLayer{filters: filters, weights: parameters, hops: hopsOf(m.layers[l+1:])}
		next.at, next.units = v.field(hopsOf(m.layers[l:])), parameters[0].Cols
		next.width = next.units
		if l == last && v.classes > 0 {
			next.width = v.classes
		}
		if l > 1 {
			next.input = hidden
		}
		next.projected = v.projections(next)
		if err := v.project(ctx, first, next); err != nil {
			return nil, err
		}
		z, err := v.output(ctx, next)
		if err != nil {
			return nil, err
		}
		addRow(z, parameters[len(filters)].Data)
		if l == last {
			return z, nil
		}
		hidden.Reshape(z.Rows, z.Cols)
		kernel.ReLU(hidden.Data, z.Data)
		v.work.taken = kept // the next layer reuses the memory
	}
}

// laterLayer is any layer but the first. It computes Σ_k P_k·(H·V_k) at the nodes within hops of the rows, given H·V_k
// at the nodes of at. The columns of H·V_k, one for each unit or class, are stored in blocks of width columns. Block b
// of filter k is projected[b·filters+k].
type laterLayer struct {
	filters      []filter
	weights      []*mat.Dense // V_k
	input        *mat.Dense   // H at the nodes of at; nil if it is the output of the first layer, which is not kept
	at           *field
	hops         int
	units, width int
	projected    []*mat.Dense
}

// projections returns the matrices for l.projected, with arbitrary contents.
func (v *View) projections(l laterLayer) []*mat.Dense {
	list, rows, used := v.work.list[:0], v.size(l.at), 0
	for lo := 0; lo < l.units; lo += l.width {
		some := min(l.width, l.units-lo)
		for range l.filters {
			if l.width < l.units {
				list = append(list, &mat.Dense{Rows: rows, Cols: some, Data: v.spill[used:][: rows*some : rows*some]})
				used += rows * some
				continue
			}
			p := v.work.take()
			p.Reshape(rows, some)
			list = append(list, p)
		}
	}
	v.work.list = list // the slice is reused in the next call
	return list
}

// project computes H·V_k from the input of l, or from the units of the first layer, in parts.
func (v *View) project(ctx context.Context, first firstLayer, l laterLayer) error {
	product := v.work.take()
	taken := v.work.taken
	part := func(lo, unit int, h mat.Dense) {
		for k := range l.filters {
			weights := rowsOf(l.weights[k], unit, unit+h.Cols)
			if l.width == l.units && unit == 0 {
				to := rowsOf(l.projected[k], lo, lo+h.Rows)
				mat.Mul(&to, &h, &weights)
				continue
			}
			mat.Mul(product, &h, &weights)
			for b := 0; b*l.width < l.units; b++ {
				addColumns(l.projected[b*len(l.filters)+k], lo, product, b*l.width, unit > 0)
			}
		}
	}
	if x := l.input; x != nil {
		for lo := 0; lo < x.Rows && ctx.Err() == nil; lo += blockRows {
			part(lo, 0, rowsOf(x, lo, min(lo+blockRows, x.Rows)))
		}
		return ctx.Err()
	}
	err := v.first(ctx, first, func(lo, unit int, h mat.Dense) {
		kernel.ReLU(h.Data, h.Data)
		part(lo, unit, h)
	})
	v.work.taken = taken // the next layer reuses the memory of the first
	return err
}

// output returns the output of l within its hops, without the bias.
func (v *View) output(ctx context.Context, l laterLayer) (*mat.Dense, error) {
	if l.width == l.units {
		return v.propagate(ctx, l, l.projected)
	}
	z := v.work.take()
	z.Reshape(v.size(v.field(l.hops)), l.units)
	taken := v.work.taken
	for b := 0; b*l.width < l.units; b++ {
		v.work.taken = taken
		some, err := v.propagate(ctx, l, l.projected[b*len(l.filters):][:len(l.filters)])
		if err != nil {
			return nil, err
		}
		setColumns(z, 0, b*l.width, some)
	}
	return z, nil
}

// propagate returns Σ_k P_k·X_k within the hops of l. X_k = x[k] has a row for each node of l.at.
func (v *View) propagate(ctx context.Context, l laterLayer, x []*mat.Dense) (z *mat.Dense, err error) {
	kept := v.work.taken
	for k, f := range l.filters {
		term, err := v.filter(ctx, f, located{x[k], l.at}, l.hops)
		if err != nil {
			return nil, err
		}
		if z = sum(z, term); k == 0 {
			kept = v.work.taken
		}
		v.work.taken = kept
	}
	return z, nil
}

// setColumns copies x into rows lo, lo+1, … and columns first, first+1, … of dst.
func setColumns(dst *mat.Dense, lo, first int, x *mat.Dense) {
	for i := range x.Rows {
		copy(dst.Row(lo + i)[first:], x.Row(i))
	}
}

// addColumns sets rows lo, lo+1, … of dst to columns first, first+1, … of the rows of x, or adds them if add is set.
func addColumns(dst *mat.Dense, lo int, x *mat.Dense, first int, add bool) {
	for i := range x.Rows {
		to, from := dst.Row(lo+i), x.Row(i)[first:first+dst.Cols]
		if add {
			kernel.Add(to, to, from)
		} else {
			copy(to, from)
		}
	}
}

// fewFilters is the initial capacity of slices with an entry for each filter. A constant capacity keeps the slices off
// the heap.
const fewFilters = 4

// firstLayer is the layer Σ_k P_k·X·W_k + b at the nodes within hops of the rows.
type firstLayer struct {
	filters []filter
	weights []*mat.Dense
	bias    []float32
	hops    int
}

// first computes a first layer in parts, and calls each with every part. The matrix h of a part holds units first,
// first+1, … of nodes lo, lo+1, … of the field. The next part overwrites h.
//
// Dense X is propagated before it is multiplied by W, because P·X does not depend on the weights, and hidden units need
// not be kept. Parts are blocks of nodes. Any other X is multiplied first: sparse X has fewer entries than P·X, and X
// of another type is read in blocks of rows. Parts are then blocks of nodes and of units, to limit the memory for the
// units of all nodes.
func (v *View) first(ctx context.Context, l firstLayer, each func(lo, first int, h mat.Dense)) error {
	x, dense := v.x.(*mat.Dense)
	if !dense && !v.ready {
		width := max(16, v.units/max(1, v.adj.Rows)/16*16)
		for lo := 0; lo < len(l.bias); lo += width {
			if err := v.firstUnits(ctx, l, lo, min(lo+width, len(l.bias)), each); err != nil {
				return err
			}
		}
		return nil
	}
	n := v.size(v.field(l.hops))
	sources := make([]source, 0, fewFilters)
	for _, f := range l.filters {
		from, err := v.features(ctx, x, f, l.hops)
		if err != nil {
			return err
		}
		sources = append(sources, from)
	}
	w := &v.work
	rows, h, product := w.take(), w.take(), w.take()
	for lo := 0; lo < n; lo += blockRows {
		hi := min(lo+blockRows, n)
		for k, from := range sources {
			block, err := v.read(ctx, rows, from, lo, hi)
			if err != nil {
				return err
			}
			if k == 0 {
				mat.Mul(h, &block, l.weights[k])
				continue
			}
			mat.Mul(product, &block, l.weights[k])
			sum(h, product)
		}
		addRow(h, l.bias)
		each(lo, 0, *h)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// firstUnits implements first for units lo to hi−1, for X that is not dense.
func (v *View) firstUnits(ctx context.Context, l firstLayer, lo, hi int, each func(lo, first int, h mat.Dense)) error {
	w := &v.work
	taken := w.taken
	defer func() { w.taken = taken }()
	var h *mat.Dense
	for k, f := range l.filters {
		units := l.weights[k]
		if hi-lo < units.Cols {
			units = columns(w, units, lo, hi)
		}
		u := w.take()
		at, err := v.multiply(ctx, u, units, l.hops+degree(l.filters))
		if err != nil {
			return err
		}
		term, err := v.filter(ctx, f, located{u, at}, l.hops)
		if err != nil {
			return err
		}
		h = sum(h, term)
	}
	addRow(h, l.bias[lo:hi])
	for first := 0; first < h.Rows; first += blockRows {
		each(first, lo, rowsOf(h, first, min(first+blockRows, h.Rows)))
	}
	return ctx.Err()
}

// multiply sets dst to X·weights, for X that is not dense, at least at the nodes within the given number of hops of the
// rows. It returns the field of dst.
func (v *View) multiply(ctx context.Context, dst, weights *mat.Dense, hops int) (*field, error) {
	if x, ok := v.x.(*mat.CSR); ok {
		at := &v.whole
		if v.keep {
			x, at = v.selected(x, hops)
		}
		mat.MulSparse(dst, x, weights)
		return at, ctx.Err()
	}
	return &v.whole, v.multiplyRows(ctx, dst, weights, &v.whole)
}

// selected returns the rows of a sparse X at the nodes within the given number of hops, and their field. It keeps them
// for the next call. If there is no room for them, it returns X.
func (s *scope) selected(x *mat.CSR, hops int) (*mat.CSR, *field) {
	at := s.field(hops)
	if at.nodes == nil {
		return x, at
	}
	s.keptMu.Lock()
	defer s.keptMu.Unlock()
	if s.some[at] == nil {
		entries := 0
		for _, v := range at.nodes {
			entries += int(x.Indptr[v+1] - x.Indptr[v])
		}
		if 2*entries > s.room {
			return x, &s.whole
		}
		s.room -= 2 * entries // an index and a value
		if s.some == nil {
			s.some = map[*field]*mat.CSR{}
		}
		s.some[at] = x.Select(at.nodes)
	}
	return s.some[at], at
}

// multiplyRows sets dst to X·weights at the nodes of a field, in blocks of rows, for X that is not sparse.
func (v *View) multiplyRows(ctx context.Context, dst, weights *mat.Dense, at *field) error {
	w, n := &v.work, v.size(at)
	taken := w.taken
	defer func() { w.taken = taken }()
	x := w.take()
	dst.Reshape(n, weights.Cols)
	for lo := 0; lo < n; lo += blockRows {
		hi := min(lo+blockRows, n)
		to, block := rowsOf(dst, lo, hi), mat.Dense{}
		dense, ok := v.x.(*mat.Dense)
		switch {
		case ok && at.nodes == nil:
			block = rowsOf(dense, lo, hi)
		case ok:
			dense.Gather(x, at.nodes[lo:hi])
			block = *x
		default:
			if err := readBlock(ctx, x, v.x, v.nodes(at, lo, hi), weights.Rows); err != nil {
				return err
			}
			block = *x
		}
		mat.Mul(&to, &block, weights)
		if err := ctx.Err(); err != nil {
			return err
		}
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

// source is P·X for dense X at the nodes of a field. It is either complete or lacks only its last propagation.
type source struct {
	filter filter
	at     *field
	x      *mat.Dense
	px     mat.Matrix // P·X; nil if it is not computed yet
	z      located    // P·X before the last step of Horner's rule
}

// features prepares P·X for dense X at the nodes within the given number of hops. It runs all propagation steps except
// the last, which read runs block by block. If v keeps P·X and has room for it, features runs the last step too.
func (v *View) features(ctx context.Context, x *mat.Dense, f filter, hops int) (source, error) {
	s := source{filter: f, at: v.field(hops), x: x}
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
		keep = !v.ready && f.degree() > 0 && v.size(s.at)*x.Cols <= v.room
	}
	if f.degree() == 0 {
		return s, nil
	}
	taken := v.work.taken
	s.z = located{x, &v.whole}
	for j := f.degree() - 1; j > 0; j-- {
		next, to := v.work.take(), v.field(hops+j)
		if err := v.horner(ctx, next, hornerStep{f, j, s.z, located{x, &v.whole}, to}); err != nil {
			return s, err
		}
		s.z = located{next, to}
	}
	if keep {
		px := &mat.Dense{}
		if _, err := v.read(ctx, px, s, 0, v.size(s.at)); err != nil {
			return s, err
		}
		s.px, s.z = px, located{}
		v.kept = append(v.kept, kept{f, hops, px})
		v.room -= len(px.Data)
		v.work.taken = taken // z is no longer needed
	}
	return s, nil
}

// read returns rows lo to hi−1 of a source, in dst or in memory of the source.
func (v *View) read(ctx context.Context, dst *mat.Dense, s source, lo, hi int) (mat.Dense, error) {
	if px, dense := s.px.(*mat.Dense); dense {
		return rowsOf(px, lo, hi), nil
	}
	switch {
	case s.px != nil:
		v.work.index = span(v.work.index, lo, hi)
		if err := mat.Rows(dst, s.px, v.work.index); err != nil {
			return *dst, fmt.Errorf("reading features: %w", err)
		}
		return *dst, ctx.Err()
	case s.filter.degree() > 0:
		part := &field{nodes: v.nodes(s.at, lo, hi)}
		err := v.horner(ctx, dst, hornerStep{s.filter, 0, s.z, located{s.x, &v.whole}, part})
		return *dst, err
	case s.at.nodes == nil:
		return rowsOf(s.x, lo, hi), nil
	}
	s.x.Gather(dst, s.at.nodes[lo:hi])
	return *dst, nil
}

// nodes returns nodes lo to hi−1 of a field.
func (v *View) nodes(f *field, lo, hi int) []int32 {
	if f.nodes != nil {
		return f.nodes[lo:hi]
	}
	v.work.index = span(v.work.index, lo, hi)
	return v.work.index
}

// filter returns f·x at the nodes within the given number of hops. The field of x must contain all nodes that f reaches
// from there. The result is in memory of v, or is x itself.
func (v *View) filter(ctx context.Context, f filter, x located, hops int) (*mat.Dense, error) {
	if f.degree() == 0 {
		return v.restrict(x, v.field(hops)), nil // c_0 is 1 in all models
	}
	z := x
	var next, spare *mat.Dense // two matrices that alternate, whatever the degree
	for j := f.degree() - 1; j >= 0; j-- {
		if next, spare = spare, nil; next == nil {
			next = v.work.take()
		}
		to := v.field(hops + j)
		if err := v.horner(ctx, next, hornerStep{f, j, z, x, to}); err != nil {
			return nil, err
		}
		if z.Dense != x.Dense {
			spare = z.Dense
		}
		z = located{next, to}
	}
	return z.Dense, nil
}

// hornerStep is the step of Horner's rule that adds the term of degree j: P·z + c_j·x on the field to. In the first
// step, z is x without its coefficient.
type hornerStep struct {
	filter filter
	j      int
	z, x   located
	to     *field
}

// horner performs the step s and stores its result in dst.
func (v *View) horner(ctx context.Context, dst *mat.Dense, s hornerStep) error {
	op := v.operator(s.filter.rule)
	var err error
	if s.to.nodes == nil {
		err = op.Apply(ctx, dst, s.z.Dense)
	} else {
		err = op.ApplyRows(ctx, dst, s.z.Dense, s.to.nodes, s.z.at.positions())
	}
	if err != nil {
		return err
	}
	c, m := s.filter.c, s.filter.degree()
	if s.j == m-1 && c[m] != 1 {
		kernel.Scale(dst.Data, c[m], dst.Data)
	}
	if c[s.j] != 0 {
		taken := v.work.taken
		kernel.Axpy(c[s.j], v.restrict(s.x, s.to).Data, dst.Data)
		v.work.taken = taken
	}
	return nil
}

// sum adds b to a, or returns b if a is nil.
func sum(a, b *mat.Dense) *mat.Dense {
	if a == nil {
		return b
	}
	kernel.Add(a.Data, a.Data, b.Data)
	return a
}

// rowsOf returns rows lo to hi−1 of m. They share m's memory.
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

// rowAddition holds the arguments of a call to addRow.
type rowAddition struct {
	x mat.Dense // a copy of the header
	b []float32
}

var rowAdditions parallel.Loop[rowAddition]

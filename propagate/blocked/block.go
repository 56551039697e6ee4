package blocked

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/propagate"
)

// run executes the plan of one propagation. It owns the memory that the blocks share.
//
// A hop is P = diag(L)·(A+I)·diag(R). Between hops, S⁽ˡ⁾ = R·H⁽ˡ⁾ is stored, so that the sum over the neighbours needs
// no factors:
//
//	S⁽ˡ⁾ = (1−β)·diag(R·L)·(A+I)·S⁽ˡ⁻¹⁾ + β·S⁽⁰⁾.
type run struct {
	*task
	plan    plan
	degrees bool // the caller gave the degrees
	widest  int  // the largest stride of a block

	// The factors of the operator.
	right    []float32 // R of each node
	gain     []float32 // (1−β)·R·L of each node, for sparse features
	placed   []float32 // gain of each place
	up, down []float32 // for half precision: the power of two of each column of the block, and its inverse

	// Results, which the blocks fill.
	results *results   // H⁽¹⁾ … H⁽ᴷ⁾, and H⁽⁰⁾ if it is a copy
	kept    []byte     // their memory, if it is in Engine.Kept
	copied  [][2]int32 // set if H⁽⁰⁾ is copied while X is read: (node, index in rows), sorted by node

	// Data that the hops read.
	entries []*entries // of the places below plan.kept, in order
	file    entries    // the entries in temporary files
	panels  [3]panel   // blocks of S⁽⁰⁾ (unless the features are sparse) and of two S⁽ˡ⁾
}

// newRun finds the nodes within hops (at least 1) of the rows of in, and plans the propagation. It assigns no places
// yet.
func newRun(ctx context.Context, in propagate.Input, hops int, beta float32, e Engine, apart, rounded bool) *run {
	r := &run{degrees: in.Degrees != nil, task: &task{
		layout: find(ctx, in.Adj, in.Rows, hops),
		adj:    in.Adj, x: in.X, rows: in.Rows, mapped: in.Mapped, last: in.Last, apart: apart, rounded: rounded,
		hops: hops, beta: beta, panel: mat.PanelWidth(in.X), half: e.Precision == Half,
	}}
	_, r.d = in.X.Dims()
	_, r.sparse = in.X.(*mat.CSR)
	r.plan = r.choose(e.Memory)
	for lo, hi := range r.blocks(r.plan) {
		r.widest = max(r.widest, r.stride(r.plan, hi-lo))
	}
	return r
}

// prepare assigns places to the nodes and computes the factors of the operator. The order follows classes only if all
// entries are kept: entries that are built again for each block are best read in the order of the nodes.
func (r *run) prepare(ctx context.Context, operator graph.Operator, in propagate.Input) error {
	last, classes := r.computed(), in.Classes
	if r.plan.kept < last || r.plan.beyond {
		classes = nil
	}
	listed := last
	if r.sparse {
		listed = r.within[r.hops]
	}
	if err := r.order(ctx, r.adj, r.rows, classes, listed); err != nil {
		return err
	}
	r.right = operator.Right
	if err := r.checkDegrees(operator.Left); err != nil {
		return err
	}
	gain := func(v int32) float32 { return (1 - r.beta) * operator.Left[v] * r.scale(v) }
	r.placed = make([]float32, last)
	parallel.For(len(r.placed), nodeChunk, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			r.placed[p] = gain(r.nodes[p])
		}
	})
	if !r.sparse {
		return nil
	}
	r.gain = memory.Make[float32](r.adj.Rows)
	parallel.For(r.adj.Rows, nodeChunk, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			r.gain[v] = gain(int32(v))
		}
	})
	return nil
}

// scale returns entry v of the diagonal of R.
func (r *run) scale(v int32) float32 {
	if r.right == nil {
		return 1
	}
	return r.right[v]
}

// errDirected is the error for an adjacency that graph.Graph.Validate rejects: a row reads a node that is more than one
// hop farther.
var errDirected = errors.New("the adjacency is not symmetric")

// store builds the entries of the first places once for all blocks.
func (r *run) store(ctx context.Context) error {
	count := r.plan.kept
	if count == 0 {
		return nil
	}
	held, left := count, int64(0) // places whose entries are in memory, and how many more entries fit
	if r.plan.held < r.keeps(count) {
		held, left = r.holds(count)
	}
	if held > 0 {
		r.entries = append(r.entries, new(entries))
		r.pointers(r.entries[0], r.adj, 0, held)
	}
	if held < count {
		if err := r.file.scratch(int(r.keeps(count)-(r.plan.held-left)), r.adj.Data != nil); err != nil {
			return err
		}
		r.entries = append(r.entries, &r.file)
		r.pointers(&r.file, r.adj, held, count)
	}
	// Iterate over nodes and not over places: if A is mapped from a file, it is then read in order.
	var directed atomic.Bool
	err := parallel.ForContext(ctx, r.adj.Rows, nodeChunk, func(lo, hi int) {
		asked := r.adj.Indptr[lo]
		for v := int32(lo); v < int32(hi); v++ {
			if end := min(r.adj.Indptr[v+1]+placesAhead, r.adj.Indptr[hi]); end > asked {
				kernel.PrefetchAt(r.place, r.adj.Indices[asked:end])
				asked = end
			}
			p := int(r.place[v])
			if p < 0 || p >= count {
				continue
			}
			e := r.entries[0]
			if p >= e.end() {
				e = r.entries[1]
			}
			if !r.fill(e, p, r.adj, v) {
				directed.Store(true)
			}
		}
	})
	if directed.Load() {
		return errDirected
	}
	return err
}

// holds returns how many of the first places have all their entries in memory, and how many more entries fit.
func (r *run) holds(count int) (places int, left int64) {
	left = r.plan.held
	for _, v := range r.nodes[:count] {
		n := r.adj.Indptr[v+1] - r.adj.Indptr[v] + 1
		if n > left {
			break
		}
		left -= n
		places++
	}
	return places, left
}

// placesAhead is the prefetch distance for the places of neighbours, in entries.
const placesAhead = 64

// free removes the temporary files, except the one of the results.
func (r *run) free() {
	memory.Free(r.file.indices)
	memory.Free(r.file.data)
	if r.results != nil && r.kept == nil {
		memory.Free(r.results.file)
		memory.Free(r.results.halves)
		r.results.file, r.results.halves = nil, nil
	}
	r.entries, r.file = nil, entries{}
}

// block computes columns lo to hi−1 of H⁽¹⁾ … H⁽ᴷ⁾.
func (r *run) block(ctx context.Context, lo, hi int) error {
	x, hops := r.x, r.hops
	if sparse, ok := x.(*mat.CSR); ok && (hi-lo < sparse.Cols || r.plan.beyond) {
		x = sparse.Columns(lo, hi)
	}
	d, stride := hi-lo, r.stride(r.plan, hi-lo)
	if err := r.factors(ctx, x, lo, hi); err != nil {
		return err
	}
	var from *panel
	if !r.sparse {
		from = &r.panels[0]
		r.reshapeSource(from, r.within[hops], stride)
		if err := r.source(ctx, from, lo, d); err != nil {
			return err
		}
		if err := r.results.exceeded; err != nil {
			return err
		}
		defer r.fetch(ctx, hi)()
	}
	for l := 1; l <= hops; l++ {
		to := &r.panels[r.turn(l)]
		r.reshape(to, r.within[hops-l], stride)
		if err := r.hop(ctx, to, from, x, d); err != nil {
			return err
		}
		if l >= r.results.from {
			if r.keep(l, to, lo, hi); r.results.exceeded != nil {
				return r.results.exceeded
			}
		}
		from = to
		done := lo*hops + l*(hi-lo)
		progress.Report(ctx, progress.Event{Stage: "propagate", Done: int64(done), Total: int64(r.d * hops)})
	}
	return ctx.Err()
}

// fetch lets the disk read the features of the next block, from column lo on, while hops are computed, until stop is
// called.
func (r *run) fetch(ctx context.Context, lo int) (stop func()) {
	if !r.plan.beyond {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	reading.Go(func() { paneled.Fetch(ctx, r.x, lo, min(r.d, lo+r.plan.width)) })
	return func() {
		cancel()
		reading.Wait()
	}
}

// turn returns the index of the panel of S⁽ˡ⁾. Hops alternate between two panels. With teleport, S⁽⁰⁾ is needed until
// the end.
func (r *run) turn(l int) int {
	if r.beta > 0 && l > 0 {
		return 1 + l%2
	}
	return l % 2
}

// ahead is the prefetch distance of row copies, in rows, at the source and at the destination.
const ahead = 8

// source sets panel to R·X for d columns of X, from column first on. X is not sparse.
func (r *run) source(ctx context.Context, panel *panel, first, d int) error {
	x, dense := r.x.(*mat.Dense)
	if !dense {
		return r.load(ctx, panel, first, d)
	}
	return parallel.ForContext(ctx, x.Rows, nodeChunk, func(lo, hi int) { // in the order of nodes, as in store
		for v := lo; v < hi; v++ {
			if v+ahead < hi {
				kernel.Prefetch(x.Row(v + ahead)[first : first+d])
				panel.prefetch(max(0, int(r.place[v+ahead])))
			}
			if p := int(r.place[v]); p >= 0 {
				r.put(panel, p, r.scale(int32(v)), x.Row(v)[first:first+d])
			}
		}
		r.copyRows(lo, hi, first, func(v int) []float32 { return x.Row(v)[first : first+d] })
	})
}

// copyRows sets the given columns of H⁽⁰⁾, from column first on, for the rows whose nodes are lo to hi−1.
func (r *run) copyRows(lo, hi, first int, columns func(v int) []float32) {
	at, _ := slices.BinarySearchFunc(r.copied, int32(lo), func(row [2]int32, v int32) int { return int(row[0] - v) })
	for ; at < len(r.copied) && int(r.copied[at][0]) < hi; at++ {
		r.results.put(0, int(r.copied[at][1]), first, columns(int(r.copied[at][0])))
	}
}

// byNode returns the pairs (node, row index) of the rows, sorted by node.
func byNode(rows []int32) [][2]int32 {
	list := make([][2]int32, len(rows))
	for i, v := range rows {
		list[i] = [2]int32{v, int32(i)}
	}
	if !slices.IsSorted(rows) {
		slices.SortFunc(list, func(a, b [2]int32) int { return cmp.Or(int(a[0]-b[0]), int(a[1]-b[1])) })
	}
	return list
}

// rowsRead is the number of rows of features per read: 128 kB in a block of 32 columns.
const rowsRead = 1024

// buffers is a pool of memory for rows of features that are used as soon as they are read.
var buffers = sync.Pool{New: func() any { return new(buffer) }}

type buffer struct {
	nodes []int32
	block mat.Dense
}

// load implements source for features that are read with ReadBlock.
func (r *run) load(ctx context.Context, panel *panel, first, d int) error {
	return r.visit(ctx, first, d, func(nodes []int32, block *mat.Dense) {
		for i, v := range nodes {
			r.put(panel, int(r.place[v]), r.scale(v), block.Row(i))
		}
		r.copyRows(int(nodes[0]), int(nodes[len(nodes)-1])+1, first, func(v int) []float32 {
			i, _ := slices.BinarySearch(nodes, int32(v))
			return block.Row(i)
		})
	})
}

// visit calls use with d columns of X, from column first on, for groups of ascending nodes, from several goroutines.
// Nodes without a place are not read.
func (r *run) visit(ctx context.Context, first, d int, use func(nodes []int32, block *mat.Dense)) error {
	return parallel.Try(ctx, len(r.place), rowsRead, func(lo, hi int) error {
		b := buffers.Get().(*buffer)
		defer buffers.Put(b)
		b.nodes = b.nodes[:0]
		for v := lo; v < hi; v++ {
			if r.place[v] >= 0 {
				b.nodes = append(b.nodes, int32(v))
			}
		}
		if len(b.nodes) == 0 {
			return nil
		}
		if err := mat.Read(&b.block, r.x, b.nodes, first, first+d); err != nil {
			return fmt.Errorf("reading features: %w", err)
		}
		use(b.nodes, &b.block)
		return nil
	})
}

// made is a pool of memory for entries that are used as soon as they are built.
var made = sync.Pool{New: func() any { return new(entries) }}

// hop stores the first rows of (1−β)·diag(R·L)·(A+I)·from + β·S⁽⁰⁾ in the panel to. If from is nil, it computes the
// first hop from x, sparse features of d columns. The padding after the features is computed too.
func (r *run) hop(ctx context.Context, to, from *panel, x mat.Matrix, d int) error {
	first := graph.Operator{Adj: r.adj, Left: r.gain, Right: r.right, Self: 1}
	var directed atomic.Bool
	sum := func(e *entries, lo, hi int) { // rows lo to hi−1
		for end := lo; lo < hi; lo = end {
			end = min(lo+r.tileRows(to.Cols), hi)
			t := r.tile(to, lo, end)
			if from != nil {
				r.sum(t, from, e, lo, end)
			} else {
				_ = first.ApplyInto(ctx, &t.Dense, x, r.nodes[lo:end], nil) // the caller checks ctx
				t.scale(r.up, d)
			}
			if r.beta > 0 {
				r.teleport(t, lo, x, d)
			}
			t.settle(to, lo)
		}
	}
	err := parallel.ForContext(ctx, to.Rows, nodeChunk, func(lo, hi int) {
		if from == nil {
			sum(nil, lo, hi)
			return
		}
		for _, e := range r.entries {
			if end := min(hi, e.end()); lo < end {
				sum(e, lo, end)
				lo = end
			}
		}
		if lo == hi {
			return
		}
		e := made.Get().(*entries)
		defer made.Put(e)
		r.pointers(e, r.adj, lo, hi)
		for p := lo; p < hi; p++ {
			if !r.fill(e, p, r.adj, r.nodes[p]) {
				directed.Store(true)
				return
			}
		}
		sum(e, lo, hi)
	})
	if directed.Load() {
		return errDirected
	}
	return err
}

// sum computes rows lo to hi−1 of a hop into t, at most nodeChunk of them.
func (r *run) sum(t *tile, from *panel, e *entries, lo, hi int) {
	dst, stride := kernel.Rows(t.Data, t.Cols), from.Cols
	indptr, gain := e.indptr[lo-e.first:hi-e.first+1], r.placed[lo:hi]
	var weights []float32
	if r.adj.Data != nil {
		weights = e.data
	}
	// A cache line that is read for a narrow row continues into the next rows. Their sums are not used.
	switch {
	case from.Data == nil && !r.half:
		kernel.GatherFactored(dst, indptr, e.indices, gain, kernel.Halves{Data: from.halves, Stride: stride}, t.Cols)
	case r.half:
		kernel.GatherHalf(dst, indptr, e.indices, weights, gain, kernel.Halves{Data: from.halves, Stride: stride}, t.Cols)
	case weights != nil:
		edges := kernel.Sparse{Indptr: indptr, Indices: e.indices, Weights: weights, Left: gain}
		kernel.Gather(dst, edges, 0, hi-lo, kernel.Rows(from.Data, stride), stride)
	default:
		kernel.GatherSum(dst, indptr, e.indices, gain, kernel.Rows(from.memory, stride), t.Cols)
	}
}

// keep copies the requested rows of H⁽ˡ⁾, in columns lo to hi−1, from their block of S⁽ˡ⁾.
func (r *run) keep(l int, block *panel, lo, hi int) {
	parallel.For(len(r.rows), nodeChunk, func(first, end int) {
		var wide []float32 // a row before it is narrowed
		if r.results.halves != nil {
			wide = make([]float32, hi-lo)
		}
		for i := first; i < end; i++ {
			if i+ahead < end {
				block.prefetch(int(r.place[r.rows[i+ahead]]))
				r.results.prefetch(l, i+ahead, lo, hi)
			}
			v := r.rows[i]
			if wide == nil {
				r.take(r.results.row(l, i, lo, hi), 1/r.scale(v), block, int(r.place[v]))
				continue
			}
			r.take(wide, 1/r.scale(v), block, int(r.place[v]))
			r.results.put(l, i, lo, wide)
		}
	})
}

// teleport adds β·S⁽⁰⁾ to d columns of t, whose rows start at place first. If the features are sparse, x contains only
// these columns.
func (r *run) teleport(t *tile, first int, x mat.Matrix, d int) {
	sparse, ok := x.(*mat.CSR)
	for i := range t.Rows {
		if !ok {
			r.addTo(t, first, &r.panels[0], first+i, d)
			continue
		}
		v := r.nodes[first+i]
		w := r.beta * r.scale(v)
		for e := sparse.Indptr[v]; e < sparse.Indptr[v+1]; e++ {
			feature := float32(1)
			if sparse.Data != nil {
				feature = sparse.Data[e]
			}
			share, k := float32(w*feature), sparse.Indices[e]
			if r.half {
				share *= r.up[k]
			}
			t.Row(i)[k] += share
		}
	}
}

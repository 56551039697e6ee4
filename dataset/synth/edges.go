package synth

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// edgeChunk is the number of edges that one generator draws.
const edgeChunk = 1 << 16

// surplus is the number of edges drawn at first. It exceeds Edges because repeats and self-loops are dropped.
func (m *maker) surplus() int { return m.Edges + m.Edges/32 }

// more returns how many edges to draw when missing of the drawn edges were lost as repeats.
func more(drawn, missing int) int { return drawn + 2*missing + 16 }

// edges draws edges until there are Edges distinct ones, and drops the surplus.
func (m *maker) edges(ctx context.Context) (*mat.CSR, error) {
	var drawn graph.Edges
	for want := m.surplus(); ; {
		from := drawn.Len() / edgeChunk * edgeChunk // an incomplete last chunk is drawn again in full
		drawn.From = slices.Grow(drawn.From[:from], want-from)[:want]
		drawn.To = slices.Grow(drawn.To[:from], want-from)[:want]
		var done atomic.Int64
		err := m.chunks(ctx, from, want, func(lo, hi int) error {
			m.fill(graph.Edges{From: drawn.From[lo:hi], To: drawn.To[lo:hi]}, lo)
			now := done.Add(int64(hi - lo))
			progress.Report(ctx, progress.Event{Stage: "drawing edges", Done: now, Total: int64(want - from)})
			return nil
		})
		if err != nil {
			return nil, err
		}
		adj, _, err := graph.Adjacency(ctx, m.Nodes, drawn)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			panic(err) // nodes are drawn from 0 to N−1
		}
		surplus := adj.NNZ()/2 - m.Edges
		if surplus >= 0 {
			if err := thin(ctx, adj, surplus); err != nil {
				return nil, err
			}
			return adj, ctx.Err()
		}
		want = more(want, -surplus)
	}
}

// chunks calls draw for the chunks of edges from to want−1, from several goroutines. The error is one of draw.
func (m *maker) chunks(ctx context.Context, from, want int, draw func(lo, hi int) error) error {
	return each(ctx, want-from, edgeChunk, func(lo, hi int) error { return draw(from+lo, from+hi) })
}

// each calls f for the chunks of [0, n), from several goroutines, until one returns an error.
func each(ctx context.Context, n, chunk int, f func(lo, hi int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := parallel.ForContext(ctx, n, chunk, func(lo, hi int) {
		if err := f(lo, hi); err != nil {
			cancel(err)
		}
	})
	if err != nil {
		return context.Cause(ctx)
	}
	return nil
}

// fill draws edges first, first+1, … into e. All are in one chunk, which begins with first.
func (m *maker) fill(e graph.Edges, first int) {
	same := uint64(m.Homophily / 2 * (1 << 32))
	class := uint64(m.Homophily * (1 << 32))
	groups := uint64(m.Groups)
	random := m.stream(forEdges, first/edgeChunk)
	for i := range e.From {
		u := int32(first + i)
		if first+i >= m.Nodes {
			u = m.stub[uint64(uint32(random.Uint64()))*uint64(len(m.stub))>>32]
		}
		r, k := random.Uint64(), uint64(m.group[u])
		from, to := uint64(0), uint64(len(m.stub))
		switch kind := r >> 32; {
		case kind < same:
			from, to = m.start[k], m.start[k+1]
		case kind < class:
			from, to = m.start[k/groups*groups], m.start[k/groups*groups+groups]
		}
		e.From[i], e.To[i] = u, m.stub[from+uint64(uint32(r))*(to-from)>>32]
	}
}

// thin drops n edges from a symmetric adjacency without weights. The dropped edges are evenly spaced in the order of
// rows. The only error is ctx.Err(), which leaves adj invalid.
func thin(ctx context.Context, adj *mat.CSR, n int) error {
	if n == 0 {
		return nil
	}
	const rows = 1 << 12 // between context checks
	edges := adj.NNZ() / 2
	rank, dropped := 0, 0
	due := func() int { return int((int64(2*dropped+1) * int64(edges)) / int64(2*n)) }
	drop := make([]int64, 0, 2*n)
	for i := range adj.Rows {
		if i%rows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		lo, hi := adj.Indptr[i], adj.Indptr[i+1]
		at, _ := slices.BinarySearch(adj.Indices[lo:hi], int32(i))
		upper := lo + int64(at) // the first entry above the diagonal, where each edge is met once
		for dropped < n && due() < rank+int(hi-upper) {
			e := upper + int64(due()-rank)
			j := adj.Indices[e]
			back, _ := slices.BinarySearch(adj.Indices[adj.Indptr[j]:adj.Indptr[j+1]], int32(i))
			drop = append(drop, e, adj.Indptr[j]+int64(back))
			dropped++
		}
		rank += int(hi - upper)
	}
	slices.Sort(drop)
	at := int64(0)
	for i, lo := 0, int64(0); i < adj.Rows; i++ {
		if i%rows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		hi := adj.Indptr[i+1]
		for ; len(drop) > 0 && drop[0] < hi; drop = drop[1:] {
			at += int64(copy(adj.Indices[at:], adj.Indices[lo:drop[0]]))
			lo = drop[0] + 1
		}
		at += int64(copy(adj.Indices[at:], adj.Indices[lo:hi]))
		lo, adj.Indptr[i+1] = hi, at
	}
	adj.Indices = adj.Indices[:at:at]
	return nil
}

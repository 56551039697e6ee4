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

// more returns how many edges to draw in total, given the numbers drawn and still missing.
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
		switch surplus := adj.NNZ()/2 - m.Edges; {
		case surplus == 0:
			return adj, ctx.Err()
		case surplus > 0:
			thin(&drawn, adj, surplus)
			adj, _, err = graph.Adjacency(ctx, m.Nodes, drawn)
			return adj, err
		default:
			want = more(want, -surplus)
		}
	}
}

// chunks cuts the edges [from, want) into chunks, and calls draw for each, from several goroutines. The error comes
// from draw or ctx.
func (m *maker) chunks(ctx context.Context, from, want int, draw func(lo, hi int) error) error {
	return parallel.Try(ctx, want-from, edgeChunk, func(lo, hi int) error { return draw(from+lo, from+hi) })
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

// thin sets e to the edges of a symmetric adjacency, except n edges that are evenly spaced in the order of rows.
func thin(e *graph.Edges, adj *mat.CSR, n int) {
	e.From, e.To = e.From[:0], e.To[:0]
	edges := adj.NNZ() / 2
	rank, dropped := 0, 0
	for i := range adj.Rows {
		for _, j := range adj.Indices[adj.Indptr[i]:adj.Indptr[i+1]] {
			if int(j) < i {
				continue
			}
			if due := int64(2*dropped+1) * int64(edges) / int64(2*n); dropped < n && int64(rank) == due {
				dropped++
			} else {
				e.From, e.To = append(e.From, int32(i)), append(e.To, j)
			}
			rank++
		}
	}
}

package synth

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Stream returns the graph of Make in parts, for a format.StreamWriter. Nodes are drawn immediately and need Need
// bytes. Shapes with Words cannot be streamed.
func Stream(ctx context.Context, s Shape, src rand.Source) (_ *format.Stream, err error) {
	defer memory.Recover(&err)
	if s.Words > 0 {
		return nil, errors.New("a shape with words has sparse features, must have a dense one to stream")
	}
	m, err := newMaker(ctx, s, src)
	if err != nil {
		return nil, err
	}
	g := &format.Stream{
		Name: s.Name, Classes: s.Classes, Nodes: s.Nodes, Features: s.Features,
		Entries: int64(m.surplus()), Exact: int64(s.Edges),
	}
	if g.Y, g.Split, err = m.labels(ctx); err != nil {
		return nil, err
	}
	drawn := 0
	draw := func(ctx context.Context, want int, add func(graph.Edges) error) error {
		from := drawn / edgeChunk * edgeChunk
		drawn = want
		var memory sync.Pool
		return m.chunks(ctx, from, want, func(lo, hi int) error {
			e, _ := memory.Get().(*graph.Edges)
			if e == nil {
				e = &graph.Edges{From: make([]int32, edgeChunk), To: make([]int32, edgeChunk)}
			}
			defer memory.Put(e)
			e.From, e.To = e.From[:hi-lo], e.To[:hi-lo]
			m.fill(*e, lo)
			return add(*e)
		})
	}
	g.Edges = func(ctx context.Context, add func(graph.Edges) error) error { return draw(ctx, m.surplus(), add) }
	g.More = func(ctx context.Context, missing int64, add func(graph.Edges) error) error {
		return draw(ctx, more(drawn, int(missing)), add)
	}
	g.Rows = func(ctx context.Context, put func(first int, block *mat.Dense) error) error {
		m.stub = nil // edges are drawn
		return m.rows(ctx, put)
	}
	return g, nil
}

// putChunks is the number of chunks of features in a block. Panels are then written in blocks of hundreds of kilobytes.
const putChunks = 8

// rows draws the features chunk by chunk, and passes them to put in blocks.
func (m *maker) rows(ctx context.Context, put func(first int, block *mat.Dense) error) error {
	centre := m.centres()
	var memory sync.Pool
	return parallel.Try(ctx, m.Nodes, putChunks*featureChunk, func(lo, hi int) error {
		x, _ := memory.Get().(*mat.Dense)
		if x == nil {
			x = new(mat.Dense)
		}
		defer memory.Put(x)
		x.Reshape(hi-lo, m.Features)
		for from := lo; from < hi; from += featureChunk {
			to := min(from+featureChunk, hi)
			block := mat.Dense{Rows: to - from, Cols: m.Features, Data: x.Data[(from-lo)*m.Features : (to-lo)*m.Features]}
			m.noise(&block, centre, from)
		}
		return put(lo, x)
	})
}

// Need returns the bytes that Stream needs for a graph of this shape, sorting excluded: for each node its sub-class,
// its label, a place in a shuffled order and about five stubs.
func (s Shape) Need() int64 { return int64(s.Nodes)*(4+4+4+1+5*4) + int64(s.Edges)/8 }

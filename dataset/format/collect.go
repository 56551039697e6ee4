package format

import (
	"cmp"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// Collect implements Read for a format that streams: it assembles the graph that f.Stream delivers.
func Collect(ctx context.Context, f Streamer, path string) (g *graph.Graph, notes []string, err error) {
	s, notes, err := f.Stream(ctx, path, math.MaxInt64)
	if err != nil {
		return nil, nil, err
	}
	g, changes, err := s.Graph(ctx)
	if s.Close != nil {
		err = errors.Join(err, s.Close())
	}
	if err != nil {
		return nil, nil, err
	}
	return g, append(notes, content.EdgeNotes(g.Name, changes)...), nil
}

// Build implements Read for a format that fills a graph.Builder: it returns the graph, and notes about its edges. files
// maps each part of a graph (graph.PartError) with a separate file to that file; all other parts are in file.
func Build(
	ctx context.Context, b *graph.Builder, file string, files map[string]string,
) (g *graph.Graph, notes []string, err error) {
	g, changes, err := b.Graph(ctx)
	if err != nil {
		return nil, nil, Locate(err, file, files)
	}
	name := cmp.Or(g.Name, filepath.Base(file)) // dataset.Open names a graph without a name
	return g, content.EdgeNotes(name, changes), checkTraining(cmp.Or(files["split"], file), g)
}

// checkTraining returns a *ReadError about file if g has a split without training nodes.
func checkTraining(file string, g *graph.Graph) error {
	if s := g.Split; len(s.Train) > 0 || len(s.Val)+len(s.Test) == 0 {
		return nil
	}
	return Wrong(file, "the training split is empty, must have at least 1 node")
}

// Graph returns the graph that s delivers, and the changes to its edges.
func (s *Stream) Graph(ctx context.Context) (g *graph.Graph, changes graph.Changes, err error) {
	b := graph.Builder{
		Name: s.Name, Nodes: s.Nodes, Y: s.Y, Classes: s.Classes, Split: s.Split, IDs: s.IDs, ClassNames: s.ClassNames,
		FeatureNames: s.FeatureNames,
	}
	if b.Edges, err = s.edges(ctx); err != nil {
		return nil, changes, s.Locate(err)
	}
	if b.X, err = s.features(ctx); err != nil {
		return nil, changes, s.Locate(err)
	}
	if s.Names != nil {
		if b.IDs, err = s.names(ctx); err != nil {
			return nil, changes, err
		}
	}
	g, changes, err = b.Graph(ctx)
	return g, changes, s.Locate(err)
}

// edges returns the list of edges. Blocks arrive in any order and are sorted by their first edge, so a list that is
// sorted in the file is sorted in memory. Building an adjacency from a sorted list is fastest.
func (s *Stream) edges(ctx context.Context) (list graph.Edges, err error) {
	var mu sync.Mutex
	var blocks []graph.Edges
	count, weighted := 0, false
	err = s.Edges(ctx, func(e graph.Edges) error {
		mu.Lock()
		defer mu.Unlock()
		if e.Len() == 0 {
			return ctx.Err()
		}
		if err := e.Check(s.Nodes, count); err != nil {
			return err
		}
		blocks = append(blocks, graph.Edges{
			From: slices.Clone(e.From), To: slices.Clone(e.To), Weight: slices.Clone(e.Weight),
		})
		count, weighted = count+e.Len(), weighted || e.Weight != nil
		if !s.Tells {
			progress.Report(ctx, progress.Event{Stage: "reading edges", Done: min(int64(count), s.Entries), Total: s.Entries})
		}
		return ctx.Err()
	})
	if err != nil {
		return list, err
	}
	slices.SortFunc(blocks, func(a, b graph.Edges) int {
		return cmp.Or(cmp.Compare(a.From[0], b.From[0]), cmp.Compare(a.To[0], b.To[0]))
	})
	list.From, list.To = memory.Make[int32](count)[:0], memory.Make[int32](count)[:0]
	if weighted {
		list.Weight = memory.Make[float32](count)[:0]
	}
	for _, e := range blocks {
		if ctx.Err() != nil {
			return list, ctx.Err()
		}
		if weighted && e.Weight == nil {
			e.Weight = slices.Repeat([]float32{1}, e.Len())
		}
		list.From, list.To = append(list.From, e.From...), append(list.To, e.To...)
		list.Weight = append(list.Weight, e.Weight...)
	}
	return list, nil
}

// features returns the matrix of features.
func (s *Stream) features(ctx context.Context) (*mat.Dense, error) {
	if s.X != nil {
		return s.X, nil
	}
	x := &mat.Dense{Rows: s.Nodes, Cols: s.Features, Data: memory.Make[float32](s.Nodes * s.Features)}
	var mu sync.Mutex
	done := 0
	return x, s.Rows(ctx, func(first int, block *mat.Dense) error {
		copy(x.Data[first*x.Cols:], block.Data)
		mu.Lock()
		defer mu.Unlock()
		done += block.Rows
		if !s.Tells {
			progress.Report(ctx, progress.Event{Stage: "reading features", Done: int64(done), Total: int64(s.Nodes)})
		}
		return ctx.Err()
	})
}

// names returns the names of the nodes.
func (s *Stream) names(ctx context.Context) (ids []string, err error) {
	err = s.Names(ctx, func(text []byte, ends []int) error {
		all, from := string(text), 0
		for _, end := range ends {
			ids = append(ids, all[from:end])
			from = end
		}
		return ctx.Err()
	})
	return ids, err
}

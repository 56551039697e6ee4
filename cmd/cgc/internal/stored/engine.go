package stored

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// Engine is a propagate.Engine that returns the embeddings of a file with all columns.
type Engine struct {
	File *File
	// Memory limits the memory in use, in bytes; 0 is no limit. Embeddings that need more than half of it are read from
	// the file once, in order, and written to one temporary file per hop, in which the rows of a class are adjacent. The
	// result is bit-identical.
	Memory int64
}

var _ propagate.Engine = Engine{}

// Embeddings implements propagate.Engine. H⁽⁰⁾ consists of rows of in.X, which may be standardised. It is an error if
// in.Rows are not the training nodes, or if the file was computed from other features or with a propagation other than
// p.
func (e Engine) Embeddings(ctx context.Context, p propagate.Propagation, in propagate.Input) ([]mat.View, error) {
	f := e.File
	if is, err := e.holds(ctx, in); err != nil {
		return nil, err
	} else if !is {
		return nil, errors.New("the file of embeddings holds only training nodes, with the features of its graph")
	}
	if p.Rule != propagate.PPR {
		p.Teleport = 0
	}
	if have := f.Propagation(); p != have {
		return nil, fmt.Errorf("the embeddings were computed with propagation %s, hops %d, teleport %v, and "+
			"propagation %s, hops %d, teleport %v are wanted",
			have.Rule, have.Hops, have.Teleport, p.Rule, p.Hops, p.Teleport)
	}
	if bytes := 4 * int64(len(in.Rows)) * int64(f.Features) * int64(f.Hops+1); e.Memory > 0 && bytes > e.Memory/2 {
		return f.spilled(ctx, in, e.Memory)
	}
	x := new(mat.Dense)
	if err := mat.Rows(x, in.X, in.Rows); err != nil {
		return nil, fmt.Errorf("reading features: %w", err)
	}
	views := []mat.View{x.View()}
	for _, h := range f.H {
		views = append(views, h.View())
	}
	return views, ctx.Err()
}

// holds reports whether the rows of in are the training nodes, with the features that the file was computed from.
func (e Engine) holds(ctx context.Context, in propagate.Input) (bool, error) {
	f, rows := e.File, in.Rows
	_, width := in.X.Dims()
	if f.Lo != 0 || f.Hi != f.Features {
		return false, fmt.Errorf("the file has columns %d:%d of %d, must have all (cgc propagate --merge)",
			f.Lo, f.Hi, f.Features)
	}
	if len(rows) != len(f.Train) || width != f.Features {
		return false, nil
	}
	own := true // whether the graph of in consists only of the training nodes
	for i, v := range rows {
		own = own && int(v) == i
	}
	if !own && !slices.Equal(rows, f.Train) {
		return false, nil
	}
	g, err := f.Graph(ctx)
	if err != nil {
		return false, err
	}
	if g, _, err = f.Setting.Features(ctx, g); err != nil {
		return false, err
	}
	if x, is := in.X.(inFile); is && own && g.X == mat.Matrix(inFile{f.X}) && x.Dense == f.X {
		return true, nil // in.X holds the features of the file
	}
	have, want, same := new(mat.Dense), new(mat.Dense), true
	err = each(ctx, len(rows), func(lo, hi int) error {
		if err := mat.Read(want, g.X, g.Split.Train[lo:hi], 0, width); err != nil {
			return err
		}
		if err := mat.Read(have, in.X, rows[lo:hi], 0, width); err != nil {
			return fmt.Errorf("reading features: %w", err)
		}
		same = same && slices.Equal(have.Data, want.Data)
		return nil
	})
	return same, err
}

// Check returns an error if f was not computed from g: if sizes, training nodes, their labels or their features differ,
// or, by the digests of a Source, edges or the features of other nodes.
func (f *File) Check(g *graph.Graph) error {
	for _, size := range []struct {
		name      string
		have, own int64
	}{
		{"nodes", int64(f.Nodes), int64(g.Nodes())}, {"edges", f.Edges, int64(g.Edges())},
		{"features", int64(f.Features), int64(g.Features())}, {"classes", int64(f.Classes), int64(g.Classes)},
		{"training nodes", int64(len(f.Train)), int64(len(g.Split.Train))},
	} {
		if size.have != size.own {
			return fmt.Errorf("the embeddings are of a graph with %d %s, and graph %s has %d",
				size.have, size.name, g.Name, size.own)
		}
	}
	if !slices.Equal(f.Train, g.Split.Train) || !slices.Equal(f.Y, g.Labels(g.Split.Train)) {
		return fmt.Errorf("the embeddings have training nodes or labels other than those of graph %s", g.Name)
	}
	x := new(mat.Dense)
	if err := mat.Read(x, g.X, g.Split.Train, f.Lo, f.Hi); err != nil {
		return fmt.Errorf("reading features: %w", err)
	}
	for k, v := range x.Data {
		if v != f.X.Data[k] {
			i, j := k/x.Cols, k%x.Cols
			return fmt.Errorf("feature %d of training node %d is %v for the embeddings, and %v in graph %s",
				f.Lo+j, f.Train[i], f.X.Data[k], v, g.Name)
		}
	}
	if f.Source == nil {
		return nil
	}
	is, err := graph.DigestOf(g)
	switch {
	case err != nil:
		return err
	case f.Source.Adjacency != is.Adjacency:
		return fmt.Errorf("the embeddings were computed with edges or weights other than those of graph %s", g.Name)
	case f.Source.X != is.X:
		return fmt.Errorf("the embeddings were computed from features other than those of graph %s", g.Name)
	}
	return nil
}

// inFile holds features that stay in the file. It is not a *mat.Dense, so that no function makes a scaled copy of it.
type inFile struct{ *mat.Dense }

// chunkRows is the number of rows in one read.
const chunkRows = 4096

// each calls do for chunks of the rows 0 to n−1 until ctx ends.
func each(ctx context.Context, n int, do func(lo, hi int) error) error {
	for lo := 0; lo < n; lo += chunkRows {
		if err := do(lo, min(n, lo+chunkRows)); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// spilled returns H⁽⁰⁾ … H⁽ᴷ⁾ of all training nodes in temporary files, in which the rows of a class are adjacent: the
// partition reads class by class, possibly many times, and augmentation draws from all hops.
func (f *File) spilled(ctx context.Context, in propagate.Input, bound int64) ([]mat.View, error) {
	views, place := make([]mat.View, f.Hops+1), in.ByClass()
	for l := range views {
		h, err := f.placed(ctx, in, l, place)
		if err != nil {
			return nil, err
		}
		if views[l] = h.View(); place == nil {
			continue
		}
		views[l] = h.Select(place)
		// Rows are stored class by class, but assessment reads them by node: it jumps between classes and hops.
		if places := int64(slices.Max(in.Classes)+1) * int64(f.Hops+1); places*memory.ReadAhead() > bound/4 {
			memory.Sparsely(h.Data)
		}
	}
	return views, nil
}

// placed returns H⁽ˡ⁾ in a temporary file. Row i is at place[i], or at i if place is nil.
func (f *File) placed(ctx context.Context, in propagate.Input, l int, place []int32) (*mat.Dense, error) {
	h := &mat.Dense{Rows: len(in.Rows), Cols: f.Features}
	var err error
	if h.Data, err = memory.Scratch[float32](h.Rows * h.Cols); err != nil {
		return nil, err
	}
	from, block := f.hop(l), new(mat.Dense)
	defer memory.InOrder(from.Data)()
	err = each(ctx, h.Rows, func(lo, hi int) error {
		rows := from.Data[lo*h.Cols : hi*h.Cols]
		if l == 0 { // in.X has been preprocessed
			if err := mat.Read(block, in.X, in.Rows[lo:hi], 0, h.Cols); err != nil {
				return fmt.Errorf("reading features: %w", err)
			}
			rows = block.Data
		}
		for i := lo; i < hi; i++ {
			at := i
			if place != nil {
				at = int(place[i])
			}
			copy(h.Row(at), rows[(i-lo)*h.Cols:])
		}
		return nil
	})
	return h, err
}

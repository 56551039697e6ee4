package stored

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// Engine is a propagate.Engine that delivers the embeddings of a file of all columns.
type Engine struct {
	File *File
	// Else computes what the file does not hold: embeddings of other nodes or of other features. Nil means that there is
	// no graph to compute them from, and then they are an error.
	Else propagate.Engine
}

var _ propagate.Engine = Engine{}

// errNoGraph is the error for embeddings that a file does not hold.
var errNoGraph = errors.New("stored: the file of embeddings holds those of training nodes alone: pseudo labels and " +
	"soft labels want the graph too")

// Embeddings implements propagate.Engine. H⁽⁰⁾ are rows of in.X, which may be standardised. If p is not what the file
// was computed with, the error says in which parameter.
func (e Engine) Embeddings(ctx context.Context, p propagate.Propagation, in propagate.Input) ([]mat.View, error) {
	f := e.File
	x := new(mat.Dense)
	if err := mat.Rows(x, in.X, in.Rows); err != nil {
		return nil, fmt.Errorf("stored: reading features: %w", err)
	}
	if is, err := e.holds(x, in.Rows); err != nil {
		return nil, err
	} else if !is {
		if e.Else == nil {
			return nil, errNoGraph
		}
		return e.Else.Embeddings(ctx, p, in)
	}
	if p.Rule != propagate.PPR {
		p.Teleport = 0
	}
	if have := f.Propagation(); p != have {
		return nil, fmt.Errorf("stored: the embeddings were computed with propagation %s, hops %d, teleport %v, and "+
			"propagation %s, hops %d, teleport %v are wanted",
			have.Rule, have.Hops, have.Teleport, p.Rule, p.Hops, p.Teleport)
	}
	views := []mat.View{x.View()}
	for _, h := range f.H {
		views = append(views, h.View())
	}
	return views, ctx.Err()
}

// holds says whether rows with features x are the training nodes with the features that the file was computed from.
func (e Engine) holds(x *mat.Dense, rows []int32) (bool, error) {
	f := e.File
	if f.Lo != 0 || f.Hi != f.Features {
		return false, fmt.Errorf("stored: the file has columns %d:%d of %d, want all (cgc propagate --merge)",
			f.Lo, f.Hi, f.Features)
	}
	if len(rows) != len(f.Train) || x.Cols != f.Features {
		return false, nil
	}
	own := true // the rows are those of a graph of the training nodes alone
	for i, v := range rows {
		own = own && int(v) == i
	}
	if !own && !slices.Equal(rows, f.Train) {
		return false, nil
	}
	g, err := f.Graph()
	if err != nil {
		return false, err
	}
	if f.Normalize {
		if g, err = g.NormalizedFeatures(); err != nil {
			return false, err
		}
	}
	if f.Standardize {
		scaling, err := graph.FitScaling(g.X, g.Split.Train)
		if err != nil {
			return false, err
		}
		g = g.Scaled(scaling)
	}
	return slices.Equal(g.X.(*mat.Dense).Data, x.Data), nil
}

// Check returns an error if f is not of g: if sizes, training nodes, their labels or their features differ.
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
			return fmt.Errorf("stored: the embeddings are of a graph with %d %s, and graph %s has %d",
				size.have, size.name, g.Name, size.own)
		}
	}
	if !slices.Equal(f.Train, g.Split.Train) || !slices.Equal(f.Y, g.Labels(g.Split.Train)) {
		return fmt.Errorf("stored: the embeddings are of other training nodes or labels than those of graph %s", g.Name)
	}
	x := new(mat.Dense)
	if err := mat.Read(x, g.X, g.Split.Train, f.Lo, f.Hi); err != nil {
		return fmt.Errorf("stored: reading features: %w", err)
	}
	for k, v := range x.Data {
		if v != f.X.Data[k] {
			i, j := k/x.Cols, k%x.Cols
			return fmt.Errorf("stored: feature %d of training node %d is %v for the embeddings, and %v in graph %s",
				f.Lo+j, f.Train[i], f.X.Data[k], v, g.Name)
		}
	}
	return nil
}

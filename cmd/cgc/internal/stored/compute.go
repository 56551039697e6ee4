package stored

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Compute returns the embeddings of the training nodes of g in columns lo to hi−1, computed by engine. o specifies the
// propagation and the setting; Compute fills in the sizes. Columns are independent: the bits of a column do not depend
// on the range that contains it. A propagation that needs more than engine.Memory is a *blocked.MemoryError.
func Compute(
	ctx context.Context, engine blocked.Engine, o Origin, g *graph.Graph, lo, hi int,
) (*File, error) {
	if o.Rule != propagate.PPR {
		o.Teleport = 0
	}
	o.Graph, o.Nodes, o.Edges, o.Features = g.Name, g.Nodes(), int64(g.Edges()), g.Features()
	o.Classes, o.ClassNames, o.FeatureNames = g.Classes, g.ClassNames, g.FeatureNames
	f := &File{Origin: o, Lo: lo, Hi: hi, Train: g.Split.Train, Y: g.Labels(g.Split.Train), X: new(mat.Dense)}
	switch {
	case lo < 0 || lo >= hi || hi > o.Features:
		return nil, fmt.Errorf("columns %d:%d of %d features, must be an ascending range of them", lo, hi, o.Features)
	case len(f.Train) == 0:
		return nil, fmt.Errorf("graph %s has 0 training nodes, must have at least 1", g.Name)
	}
	if g.IDs != nil {
		for _, v := range f.Train {
			f.IDs = append(f.IDs, g.IDs[v])
		}
	}
	source, err := graph.DigestOf(g)
	if err != nil {
		return nil, err
	}
	f.Source = &source
	if err := mat.Read(f.X, g.X, f.Train, lo, hi); err != nil {
		return nil, fmt.Errorf("reading features: %w", err)
	}
	// Normalisation needs whole rows, so it comes first.
	normalized, _, err := condense.Setting{NormalizeFeatures: o.NormalizeFeatures}.Features(ctx, g)
	if err != nil {
		return nil, err
	}
	part := *normalized
	if lo > 0 || hi < o.Features {
		part.X, part.Mapped = window{part.X, lo, hi}, false
	}
	seen, err := condense.Setting{Standardize: o.Standardize, Inductive: o.Inductive, Causal: o.Causal}.View(ctx, &part)
	if err != nil {
		return nil, err
	}
	in := propagate.Input{Adj: seen.Adj, X: seen.X, Rows: seen.Split.Train, Classes: f.Y, Mapped: seen.Mapped}
	if err := Enough(engine, blocked.Engine.Footprint, o.Propagation(), in); err != nil {
		return nil, err
	}
	views, err := propagate.Run(ctx, engine, o.Propagation(), in)
	if err != nil {
		return nil, err
	}
	for _, h := range views[1:] {
		f.H = append(f.H, h.Dense())
	}
	return f, nil
}

// Enough returns a *blocked.MemoryError if propagating an input in memory needs more than engine.Memory: without this
// check, the engine would exceed the limit. footprint is the engine's method that estimates the memory.
func Enough(
	engine blocked.Engine,
	footprint func(blocked.Engine, propagate.Propagation, propagate.Input) (blocked.Footprint, error),
	p propagate.Propagation, in propagate.Input,
) error {
	asked := engine.Memory
	if asked == 0 {
		return nil
	}
	var failed error
	least := budget.Least(asked, func(limit int64) int64 {
		engine.Memory = limit
		f, err := footprint(engine, p, in)
		if failed = err; f.Read > 0 {
			return f.Held
		}
		return budget.Process + f.Input + f.Sum()
	})
	if failed == nil && least > asked {
		failed = &blocked.MemoryError{Need: least, Bound: asked}
	}
	return failed
}

// window is a view of columns lo to hi−1 of x.
type window struct {
	x      mat.Matrix
	lo, hi int
}

// Dims returns the numbers of rows and columns.
func (w window) Dims() (rows, cols int) {
	rows, _ = w.x.Dims()
	return rows, w.hi - w.lo
}

// ReadBlock reads columns lo to hi−1 of the window.
func (w window) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	return w.x.ReadBlock(dst, rows, w.lo+lo, w.lo+hi)
}

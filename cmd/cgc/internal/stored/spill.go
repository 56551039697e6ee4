package stored

import (
	"context"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

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

package gnn

import (
	"math/rand/v2"

	"github.com/graph-condensation/cgc/autodiff"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// features is sparse X on a tape, a linear map of the weights, with dropout on its stored entries.
type features struct {
	x, xt *mat.CSR
	from  []int32   // entry e of xt is entry from[e] of x
	whole []float32 // the entries of x without dropout
	t     *transposed
}

// transposed is the same features as the map Xᵀ.
type transposed features

func newFeatures(x *mat.CSR) *features {
	f := &features{whole: make([]float32, x.NNZ()), from: make([]int32, x.NNZ())}
	for e := range f.whole {
		f.whole[e] = 1
	}
	if x.Data != nil {
		copy(f.whole, x.Data)
	}
	f.x = &mat.CSR{Rows: x.Rows, Cols: x.Cols, Indptr: x.Indptr, Indices: x.Indices, Data: append([]float32(nil), f.whole...)}
	f.xt = f.x.T()
	next := append([]int64(nil), f.xt.Indptr...)
	for e, j := range x.Indices { // in ascending rows, as T fills them
		f.from[next[j]] = int32(e)
		next[j]++
	}
	f.t = (*transposed)(f)
	return f
}

// Apply sets dst to X·w.
func (f *features) Apply(dst, w *mat.Dense) { mat.MulSparse(dst, f.x, w) }

// T returns Xᵀ.
func (f *features) T() autodiff.Linear { return f.t }

// Apply sets dst to Xᵀ·g.
func (f *transposed) Apply(dst, g *mat.Dense) { mat.MulSparse(dst, f.xt, g) }

// T returns X.
func (f *transposed) T() autodiff.Linear { return (*features)(f) }

// drop draws which entries of X are left out with probability p, and scales the others by 1/(1−p).
func (f *features) drop(p float64, src rand.Source) {
	if p == 0 {
		return
	}
	autodiff.Mask(f.x.Data, p, src)
	kernel.Mul(f.x.Data, f.x.Data, f.whole)
	transpositions.For(len(f.from), 1<<15, f, func(captured **features, lo, hi int) {
		f := *captured
		for e := lo; e < hi; e++ {
			f.xt.Data[e] = f.x.Data[f.from[e]]
		}
	})
}

var transpositions parallel.Loop[*features]

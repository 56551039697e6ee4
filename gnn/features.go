package gnn

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/dropout"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/product"
	"github.com/graph-condensation/cgc/mat"
)

// features is a sparse X on a tape: a linear map applied to the weights, with dropout on its stored entries.
type features struct {
	ctx   context.Context
	x, xt *mat.CSR
	from  []int64   // entry e of xt is entry from[e] of x
	whole []float32 // the entries of x without dropout
	t     *transposed
}

// transposed is the map Xᵀ of features.
type transposed features

func newFeatures(ctx context.Context, x *mat.CSR) *features {
	f := &features{ctx: ctx}
	if x.Data != nil {
		f.whole = memory.Clone(x.Data)
	} else {
		f.whole = memory.Filled[float32](x.NNZ(), 1)
	}
	f.x = &mat.CSR{Rows: x.Rows, Cols: x.Cols, Indptr: x.Indptr, Indices: x.Indices, Data: memory.Clone(f.whole)}
	f.xt, f.from, _ = f.x.Transpose(context.Background())
	f.t = (*transposed)(f)
	return f
}

// Apply sets dst to X·w.
func (f *features) Apply(dst, w *mat.Dense) { f.multiply(dst, f.x, w) }

// multiply sets dst to x·w, unless f.ctx ends.
func (f *features) multiply(dst *mat.Dense, x *mat.CSR, w *mat.Dense) {
	_ = product.MulSparse(f.ctx, (*product.Dense)(dst), (*product.CSR)(x), (*product.Dense)(w))
}

// T returns Xᵀ.
func (f *features) T() autodiff.Linear { return f.t }

// Apply sets dst to Xᵀ·g.
func (f *transposed) Apply(dst, g *mat.Dense) { (*features)(f).multiply(dst, f.xt, g) }

// T returns X.
func (f *transposed) T() autodiff.Linear { return (*features)(f) }

// drop sets each entry of X to 0 with probability p, and scales the other entries by 1/(1−p). If dense is set, it drops
// the entries that Mask would drop from X as a dense matrix.
func (f *features) drop(p float64, src rand.Source, dense bool) {
	if p == 0 {
		return
	}
	if dense {
		dropout.MaskStored(f.x, p, src)
	} else {
		dropout.Mask(f.ctx, f.x.Data, p, src)
	}
	kernel.Mul(f.x.Data, f.x.Data, f.whole)
	transpositions.For(len(f.from), 1<<15, f, func(captured **features, lo, hi int) {
		f := *captured
		for e := lo; e < hi; e++ {
			f.xt.Data[e] = f.x.Data[f.from[e]]
		}
	})
}

var transpositions parallel.Loop[*features]

// streamed is an X of any type. Each product reads it in blocks of rows. err keeps the first error.
type streamed struct {
	ctx   context.Context
	x     mat.Matrix
	err   error
	block mat.Dense
	index []int32
}

// blocks calls f with each block of rows of X and the index of its first row, and stops at the first error.
func (s *streamed) blocks(f func(lo int, x *mat.Dense)) {
	n, d := s.x.Dims()
	for lo := 0; lo < n && s.err == nil; lo += blockRows {
		s.index = span(s.index, lo, min(lo+blockRows, n))
		if s.err = readBlock(s.ctx, &s.block, s.x, s.index, d); s.err == nil {
			f(lo, &s.block)
		}
	}
}

// read returns all of X.
func (s *streamed) read() *mat.Dense {
	n, d := s.x.Dims()
	all := mat.NewDense(n, d)
	s.blocks(func(lo int, x *mat.Dense) { copy(all.Data[lo*d:], x.Data) })
	return all
}

// times returns X·w.
func (s *streamed) times(w *mat.Dense) *mat.Dense {
	n, _ := s.x.Dims()
	product := mat.NewDense(n, w.Cols)
	s.blocks(func(lo int, x *mat.Dense) {
		to := rowsOf(product, lo, lo+x.Rows)
		mat.Mul(&to, x, w)
	})
	return product
}

// readBlock sets dst to the given rows of x, with all its columns.
func readBlock(ctx context.Context, dst *mat.Dense, x mat.Matrix, rows []int32, columns int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := mat.Read(dst, x, rows, 0, columns); err != nil {
		return fmt.Errorf("reading features: %w", err)
	}
	return nil
}

// A dense X is stored as a sparse matrix if at most one element in zeroShare is not 0, and X has at least wide columns.
// X·W then costs less than the dense product, and X needs at most an eighth of the memory. With fewer columns the dense
// path costs about the same, because it computes P·X only once.
const (
	zeroShare = 16
	wide      = 512
)

// sparser returns x as a sparse matrix if that is faster and smaller, and x itself otherwise. Products may differ in
// the last bits, because the kernels add in different orders.
func sparser(x mat.Matrix) mat.Matrix {
	dense, is := x.(*mat.Dense)
	if !is || dense.Cols < wide {
		return x
	}
	most := len(dense.Data) / zeroShare
	for _, v := range dense.Data {
		if v != 0 {
			if most--; most < 0 {
				return x
			}
		}
	}
	return dense.Sparse()
}

package graph

import (
	"cmp"
	"context"
	"math"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// NormalizedFeatures returns g with the features of each node divided by the sum of their absolute values:
//
//	x_ij / Σ_k |x_ik|.
//
// A node whose features are all 0 keeps them. All else is shared with g. Sums are float64, in the order of the
// features. Word counts become frequencies, so that long texts weigh no more than short ones. Features that are neither
// *mat.Dense nor *mat.CSR are not copied: they are read once for the sums, and divided whenever they are read. The
// error comes from g.X.ReadBlock or from ctx.
func (g *Graph) NormalizedFeatures(ctx context.Context) (*Graph, error) {
	to := *g
	to.sealed = nil
	var row func(i int) []float32 // copies a row of X to the new features and returns it
	switch x := g.X.(type) {
	case *mat.CSR:
		y := &mat.CSR{Rows: x.Rows, Cols: x.Cols, Indptr: x.Indptr, Indices: x.Indices, Data: memory.Make[float32](x.NNZ())}
		to.X, row = y, func(i int) []float32 {
			from, end := x.Indptr[i], x.Indptr[i+1]
			for e := from; e < end; e++ {
				y.Data[e] = 1
			}
			if x.Data != nil {
				copy(y.Data[from:end], x.Data[from:end])
			}
			return y.Data[from:end]
		}
	case *mat.Dense:
		y := mat.NewDense(x.Rows, x.Cols)
		to.X, row = y, func(i int) []float32 {
			copy(y.Row(i), x.Row(i))
			return y.Row(i)
		}
	default:
		sizes := make([]float64, 0, g.Nodes())
		for block, err := range mat.Blocks(x) {
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return nil, err
			}
			for i := range block.Rows {
				sizes = append(sizes, size(block.Row(i)))
			}
		}
		to.X = Divided(x, sizes)
		return &to, nil
	}
	to.Mapped = false
	err := parallel.ForContext(ctx, g.Nodes(), 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r := row(i)
			divide(r, size(r))
		}
	})
	if err != nil {
		return nil, err
	}
	return &to, nil
}

// size returns Σ |v|; 1 if that is 0.
func size(row []float32) float64 {
	sum := 0.0
	for _, v := range row {
		sum += math.Abs(float64(v))
	}
	if sum == 0 {
		return 1
	}
	return sum
}

func divide(row []float32, by float64) {
	for j, v := range row {
		row[j] = float32(float64(v) / by)
	}
}

// Divided returns x with row i divided by sizes[i] as it is read. A program that has only some columns, and the sums
// Σ_k |x_ik| over all columns, gets the features of NormalizedFeatures this way. Sizes must be positive.
func Divided(x mat.Matrix, sizes []float64) mat.Matrix {
	return &changed{x, func(block *mat.Dense, rows []int32, _ int) {
		for r, i := range rows {
			divide(block.Row(r), sizes[i])
		}
	}}
}

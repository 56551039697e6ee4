package graph

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Scaling is the map x ↦ (x − Mean)/Std of each feature.
type Scaling struct {
	Mean, Std []float32
}

// FitScaling returns the scaling that gives each feature mean 0 and variance 1 over the given nodes. A feature keeps
// Std 1 if it is constant there, or if its deviation is below the rounding of a float32 of the size of its mean.
//
// Sums are float64, in the order of the nodes. The nodes are read twice, because sums of squares cancel if the mean is
// large: the second pass squares the differences from the mean. Errors of x.ReadBlock are returned.
func FitScaling(x mat.Matrix, nodes []int32) (Scaling, error) {
	_, d := x.Dims()
	mean, moment, square := make([]float64, d), make([]float64, d), make([]float64, d)
	n := float64(max(1, len(nodes)))
	err := columns(x, nodes, func(first int, row []float32) {
		for j, v := range row {
			mean[first+j] += float64(v)
		}
	})
	if err != nil {
		return Scaling{}, err
	}
	for j := range mean {
		mean[j] /= n
	}
	err = columns(x, nodes, func(first int, row []float32) {
		for j, v := range row {
			difference := float64(v) - mean[first+j]
			moment[first+j] += difference
			square[first+j] += difference * difference
		}
	})
	if err != nil {
		return Scaling{}, err
	}
	s := Scaling{Mean: make([]float32, d), Std: make([]float32, d)}
	const rounding = 0x1p-24
	for j := range d {
		variance := (square[j] - moment[j]*moment[j]/n) / n // moment corrects for the rounding of the mean
		s.Mean[j], s.Std[j] = float32(mean[j]), 1
		deviation := math.Sqrt(max(0, variance))
		if std := float32(deviation); std > 0 && deviation > rounding*math.Abs(mean[j]) { // a tiny one rounds to 0
			s.Std[j] = std
		}
	}
	return s, nil
}

// columns calls add with a range of columns of each given node, in the order of the nodes. The range begins at column
// first. Calls for different ranges run concurrently.
func columns(x mat.Matrix, nodes []int32, add func(first int, row []float32)) error {
	_, d := x.Dims()
	var rows mat.Dense
	const block = 4096
	for some := range slices.Chunk(nodes, block) {
		if err := mat.Rows(&rows, x, some); err != nil {
			return err
		}
		parallel.For(d, 16, func(from, to int) {
			for i := range rows.Rows {
				add(from, rows.Row(i)[from:to])
			}
		})
	}
	return nil
}

// Scaled returns g with its features scaled; all else is shared with g. Features of type *mat.Dense or *mat.CSR become
// a new *mat.Dense. Features of another type are not copied: they are scaled as they are read. The only error is
// ctx.Err().
func (g *Graph) Scaled(ctx context.Context, s Scaling) (*Graph, error) {
	if len(s.Mean) != g.Features() {
		panic(fmt.Sprintf("graph: scaling of %d features for %d", len(s.Mean), g.Features()))
	}
	to := *g
	to.sealed = nil
	switch g.X.(type) {
	case *mat.Dense, *mat.CSR:
		n, d := g.X.Dims()
		x := mat.NewDense(n, d)
		err := parallel.ForContext(ctx, n, 256, func(lo, hi int) {
			part := mat.Dense{Rows: hi - lo, Cols: d, Data: x.Data[lo*d : hi*d]}
			_ = mat.Read(&part, g.X, memory.Range(lo, hi), 0, d) // these types return no error
			s.apply(&part, 0)
		})
		if err != nil {
			return nil, err
		}
		to.X, to.Mapped = x, false
	default:
		to.X = &changed{g.X, func(block *mat.Dense, _ []int32, first int) { s.apply(block, first) }}
	}
	return &to, ctx.Err()
}

// apply scales x, whose columns are features first, first+1, ….
func (s Scaling) apply(x *mat.Dense, first int) {
	mean, std := s.Mean[first:first+x.Cols], s.Std[first:first+x.Cols]
	parallel.For(x.Rows, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := x.Row(i)
			for j := range row {
				row[j] = (row[j] - mean[j]) / std[j]
			}
		}
	})
}

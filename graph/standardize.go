package graph

import (
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Scaling is the map x ↦ (x − Mean)/Std of each feature.
type Scaling struct {
	Mean, Std []float32
}

// FitScaling returns the scaling that gives each feature mean 0 and variance 1 over the given nodes. A feature that is
// constant there keeps Std 1. Sums are float64, in the order of the nodes.
func FitScaling(x mat.Matrix, nodes []int32) Scaling {
	_, d := x.Dims()
	sum, square := make([]float64, d), make([]float64, d)
	var rows mat.Dense
	const block = 4096
	for lo := 0; lo < len(nodes); lo += block {
		mat.Rows(&rows, x, nodes[lo:min(lo+block, len(nodes))])
		parallel.For(d, 16, func(from, to int) {
			for i := range rows.Rows {
				for j, v := range rows.Row(i)[from:to] {
					sum[from+j] += float64(v)
					square[from+j] += float64(v) * float64(v)
				}
			}
		})
	}
	s := Scaling{Mean: make([]float32, d), Std: make([]float32, d)}
	n := float64(max(1, len(nodes)))
	for j := range d {
		mean := sum[j] / n
		variance := square[j]/n - mean*mean
		s.Mean[j], s.Std[j] = float32(mean), 1
		if variance > 1e-12*square[j]/n { // below, the difference is rounding
			s.Std[j] = float32(math.Sqrt(variance))
		}
	}
	return s
}

// Scaled returns g with its features scaled, dense; all else is shared with g.
func (g *Graph) Scaled(s Scaling) *Graph {
	if len(s.Mean) != g.Features() {
		panic(fmt.Sprintf("graph: scaling of %d features for %d", len(s.Mean), g.Features()))
	}
	x := new(mat.Dense)
	all := make([]int32, g.Nodes())
	for i := range all {
		all[i] = int32(i)
	}
	mat.Rows(x, g.X, all)
	parallel.For(x.Rows, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range x.Row(i) {
				x.Row(i)[j] = (x.Row(i)[j] - s.Mean[j]) / s.Std[j]
			}
		}
	})
	scaled := *g
	scaled.X = x
	return &scaled
}

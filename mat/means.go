package mat

import (
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
)

const (
	// meanChunk is the number of rows whose sum one task of ColumnMeans takes. It decides the order of sums.
	meanChunk = 512
	// ahead is how many rows before its use a row that lies apart from the others is asked for.
	ahead = 2
)

// ColumnMeans returns the mean of each column of x, at least one row of d numbers each, which may stand anywhere in
// memory. It is summed in float64 and rounded to float32: the mean of equal rows is exactly that row. The result is the
// same for any number of threads.
func ColumnMeans(x [][]float32) []float32 {
	n, d := len(x), len(x[0])
	part := make([][]float64, (n+meanChunk-1)/meanChunk)
	parallel.For(n, meanChunk, func(lo, hi int) {
		sum := make([]float64, d)
		for i, row := range x[lo:hi] {
			if lo+i+ahead < hi {
				kernel.Prefetch(x[lo+i+ahead])
			}
			kernel.Accumulate(sum, 1, row)
		}
		part[lo/meanChunk] = sum
	})
	mean := make([]float32, d)
	for j := range mean {
		sum := 0.0
		for _, p := range part {
			sum += p[j]
		}
		mean[j] = float32(sum / float64(n))
	}
	return mean
}

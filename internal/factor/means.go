package factor

import (
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
)

const (
	// meanChunk is the number of rows that one task of ColumnMeans sums. It determines the order of sums.
	meanChunk = 512
	// ahead is the prefetch distance in rows, which are not contiguous in memory.
	ahead = 2
)

// ColumnMeans returns the mean of each column of x. x has at least one row, and its rows may be anywhere in memory. The
// mean is summed in float64 and rounded to float32, so the mean of equal rows is exactly that row. The result is the
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

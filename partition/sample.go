package partition

import (
	"errors"
	"math/rand/v2"
)

const (
	// sampleRows and sampleGroup are the minimum numbers of rows of a sample, in total and for each group.
	sampleRows  = 1024
	sampleGroup = 128
)

// errUnlike says that the rows need another scale than the sample.
var errUnlike = errors.New("partition: the rows are unlike the sample")

// sampleSize returns the number of rows in a sample for k groups. It is used only if there are at least twice as many
// rows.
func sampleSize(k int) int { return max(sampleRows, sampleGroup*k) }

// sampled returns size random rows of x in their original order. All subsets are equally likely.
func sampled(x [][]float32, size int, random *rand.Rand) [][]float32 {
	some := make([][]float32, 0, size)
	for i, row := range x {
		if random.IntN(len(x)-i) < size-len(some) {
			some = append(some, row)
		}
	}
	return some
}

package partition

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/parallel"
)

// best partitions the rows of x once for each seed and returns the groups with the lowest score, the first if several
// are equal.
func best(ctx context.Context, by Partitioner, x [][]float32, k int, seeds [][2]uint64) (kept Groups, err error) {
	lowest := math.Inf(1)
	for t, seed := range seeds {
		groups, err := by.Partition(ctx, x, k, rand.NewPCG(seed[0], seed[1]))
		if err != nil {
			return Groups{}, err
		}
		if len(seeds) == 1 {
			return groups, nil
		}
		if s := score(x, groups); t == 0 || s < lowest {
			kept, lowest = groups, s
		}
	}
	return kept, nil
}

// score returns the formula of Plan.Partitions for a partition of the rows of x, in float64: the lower, the better.
func score(x [][]float32, groups Groups) float64 {
	n, d := len(x), len(x[0])
	start, rows := sorted(groups.Of, groups.K)
	within := parallel.Sum(groups.K, 1, func(j, _ int) (sum float64) {
		members := rows[start[j]:start[j+1]]
		mean := make([]float64, d)
		for _, i := range members {
			for c, v := range x[i] {
				mean[c] += float64(v) / float64(len(members))
			}
		}
		for _, i := range members {
			for c, v := range x[i] {
				sum += (float64(v) - mean[c]) * (float64(v) - mean[c])
			}
		}
		return sum
	})
	squares := 0.0
	for j := range groups.K {
		share := float64(start[j+1]-start[j]) / float64(n)
		squares += share * share
	}
	return within * float64(groups.K) * squares
}

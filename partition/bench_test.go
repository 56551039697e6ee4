package partition_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/partition"
)

// arxivTraining lists the number of training nodes of each of ogbn-arxiv's 40 classes.
var arxivTraining = []int{437, 382, 3604, 1014, 2864, 2933, 703, 380, 4056, 2245, 5182, 391, 21, 1290, 473, 248, 9998,
	202, 402, 1873, 1495,
	304, 1268, 1539, 6989, 457, 2854, 1661, 16284, 239, 4334, 1350, 270, 926, 5426, 75, 2506, 1615, 1100, 1551}

// BenchmarkAggregate partitions 1.4 times as many rows as ogbn-arxiv has training nodes, and aggregates them into 454
// nodes.
func BenchmarkAggregate(b *testing.B) {
	budgets := mattest.Must(partition.Budgets(arxivTraining, 454))
	var y []int32
	for c, n := range arxivTraining {
		y = append(y, slices.Repeat([]int32{int32(c)}, n+n*4/10)...)
	}
	for _, d := range []int{128, 200} {
		x := mattest.Mixture(len(y), d, 1600, 1)
		for _, m := range []partition.Partitioner{partition.Random{}, partition.KMeans{Restarts: 1}, partition.KMeans{},
			partition.Spectral{}} {
			b.Run(fmt.Sprintf("%d×%d/%T%v", x.Rows, d, m, m), func(b *testing.B) {
				plan := partition.Plan{Budgets: budgets, Partitioner: m, Temperature: 1}
				for b.Loop() {
					mattest.Must(plan.Aggregate(b.Context(), x.View().Rows(), y, nil, rand.NewPCG(1, 2)))
				}
			})
		}
	}
}

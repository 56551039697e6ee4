package partition

import (
	"math"
	"math/rand/v2"
	"sort"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// plusPlus draws k rows as k-means++ does (Arthur and Vassilvitskii 2007): the first uniformly, each further one with
// probability proportional to its squared distance D² to the nearest row drawn before.
//
// The distances are not updated after every draw. A candidate is drawn by outdated distances D²_old, its current
// distance is computed, and it is accepted with probability D²_now/D²_old ≤ 1. Accepted rows then follow D²_now
// exactly. After many rejections, all distances are updated in one matrix product with the rows drawn since the last
// update. If the rows have fewer than k distinct values, the remaining ones are drawn uniformly.
func (p *points) plusPlus(k int, random *rand.Rand) []int32 {
	n := p.n
	drawn := make([]int32, 1, k)
	drawn[0] = int32(random.IntN(n))
	dist := memory.Filled(n, float32(math.Inf(1)))
	cumulative := memory.Make[float64](n)
	for known := 0; len(drawn) < k; {
		p.approach(dist, drawn[known:])
		known = len(drawn)
		total := 0.0
		for i, v := range dist {
			total += float64(v)
			cumulative[i] = total
		}
		// A candidate costs known·d operations, and an update of all distances n·d per drawn row. Many candidates are
		// therefore tried.
		for tries := 4*(k-known) + 16; total > 0 && tries > 0 && len(drawn) < k; tries-- {
			u := random.Float64() * total
			i := min(sort.Search(n, func(i int) bool { return cumulative[i] > u }), n-1)
			if now := p.squaredDistanceTo(i, drawn); random.Float64()*float64(dist[i]) < now {
				drawn = append(drawn, int32(i))
			}
		}
		if len(drawn) == known { // the remaining distances are rounding errors: there are no more distinct rows
			for len(drawn) < k {
				drawn = append(drawn, int32(random.IntN(n)))
			}
		}
	}
	return drawn
}

// squaredDistanceTo returns the squared distance of row i to the nearest of the rows drawn.
func (p *points) squaredDistanceTo(i int, drawn []int32) float64 {
	least := math.Inf(1)
	for _, j := range drawn {
		least = min(least, squaredDistance(p.x.Row(i), p.x.Row(int(j))))
	}
	return least
}

// approach updates dist, the squared distance of each row to the nearest drawn row, with the given newly drawn rows.
func (p *points) approach(dist []float32, rows []int32) {
	var centres mat.Dense
	p.x.Gather(&centres, rows)
	norms := make([]float32, len(rows))
	for j := range norms {
		norms[j] = float32(squaredNorm(centres.Row(j)))
	}
	of, to := make([]int32, len(dist)), make([]float32, len(dist))
	p.nearest(of, to, &centres, norms)
	for i, v := range to {
		dist[i] = min(dist[i], v)
	}
}

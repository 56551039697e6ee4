package assess

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Pick names one sampled embedding: training node Row in H⁽ᴴᵒᵖ⁾. Row is the position among the training nodes.
type Pick struct {
	Hop int
	Row int32
}

// Sample draws size embeddings with replacement from H⁽ˡ⁾, 0 ≤ l < hops, of the training nodes. The weight of an
// embedding is the error e_c of its node's class, or 1 for all if every class error is 0. y holds the classes of the
// training nodes in [0, len(classError)). If hops is 0, there are no shallower hops and nothing is drawn.
//
// It draws a class by its total weight e_c·|C_c|, then a node of the class and a hop, each uniformly. The distribution
// is the same as with one weight per embedding, but no list of weights is needed. The result depends only on the
// arguments. It is an error if size is negative, or if a class error is negative or not finite.
func Sample(y []int32, classError []float64, hops, size int, src rand.Source) ([]Pick, error) {
	if size < 0 {
		return nil, fmt.Errorf("size %d, must be at least 0", size)
	}
	for c, e := range classError {
		if !(e >= 0) || math.IsInf(e, 1) {
			return nil, fmt.Errorf("error %v of class %d, must be a finite number of at least 0", e, c)
		}
	}
	if hops == 0 || size == 0 || len(y) == 0 {
		return nil, nil
	}
	members := make([][]int32, len(classError))
	for i, c := range y {
		members[c] = append(members[c], int32(i))
	}
	weight := func(c int) float64 { return classError[c] * float64(len(members[c])) }
	cumulative := make([]float64, len(members))
	accumulate := func() (total float64) {
		for c := range members {
			total += weight(c)
			cumulative[c] = total
		}
		return total
	}
	total := accumulate()
	if total == 0 {
		weight = func(c int) float64 { return float64(len(members[c])) }
		total = accumulate()
	}
	random := rand.New(src)
	picks := make([]Pick, size)
	for i := range picks {
		u := random.Float64() * total
		c := 0
		for cumulative[c] <= u { // the loop ends because u < total; it never stops at a class of weight 0
			c++
		}
		picks[i] = Pick{Hop: random.IntN(hops), Row: members[c][random.IntN(len(members[c]))]}
	}
	return picks, nil
}

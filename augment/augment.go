// Package augment adds to the embeddings that are condensed: those of shallower hops for the classes that the
// classifier finds hard (§3.3 of the paper), and those of nodes without a training label, of whose class it is sure.
package augment

import (
	"fmt"
	"math/rand/v2"
)

// Pick names one sampled embedding: that of training node Row (its position among the training nodes) in H⁽ᴴᵒᵖ⁾.
type Pick struct {
	Hop int
	Row int32
}

// Sample draws size embeddings with replacement from H⁽ˡ⁾, 0 ≤ l < hops, of the training nodes: an embedding's weight
// is the error e of its node's class, or 1 for all if every class error is 0. y holds the classes of the training nodes
// in [0, len(classError)). With hops = 0 there is nothing shallower, and nothing is drawn.
//
// The draw takes the class by its total weight e_c·|C_c|, then a node of it and a hop, each uniformly: the same
// distribution as one weight per embedding, without the list of them.
func Sample(y []int32, classError []float64, hops, size int, src rand.Source) ([]Pick, error) {
	if size < 0 {
		return nil, fmt.Errorf("augment: size %d, want at least 0", size)
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
		for cumulative[c] <= u { // u < total, so it ends; a class of weight 0 is never the first above u
			c++
		}
		picks[i] = Pick{Hop: random.IntN(hops), Row: members[c][random.IntN(len(members[c]))]}
	}
	return picks, nil
}

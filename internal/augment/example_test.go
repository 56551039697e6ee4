package augment_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/augment"
)

// Only class 1 has an error, so all added embeddings belong to its nodes, 2 and 3.
func ExampleSample() {
	picks, err := augment.Sample([]int32{0, 0, 1, 1}, []float64{0, 0.3}, 2, 100, rand.NewPCG(1, 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	hops, rows := map[int]bool{}, map[int32]bool{}
	for _, p := range picks {
		hops[p.Hop], rows[p.Row] = true, true
	}
	fmt.Println(len(picks), hops, rows)
	// Output: 100 map[0:true 1:true] map[2:true 3:true]
}

package reach_test

import (
	"fmt"

	"github.com/graph-condensation/cgc/internal/reach"
	"github.com/graph-condensation/cgc/mat"
)

// In a cycle of four nodes, nodes 1 and 3 are next to node 0, and node 2 is two hops away.
func ExampleSet() {
	r := reach.New(&mat.CSR{
		Rows: 4, Cols: 4, Indptr: []int64{0, 2, 4, 6, 8}, Indices: []int32{1, 3, 0, 2, 1, 3, 0, 2},
	}, []int32{0})
	r.Grow()
	fmt.Println(r.Distance)
	r.Grow()
	fmt.Println(r.Distance)
	// Output:
	// [0 1 -1 1]
	// [0 1 2 1]
}

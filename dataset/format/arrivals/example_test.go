package arrivals_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format/arrivals"
)

// New nodes of a graph, and their edges to its nodes. Source may also have the address of a database and queries.
func ExampleSource() {
	ctx := context.Background()
	g, err := dataset.Options{}.Open(ctx, "../../../docs/example/shop")
	if err != nil {
		panic(err)
	}
	from := arrivals.Source{Path: "../../../docs/example/new-nodes"}
	a, notes, err := from.Read(ctx, g.IDs, g.Nodes())
	if err != nil {
		panic(err)
	}
	fmt.Println(a.IDs, a.X.Cols, "features", a.Edges.Rows, "×", a.Edges.Cols, notes)
	// Output: [new-0 new-1 new-2] 11 features 3 × 803 []
}

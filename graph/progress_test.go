package graph_test

import (
	"runtime"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/progress"
)

// TestAdjacencyProgress checks that reports of several workers never go backwards.
func TestAdjacencyProgress(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n = 30_000
	var edges graph.Edges
	for i := range int32(60 * n) {
		edges.From, edges.To = append(edges.From, i%n), append(edges.To, (i+1+37*(i/n))%n)
	}
	for range 5 {
		var last int64
		reports := 0
		ctx := progress.With(t.Context(), func(e progress.Event) {
			if e.Done < last {
				t.Errorf("%v after %d", e, last)
			}
			last, reports = e.Done, reports+1
		})
		if _, _, err := graph.Adjacency(ctx, n, edges); err != nil {
			t.Fatal(err)
		}
		if reports < 5 {
			t.Errorf("%d reports", reports)
		}
	}
}

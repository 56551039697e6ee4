package table

import (
	"context"
	"fmt"
	"testing"

	"github.com/graph-condensation/cgc/graph"
)

// Nodes that stand in another order are numbered by their ids, and not once the context is done, however they stand.
func TestSortEnds(t *testing.T) {
	const count = 3 * often
	made := func(id func(i int) string) (*nodes, *graph.Builder) {
		n := &nodes{x: make([]float32, count)}
		for i := range count {
			n.ids, n.x[i] = append(n.ids, id(i)), float32(i)
		}
		return n, &graph.Builder{Y: make([]int32, count)}
	}
	for name, id := range map[string]func(i int) string{
		"numbers": func(i int) string { return fmt.Sprint(count - 1 - i) },
		"names":   func(i int) string { return fmt.Sprintf("n%06d", count-1-i) },
		"sorted":  func(i int) string { return fmt.Sprintf("n%06d", i) },
	} {
		n, b := made(id)
		if err := n.sort(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		for i := range count {
			if want := float32(count - 1 - i); name != "sorted" && n.x[i] != want || name == "sorted" && n.x[i] != float32(i) {
				t.Fatalf("%s: node %d has feature %v", name, i, n.x[i])
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		n, b = made(id)
		if err := n.sort(ctx, b); err != context.Canceled {
			t.Errorf("%s: error %v, want that of the context", name, err)
		}
	}
}

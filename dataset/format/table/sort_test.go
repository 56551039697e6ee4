package table

import (
	"context"
	"fmt"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// TestSortEnds checks that nodes are numbered by their ids, and that sorting ends when its context does.
func TestSortEnds(t *testing.T) {
	const count = 3 * often
	y := make([]int32, count)
	made := func(id func(i int) string) (*nodes, *mat.Dense) {
		n, x := &nodes{}, mat.NewDense(count, 1)
		for i := range count {
			n.ids, x.Data[i] = append(n.ids, id(i)), float32(i)
		}
		return n, x
	}
	for name, id := range map[string]func(i int) string{
		"numbers": func(i int) string { return fmt.Sprint(count - 1 - i) },
		"names":   func(i int) string { return fmt.Sprintf("n%06d", count-1-i) },
		"sorted":  func(i int) string { return fmt.Sprintf("n%06d", i) },
	} {
		n, x := made(id)
		if err := n.sort(t.Context(), y, x); err != nil {
			t.Fatal(err)
		}
		for i := range count {
			want := float32(count - 1 - i)
			if name == "sorted" {
				want = float32(i)
			}
			if x.Data[i] != want {
				t.Fatalf("%s: node %d has feature %v", name, i, x.Data[i])
			}
		}
		ctx := mattest.Cancelled(t)
		n, x = made(id)
		if err := n.sort(ctx, y, x); err != context.Canceled {
			t.Errorf("%s: error %v, want that of the context", name, err)
		}
	}
}

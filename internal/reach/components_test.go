package reach_test

import (
	"reflect"
	"testing"

	"github.com/graph-condensation/cgc/internal/reach"
	"github.com/graph-condensation/cgc/mat"
)

// TestComponents uses a graph with the components 0–4–2, 1–3 and 5.
func TestComponents(t *testing.T) {
	a := &mat.CSR{
		Rows: 6, Cols: 6, Indptr: []int64{0, 1, 2, 3, 4, 6, 6}, Indices: []int32{4, 3, 4, 1, 0, 2},
	}
	if got, want := reach.Components(a), [][]int32{{0, 2, 4}, {1, 3}, {5}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := reach.Components(&mat.CSR{Indptr: []int64{0}}); len(got) > 0 {
		t.Errorf("%v of no nodes", got)
	}
}

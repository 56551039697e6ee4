package budget_test

import (
	"testing"

	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/mat"
)

// TestLeast checks that Least finds the smallest limit if a sixteenth of the limit is part of the need.
func TestLeast(t *testing.T) {
	need := func(limit int64) int64 { return 150_000 + budget.Reading(limit) }
	if got := budget.Least(1, need); got != 159_999 || need(got) > got || need(got-1) <= got-1 {
		t.Errorf("least limit %d, of which %d bytes are needed", got, need(got))
	}
	mattest.Equal(t, budget.Least(200_000, need), 200_000, "least limit")
}

// TestGraph checks the bytes of each kind of matrix.
func TestGraph(t *testing.T) {
	a := &mat.CSR{Rows: 3, Cols: 3, Indptr: []int64{0, 1, 2, 2}, Indices: []int32{1, 0}}
	x := mattest.Must(paneled.New(3, 5, 2, mat.F16))
	weighted := &mat.CSR{Rows: 3, Cols: 3, Indptr: a.Indptr, Indices: a.Indices, Data: []float32{1, 2}}
	for i, c := range []struct{ got, want int64 }{
		{budget.Graph(a, mat.NewDense(3, 5)), 40 + 60},
		{budget.Graph(a, x), 40 + 30},
		{budget.Graph(weighted, a), 48 + 40},
		{budget.Entry(a), 4},
		{budget.Entry(weighted), 8},
	} {
		mattest.Equal(t, c.got, c.want, "case %d: bytes", i)
	}
}

package mat_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

func TestBlocksAreAllRows(t *testing.T) {
	x := mat.NewDense(10_001, 3) // several blocks
	for i := range x.Data {
		x.Data[i] = float32(i % 5)
	}
	for _, m := range []mat.Matrix{x, x.Sparse()} {
		var got []float32
		for block, err := range mat.Blocks(m) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, block.Data...)
		}
		if !slices.Equal(got, x.Data) {
			t.Errorf("the blocks of a %T are not its rows", m)
		}
	}
	for range mat.Blocks(mat.NewDense(0, 3)) {
		t.Error("a block of no rows")
	}
}

func TestBlocksEndWithTheError(t *testing.T) {
	calls := 0
	for block, err := range mat.Blocks(mattest.Distant{Of: mat.NewDense(20_000, 1), Err: errors.ErrUnsupported}) {
		if calls++; block != nil || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("block %v, error %v", block, err)
		}
	}
	if calls != 1 {
		t.Errorf("%d calls, want 1", calls)
	}
}

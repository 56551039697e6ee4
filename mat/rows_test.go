package mat_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

func TestRowsOfAnyType(t *testing.T) {
	m := whole(700, 30, rand.New(rand.NewPCG(12, 0)))
	rows := make([]int32, 600) // several chunks
	for i := range rows {
		rows[i] = int32(i * 7 % 700)
	}
	var gathered mat.Dense
	m.Gather(&gathered, rows)
	for _, x := range []mat.Matrix{m, m.Sparse(), mattest.Distant{Of: m}} {
		var got mat.Dense
		mattest.OK(t, mat.Rows(&got, x, rows))
		wantEqual(t, "rows", &got, &gathered)
	}
	failed := errors.New("no answer")
	mattest.WantIs(t, mat.Rows(new(mat.Dense), mattest.Distant{Of: m, Err: failed}, rows), failed)
}

func TestFirstNotFinite(t *testing.T) {
	m := whole(700, 300, rand.New(rand.NewPCG(13, 0))) // several chunks
	x := mattest.Distant{Of: m}
	for range 2 {
		for _, y := range []mat.Matrix{m, m.Sparse(), x} {
			i, j, found, err := mat.FirstNotFinite(t.Context(), y)
			if m.Row(600)[29] == m.Row(600)[29] {
				if found || err != nil {
					t.Errorf("%T: found (%d, %d) in finite numbers; error %v", y, i, j, err)
				}
			} else if i != 600 || j != 29 || !found || err != nil {
				t.Errorf("%T: found (%d, %d) %v, error %v, want (600, 29)", y, i, j, found, err)
			}
		}
		m.Row(600)[29], m.Row(650)[0] = float32(math.NaN()), float32(math.Inf(1))
	}
	x.Err = errors.New("no answer")
	_, _, _, err := mat.FirstNotFinite(t.Context(), x)
	mattest.WantIs(t, err, x.Err)
}

// short delivers one row too few.
type short struct{ *mat.Dense }

func (s short) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	return s.Dense.ReadBlock(dst, rows[1:], lo, hi)
}

func TestReadChecksTheShape(t *testing.T) {
	err := mat.Read(new(mat.Dense), short{mat.NewDense(4, 3)}, []int32{0, 1}, 1, 3)
	mattest.WantError(t, err, "delivered 1×2", "block of 2×2")
}

func TestBlocksAreAllRows(t *testing.T) {
	x := mat.NewDense(10_001, 3) // several blocks
	for i := range x.Data {
		x.Data[i] = float32(i % 5)
	}
	for _, m := range []mat.Matrix{x, x.Sparse()} {
		var got []float32
		for block, err := range mat.Blocks(m) {
			mattest.OK(t, err)
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
	mattest.Equal(t, calls, 1, "calls")
}

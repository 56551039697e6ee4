package selftrain_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/selftrain"
	"github.com/graph-condensation/cgc/mat"
)

func TestConfident(t *testing.T) {
	outputs := &mat.Dense{Rows: 6, Cols: 3, Data: []float32{
		0.9, 0.8, 9, // class 0, margin 0.1: class 2 has no training node
		0.5, 0.1, 9, // class 0, margin 0.4
		0.1, 0.3, 0, // class 1, margin 0.2
		0.7, 0.3, 0, // class 0, margin 0.4, after row 1
		-5, -4, -9, // class 1, margin 1
		-1, -1.2, 0, // class 0, margin 0.2
	}}
	counts := []int{2, 4, 0}
	for multiple, want := range map[float64][]int32{
		0: nil, 0.2: {4}, 0.5: {1, 2, 4}, 1: {1, 2, 3, 4}, 1.4: {1, 2, 3, 4, 5}, 100: {0, 1, 2, 3, 4, 5},
	} {
		rows, y, err := selftrain.Confident(outputs, counts, multiple)
		mattest.OK(t, err)
		if !slices.Equal(rows, want) || len(y) != len(want) {
			t.Errorf("multiple %v: rows %v with %d classes, want %v", multiple, rows, len(y), want)
		}
		for k, i := range rows {
			mattest.Equal(t, y[k], []int32{0, 0, 1, 0, 1, 0}[i], "multiple %v: row %d has class", multiple, i)
		}
	}
	for _, multiple := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, _, err := selftrain.Confident(outputs, counts, multiple); err == nil {
			t.Errorf("multiple %v: no error", multiple)
		}
	}
	rows, y, err := selftrain.Confident(outputs, []int{0, 3, 0}, 1)
	if err != nil || !slices.Equal(rows, []int32{0, 1, 2}) || !slices.Equal(y, []int32{1, 1, 1}) {
		t.Errorf("one class with training nodes: rows %v, classes %v, error %v", rows, y, err)
	}
}

// In each class, no remaining row has a wider margin than a selected one.
func TestConfidentTakesTheWidestMargins(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	outputs := mattest.Normal(500, 4, random)
	counts := []int{5, 10, 20, 10}
	rows, y, err := selftrain.Confident(outputs, counts, 3)
	mattest.OK(t, err)
	taken, least := make([]int, 4), []float64{9, 9, 9, 9}
	margin := func(i int) (int, float64) {
		row := slices.Clone(outputs.Row(i))
		class := slices.Index(row, slices.Max(row))
		slices.Sort(row)
		return class, float64(row[3] - row[2])
	}
	for k, i := range rows {
		class, m := margin(int(i))
		if int(y[k]) != class {
			t.Fatalf("row %d has class %d, want %d", i, y[k], class)
		}
		taken[class]++
		least[class] = min(least[class], m)
	}
	if !slices.Equal(taken, []int{15, 30, 60, 30}) {
		t.Errorf("took %v of the classes, want three times %v", taken, counts)
	}
	for i := range outputs.Rows {
		if class, m := margin(i); m > least[class] && !slices.Contains(rows, int32(i)) {
			t.Errorf("row %d with margin %v is left; one with margin %v is taken", i, m, least[class])
		}
	}
}

package search

import (
	"math"
	"testing"
)

// TestCorrelations compares the coefficients with values computed by hand, one of them with ties.
func TestCorrelations(t *testing.T) {
	for _, c := range []struct {
		x, y              []float64
		spearman, kendall float64
	}{
		{[]float64{1, 2, 3}, []float64{10, 20, 50}, 1, 1},
		{[]float64{1, 2, 3, 4}, []float64{4, 3, 2, 1}, -1, -1},
		{[]float64{1, 2, 3, 4}, []float64{1, 3, 2, 4}, 0.8, 4. / 6},
		{[]float64{1, 1, 2}, []float64{1, 2, 3}, math.Sqrt(0.75), 2 / math.Sqrt(6)},
		{[]float64{1, 1, 1}, []float64{1, 2, 3}, 0, 0},
	} {
		if s, k := spearman(c.x, c.y), kendall(c.x, c.y); math.Abs(s-c.spearman) > 1e-12 || math.Abs(k-c.kendall) > 1e-12 {
			t.Errorf("%v, %v: %g and %g, want %g and %g", c.x, c.y, s, k, c.spearman, c.kendall)
		}
	}
}

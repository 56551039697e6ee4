package search

import (
	"math"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
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
		mattest.Near(t, spearman(c.x, c.y), c.spearman, 1e-12, "%v, %v: Spearman's ρ is", c.x, c.y)
		mattest.Near(t, kendall(c.x, c.y), c.kendall, 1e-12, "%v, %v: Kendall's τ is", c.x, c.y)
	}
}

package scales_test

import (
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/scales"
)

// If only two norms are not zero, such as those of an age and an income, the smaller one is the median.
func TestRatio(t *testing.T) {
	for want, norms := range map[float64][]float64{1: {0, 0}, 600: {30000, 0, 50}, 3: {6, 1, 2, 3}, 2: {4, 1, 2}} {
		mattest.Equal(t, scales.Ratio(norms), want, "ratio of %v is", norms)
	}
}

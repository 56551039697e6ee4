package cgc_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Half precision changes the condensed graph slightly and does not share a preparation with float32.
func TestHalfPrecision(t *testing.T) {
	g, _ := fewLabels(400, 60, 3, false, rand.New(rand.NewPCG(64, 0)))
	full, half := configured(12, nil), configured(12, func(c *cgc.Config) { c.Precision = blocked.Half })
	want, got := mustCondense(t, g, full).X.Data, mustCondense(t, g, half).X.Data
	if slices.Equal(got, want) {
		t.Error("half precision changes no number")
	}
	// With so few nodes, the groups stay the same. Two hops and a mean err by at most 3·2⁻¹¹ times magnitudes below 10.
	for k, v := range got {
		if math.Abs(float64(v-want[k])) > 0.02 {
			t.Fatalf("number %d of X′ is %v, and %v in float32", k, v, want[k])
		}
	}
	if full.SharesPreparation(half) || !half.SharesPreparation(half) {
		t.Error("float32 and half share a preparation, or half has none")
	}
}

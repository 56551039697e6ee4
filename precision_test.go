package cgc_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Half precision changes the condensed graph slightly and does not share a preparation with float32. The bytes do not
// depend on the memory limit or on the number of threads.
func TestHalfPrecision(t *testing.T) {
	g, _ := fewLabels(400, 60, 3, false, rand.New(rand.NewPCG(64, 0)))
	half := func(c *cgc.Config) { c.Precision = blocked.Half }
	full, small := mustCondense(t, g, configured(12, nil)), mustCondense(t, g, configured(12, half))
	if slices.Equal(full.X.Data, small.X.Data) {
		t.Error("half precision changes no number")
	}
	// With so few nodes, the groups stay the same. Two hops and a mean err by at most 3·2⁻¹¹ times magnitudes below 10.
	for k, v := range small.X.Data {
		if math.Abs(float64(v-full.X.Data[k])) > 0.02 {
			t.Fatalf("number %d of X′ is %v, and %v in float32", k, v, full.X.Data[k])
		}
	}
	before := runtime.GOMAXPROCS(5)
	defer runtime.GOMAXPROCS(before)
	bounded := mustCondense(t, g, configured(12, func(c *cgc.Config) { c.Precision, c.Memory = blocked.Half, 1 }))
	if !slices.Equal(bounded.X.Data, small.X.Data) {
		t.Error("a bound on memory or the number of threads changes X′")
	}
	if a, b := labelled(12, 1, nil), labelled(12, 1, half); a.SharesPreparation(b) || !b.SharesPreparation(b) {
		t.Error("float32 and half share a preparation, or half has none")
	}
}

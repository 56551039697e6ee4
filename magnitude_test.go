package cgc_test

import (
	"math"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/mat"
)

// Features of any size are condensed alike: a power of two in the features is the same power of two in H′. At 2⁶⁴
// squares overflow, and at 2⁻⁸⁰ they vanish.
func TestCondenseAtAnyScale(t *testing.T) {
	g := synth.Demo()
	for _, partition := range []string{"kmeans", "spectral"} {
		var want *cgc.Condensed
		for _, exponent := range []int{0, 30, 62, 64, 100, 122, -30, -80, -110} {
			x := g.X.(*mat.Dense).Clone()
			for i, v := range x.Data {
				x.Data[i] = float32(math.Ldexp(float64(v), exponent))
			}
			scaled := *g
			scaled.X = x
			config := configured(70, func(c *cgc.Config) { c.Partition, c.Augment = partition, 0.4 })
			small := mustCondense(t, &scaled, config)
			if exponent == 0 {
				want = small
				continue
			}
			worst := 0.0
			for i, v := range small.X.Data {
				worst = max(worst, math.Abs(math.Ldexp(float64(v), -exponent)-float64(want.X.Data[i])))
			}
			if worst > 1e-2 { // features of about 1; confidences, and so weights, are computed from other roundings
				t.Errorf("%s, features of 2^%d: X′ differs by up to %g after scaling back", partition, exponent, worst)
			}
		}
	}
}

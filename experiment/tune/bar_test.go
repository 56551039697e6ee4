package tune

import (
	"github.com/graph-condensation/cgc/internal/mattest"
	"math"
	"testing"
)

// TestLeadIsItsFormula compares gain and noise with the formula in plain loops: margin·√(s²/n + v/m).
func TestLeadIsItsFormula(t *testing.T) {
	a, b := []float64{82, 85, 84}, []float64{80, 81, 83}
	rightA := [][]int{{2, 1, 0, 2}, {2, 2, 0, 1}, {1, 2, 0, 2}}
	rightB := [][]int{{1, 1, 0, 2}, {0, 2, 1, 1}, {1, 0, 0, 2}}
	gain, noise := lead(a, b, rightA, rightB, 2)
	mattest.Near(t, gain, 7.0/3, 1e-12, "gain")
	s := 7.0 / 3                                   // variance of 2, 4, 1
	nodes := []float64{50, 100. / 3, -100. / 6, 0} // 100·(3, 2, −1, 0)/(3·2)
	mean := (nodes[0] + nodes[1] + nodes[2]) / 4   // nodes[3] is 0
	v := 0.0
	for _, x := range nodes {
		v += (x - mean) * (x - mean) / 3
	}
	mattest.Near(t, noise, 1.5*math.Sqrt(s/3+v/4), 1e-9, "noise")
	if _, one := lead(a[:1], b[:1], rightB[:1], rightB[:1], 2); one != 1.5 {
		t.Errorf("noise %v of one repetition without a difference, want 1.5", one)
	}
}

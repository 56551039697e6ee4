package tune

import (
	"math"
	"slices"
	"testing"
)

// TestLeadIsItsFormula compares gain and noise with the formula in plain loops: margin·√(s²/n + v/m).
func TestLeadIsItsFormula(t *testing.T) {
	a, b := []float64{82, 85, 84}, []float64{80, 81, 83}
	rightA := [][]int{{2, 1, 0, 2}, {2, 2, 0, 1}, {1, 2, 0, 2}}
	rightB := [][]int{{1, 1, 0, 2}, {0, 2, 1, 1}, {1, 0, 0, 2}}
	gain, noise := lead(a, b, rightA, rightB, 2)
	if math.Abs(gain-7.0/3) > 1e-12 {
		t.Errorf("gain %v, want 7/3", gain)
	}
	s := 7.0 / 3                                   // variance of 2, 4, 1
	nodes := []float64{50, 100. / 3, -100. / 6, 0} // 100·(3, 2, −1, 0)/(3·2)
	mean := (nodes[0] + nodes[1] + nodes[2]) / 4   // nodes[3] is 0
	v := 0.0
	for _, x := range nodes {
		v += (x - mean) * (x - mean) / 3
	}
	if want := 1.5 * math.Sqrt(s/3+v/4); math.Abs(noise-want) > 1e-9 {
		t.Errorf("noise %v, want %v", noise, want)
	}
	if _, one := lead(a[:1], b[:1], rightB[:1], rightB[:1], 2); one != 1.5 {
		t.Errorf("noise %v of one repetition without a difference, want 1.5", one)
	}
}

// TestPriorsHaveNoPlaceOfTheirOwn checks that a prior that ranks low is not confirmed, and that a prior that trains
// badly is dropped like any other candidate.
func TestPriorsHaveNoPlaceOfTheirOwn(t *testing.T) {
	w := &searcher{Search: Search{Space: make([]Dimension, 3)}, priors: map[string]Prior{}}
	add := func(p ...int) trial {
		tr := trial{point: p, Verdict: Verdict{Accuracy: 90 - float64(len(w.ranked))}}
		w.ranked = append(w.ranked, tr)
		return tr
	}
	base := add(asBase, asBase, asBase)
	for level := range 6 {
		add(level, level, level)
	}
	prior := add(7, 7, 7)
	w.priors[prior.key()] = Prior{}
	is := func(t trial) bool { return slices.Equal(t.point, prior.point) }
	if chosen := w.finalists(4); slices.ContainsFunc(chosen, is) {
		t.Errorf("finalists %v, want the prior not among them", chosen)
	}
	trials := []trial{w.ranked[1], w.ranked[2], prior, base}
	if kept := w.reduce(trials, 3); len(kept) != 3 || slices.ContainsFunc(kept, is) {
		t.Errorf("kept %v, want the base and the first two", kept)
	}
}

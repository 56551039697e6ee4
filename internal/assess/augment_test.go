package assess_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/assess"
	"github.com/graph-condensation/cgc/internal/mattest"
)

func TestSampleRefuses(t *testing.T) {
	y := []int32{0, 1}
	for _, c := range []struct {
		errors []float64
		size   int
		says   string
	}{
		{[]float64{0, 1}, -1, "size -1"},
		{[]float64{0, math.NaN()}, 3, "error NaN of class 1"},
		{[]float64{math.Inf(1), 0}, 3, "error +Inf of class 0"},
		{[]float64{-0.1, 0}, 3, "error -0.1 of class 0"},
	} {
		mattest.Fails(t, c.says)(assess.Sample(y, c.errors, 2, c.size, rand.NewPCG(1, 2)))
	}
}

// Classes are drawn in proportion to their error times their size, absent classes never, and hops uniformly. If no
// class has an error, all nodes are equally likely.
func TestSampleFollowsTheWeights(t *testing.T) {
	y := []int32{0, 0, 0, 2, 2, 3} // no node of class 1
	const size = 60_000
	for _, c := range []struct{ errors, shares []float64 }{
		{[]float64{0.2, 0.9, 0.6, 0}, []float64{0.2 / 1.8, 0.2 / 1.8, 0.2 / 1.8, 0.6 / 1.8, 0.6 / 1.8, 0}},
		{make([]float64, 4), slices.Repeat([]float64{1. / 6}, 6)},
	} {
		picks := mattest.Must(assess.Sample(y, c.errors, 3, size, rand.NewPCG(1, 2)))
		rows, hops := make([]int, len(y)), make([]int, 3)
		for _, p := range picks {
			rows[p.Row]++
			hops[p.Hop]++
		}
		for i, share := range c.shares {
			if got := float64(rows[i]) / size; math.Abs(got-share) > 0.01 { // five standard errors
				t.Errorf("errors %v: node %d has the share %v, want %v", c.errors, i, got, share)
			}
		}
		if slices.Min(hops) < size/3-size/100 {
			t.Errorf("errors %v: hops are drawn %v times", c.errors, hops)
		}
	}
	if picks, err := assess.Sample(y, []float64{1, 1, 1, 1}, 0, 50, rand.NewPCG(4, 4)); err != nil || len(picks) != 0 {
		t.Errorf("%d picks from no shallower hops, error %v", len(picks), err)
	}
}

// Only class 1 has an error, so all added embeddings belong to its nodes, 2 and 3.
func ExampleSample() {
	picks := mattest.Must(assess.Sample([]int32{0, 0, 1, 1}, []float64{0, 0.3}, 2, 100, rand.NewPCG(1, 2)))
	hops, rows := map[int]bool{}, map[int32]bool{}
	for _, p := range picks {
		hops[p.Hop], rows[p.Row] = true, true
	}
	fmt.Println(len(picks), hops, rows)
	// Output: 100 map[0:true 1:true] map[2:true 3:true]
}

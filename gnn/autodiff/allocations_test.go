//go:build !race

package autodiff_test

import (
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn/autodiff"
)

// The race detector empties pools at random, so this file is not built with it.
func TestEpochsAllocateNothing(t *testing.T) {
	x, y, w := problem(60, 30, 20, 4)
	tape, vars, src := autodiff.NewTape(), make([]*autodiff.Var, 3), rand.NewPCG(1, 1)
	allocations := testing.AllocsPerRun(20, func() { epoch(tape, x, y, w, vars, src) })
	if allocations > 0 {
		t.Errorf("%v allocations per epoch after the first, want none", allocations)
	}
}

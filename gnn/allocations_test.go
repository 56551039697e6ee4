//go:build !race

package gnn_test

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// TestEpochsAllocateNothing compares the allocations of long and short training runs on a condensed graph, validated in
// every epoch, on two threads: all allocations must happen in the first epoch. The race detector empties pools at
// random, so this file is not built with it.
func TestEpochsAllocateNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	random := rand.New(rand.NewPCG(3, 3))
	dense := blocks(1000, 30, 7, 8) // each validation is split into several chunks of work
	sparse := *dense
	sparse.X = dense.X.(*mat.Dense).Sparse()
	small := &gnn.Sample{Adj: randomGraph(70, 0.05, false, random), X: mattest.Normal(70, 30, random), Classes: 7}
	for i := range int32(70) {
		small.Y = append(small.Y, i%7)
	}
	for name, g := range map[string]*graph.Graph{"dense": dense, "sparse": &sparse} {
		target := newTarget(t, g, false)
		each(t, func(t *testing.T, m gnn.Model) {
			allocated := func(epochs int) float64 {
				c := gnn.Defaults()
				c.Epochs, c.ValidateEvery, c.InputDropout, c.Hidden = epochs, 1, 0.1, 32
				runtime.GC()
				defer debug.SetGCPercent(debug.SetGCPercent(-1)) // garbage collection empties pools
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				train(t, m, small, target, c)
				runtime.ReadMemStats(&after)
				return float64(after.Mallocs - before.Mallocs)
			}
			per := 1.0
			// A pool grows when more workers run at once than before, so the test may be repeated.
			for try := 0; try < 30 && per >= 0.5; try++ {
				per = (allocated(25) - allocated(5)) / 20
			}
			if per >= 0.5 {
				t.Errorf("%s target: %v allocations per epoch, want none", name, per)
			}
		})
	}
}

//go:build !race

package blocked_test

import (
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Half precision needs half of the memory for blocks, and the memory of tiles is counted. The race detector empties
// pools at random, so this file is excluded from its builds.
func TestHalfTakesHalfOfTheBlocks(t *testing.T) {
	const n, d = 40_000, 64
	in := propagate.Input{Adj: ring(n, 2), X: features(n, d, 1, rand.New(rand.NewPCG(1, 0))), Rows: memory.Range(0, n)}
	in.Adj.Data = nil
	for _, p := range []propagate.Propagation{
		{Rule: propagate.PPR, Hops: 2, Teleport: 0.5}, {Rule: propagate.SAGE, Hops: 2}, {Rule: propagate.SGC, Hops: 3},
	} {
		whole := mattest.Must(blocked.Engine{}.Footprint(p, in))
		engine := blocked.Engine{Precision: blocked.Half}
		planned := mattest.Must(engine.Footprint(p, in))
		// A column has half as many bytes. Blocks have 32 or 64 columns, depending on the cache of this machine.
		half := whole.Blocks / int64(whole.Columns) * int64(planned.Columns) / 2
		if tiles := planned.Blocks - half; tiles < 0 || tiles > 1<<20 {
			t.Errorf("%s: blocks of %d bytes, want %d and tiles", p.Rule, planned.Blocks, half)
		}
		// The tolerance of 10% is the same as in TestMemoryIsAskedForOnce. Blocks of float32 would add a fifth.
		wantMemory(t, engine, p, in, 110)
	}
}

// Blocks of 16-bit values, in which each row has its factor, need as much memory as the plan says.
func TestMemoryOfHalves(t *testing.T) {
	const n, d = 300_000, 32
	x := mattest.Must(paneled.Copy(features(n, d, 1, rand.New(rand.NewPCG(1, 0))), 16, mat.F16))
	in := propagate.Input{Adj: ring(n, 3), X: x, Mapped: true}
	in.Adj.Data = nil
	for v := int32(0); v < n; v += 7 { // all other nodes are within one hop
		in.Rows = append(in.Rows, v)
	}
	p := propagate.Propagation{Rule: propagate.SGC, Hops: 1}
	engine := blocked.Engine{Memory: blocked.Process + 36<<20}
	if plan := engine.Plan(p, in); !plan.Halves || plan.Width != 16 {
		t.Fatalf("plan %+v, want blocks of 16 columns of 16 bits", plan)
	}
	// Of the tolerance of 5%, thread buffers and lists of the rows use 4%. Without the factors, the plan would be 4%
	// smaller.
	wantMemory(t, engine, p, in, 105)
}

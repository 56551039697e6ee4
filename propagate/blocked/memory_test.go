package blocked_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Memory is allocated once: later blocks of columns need no more, even if they are wider. The 100 columns are divided
// into blocks of 48 and 52.
func TestMemoryIsAskedForOnce(t *testing.T) {
	const n, d = 4000, 100
	x := features(n, d, 1, rand.New(rand.NewPCG(1, 0)))
	in := propagate.Input{Adj: ring(n, 3), X: x, Rows: memory.Range(0, n)}
	p := propagate.Propagation{Rule: propagate.PPR, Hops: 2, Teleport: 0.5}
	planned := mattest.Must(blocked.Engine{}.Footprint(p, in))
	if planned.Columns != 64 || planned.Passes != 2 {
		t.Fatalf("%d blocks of %d columns, want 2 of at most 64", planned.Passes, planned.Columns)
	}
	// Size classes and the bookkeeping of threads add up to 10%. A second set of blocks would add a quarter.
	wantMemory(t, blocked.Engine{}, p, in, 110)
}

// wantMemory checks that Embeddings allocates at most the given percentage of its footprint.
func wantMemory(t *testing.T, engine blocked.Engine, p propagate.Propagation, in propagate.Input, percent int64) {
	t.Helper()
	planned := mattest.Must(engine.Footprint(p, in))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	embeddings(t, engine, p, in)
	runtime.ReadMemStats(&after)
	if taken, most := int64(after.TotalAlloc-before.TotalAlloc), planned.Sum()*percent/100; taken > most {
		t.Errorf("%s: took %d bytes, want at most %d for a plan of %d", p.Rule, taken, most, planned.Sum())
	}
}

// Blocks have from 32 to 64 columns, depending on how many fit in the cache for all rows of X.
func TestWidthFollowsTheCache(t *testing.T) {
	const n = 1000
	in := propagate.Input{Adj: ring(n, 5), X: mat.NewDense(n, 200), Rows: memory.Range(0, n)}
	for cache, want := range map[int64]int{0: 32, 4*48*n - 1: 32, 4 * 48 * n: 48, 4*64*n - 1: 48, 4 * 64 * n: 64,
		1 << 40: 64} {
		mattest.Equal(t, blocked.Fitting(in, 2, cache), want, "a cache of %d bytes: columns", cache)
	}
}

// Class numbers that do not fit in a byte give the same order as smaller numbers for the same classes.
func TestLayoutOfManyClasses(t *testing.T) {
	const n = 900
	a, rows := ring(n, 2), []int32{}
	for v := int32(0); v < n; v += 2 {
		rows = append(rows, v)
	}
	random := rand.New(rand.NewPCG(2, 0))
	few, many := make([]int32, len(rows)), make([]int32, len(rows))
	for i := range few {
		few[i] = random.Int32N(5)
		many[i] = 251 + few[i] // 254 is the last one that fits
	}
	want, _ := blocked.Layout(a, rows, few, 2)
	got, _ := blocked.Layout(a, rows, many, 2)
	if !slices.Equal(got, want) {
		t.Error("classes 251 to 255 give another order than classes 0 to 4")
	}
}

package blocked_test

import (
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// The memory limit determines the width of blocks and how many entries of the adjacency are kept in the order of
// places. Sparse features are split only if necessary.
func TestPlan(t *testing.T) {
	const n, d = 1000, 200
	a := ring(n, 5) // 10000 entries of 8 bytes, 1001 pointers of 8: 88 kB
	x := mat.NewDense(n, d)
	half := memory.Range(0, n/2)
	for i := range half {
		half[i] *= 2
	}
	p := propagate.Propagation{Rule: propagate.SGC, Hops: 2}
	const arrays, base = 16 * n, 8*10_000 + 8*1001 + 4*n*d + blocked.Process // all nodes are within one hop
	const entries, inner = 8*n + 2*4*11*n, (8*n + 2*4*11*n) / 2
	const results = 2 * 4 * n / 2 * d
	const sparseBase, sparseArrays = base - 4*n*d + 8*1001, 20 * n
	for _, c := range []struct {
		what   string
		x      mat.Matrix
		memory int64
		width  int
		kept   int
		spill  bool
	}{
		{"no bound", x, 0, 64, n, false},
		{"sparse", x.Sparse(), 0, d, n, false},
		{"room for all", x, 1 << 30, 64, n, false},
		{"room for 64 columns and the rows", x, base + arrays + results + 64*(4*n+4*n) + entries, 64, n, false},
		{"room for 32 columns and the rows", x, base + arrays + results + 32*(4*n+4*n) + entries, 32, n, false},
		{"room for 32 columns and all rows but one", x, base + arrays + results + 32*(4*n+4*n) + entries - 1, 32, n, false},
		{"room for 16 columns and half of the rows", x, base + arrays + results + 16*(4*n+4*n) + inner, 16, n / 2, false},
		{"room for 2 columns, or for more without results", x, base + arrays + results + 2*(4*n+4*n), 64, n, true},
		{"room for 2 columns and no results", x, base + arrays + 2*(4*n+4*n), 2, 0, true},
		{"room for 1 column and no results", x, base + arrays + 4*n + 4*n, 1, 0, true},
		{"no room", x, base, 16, 0, false},
		{"sparse, room for 40 columns", x.Sparse(), sparseBase + sparseArrays + results*3/2 + 40*(4*n+4*n/2), 16, n, false},
	} {
		in := propagate.Input{Adj: a, X: c.x, Rows: half}
		plan := blocked.Engine{Memory: c.memory}.Plan(p, in)
		filed := int64(strings.Count(c.what, "but one"))
		if plan.Width != c.width || plan.Kept != c.kept || plan.Filed != filed || plan.Spill != c.spill || plan.Beyond {
			t.Errorf("%s: %+v, want %d columns, %d places kept, spill %t", c.what, plan, c.width, c.kept, c.spill)
		}
	}
	// If nodes have few edges, results that do not fit are spilled to make room for wide blocks.
	for span, want := range map[int]int{15: 64, 16: 32} {
		in := propagate.Input{Adj: ring(n, span), X: x, Rows: half}
		in.Adj.Data = nil
		entries := int64(2 * span * n)
		input := blocked.Process + 8*(n+1) + 4*entries + 4*n*d
		engine := blocked.Engine{Memory: input + arrays + 8*n + 4*(entries+n) + 64*(4*n+4*n)}
		if plan := engine.Plan(p, in); plan.Width != want || !plan.Spill {
			t.Errorf("%d edges at each node: %+v, want blocks of %d columns and results in a file", 2*span, plan, want)
		}
	}
}

// An input above the memory limit does not count if it is mapped from a file. On the heap it counts, and leaves no
// room.
func TestPlanOfInputsLargerThanTheBound(t *testing.T) {
	const n, d = 1000, 8000
	p := propagate.Propagation{Rule: propagate.SGC, Hops: 1}
	in := propagate.Input{Adj: ring(n, 5), X: mat.NewDense(n, d), Rows: make([]int32, n/4)}
	for i := range in.Rows {
		in.Rows[i] = int32(2 * i)
	}
	engine := blocked.Engine{Memory: (blocked.Process + 4*n/2*d + 48*(4*n+4*n/4) + 600_000) * 16 / 15}
	if in.X.(*mat.Dense).Data = in.X.(*mat.Dense).Data[:]; 4*n*d < engine.Memory-blocked.Process-1<<24 {
		t.Fatal("the features fit")
	}
	for mapped, want := range map[bool]int{false: 16, true: 48} {
		in.Mapped = mapped
		if got := engine.Plan(p, in); got.Beyond != mapped || got.Width < want || !mapped && got.Width > want {
			t.Errorf("mapped %t: %+v, want blocks of %d columns", mapped, got.Width, want)
		}
	}
}

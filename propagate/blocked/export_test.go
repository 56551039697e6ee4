package blocked

import (
	"context"

	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// Process is the memory of an idle process in a plan.
const Process = budget.Propagating

// Plan describes how columns are propagated.
type Plan struct {
	Width, Kept   int
	Stored        bool  // the entries of all places are kept
	Held, Filed   int64 // entries that are kept in memory, and in a file
	Halves, Spill bool
	Beyond        bool
	Blocks        [][2]int
}

// Plan returns the plan of Embeddings.
func (e Engine) Plan(p propagate.Propagation, in propagate.Input) Plan {
	_, beta := in.Step(p)
	r := newRun(context.Background(), in, p.Hops, beta, e, false, false)
	plan := Plan{
		Width: r.plan.width, Kept: r.plan.kept, Stored: r.plan.kept == r.within[p.Hops-1],
		Held: r.plan.held, Filed: r.keeps(r.plan.kept) - r.plan.held, Halves: r.plan.halves,
		Spill: r.plan.spill, Beyond: r.plan.beyond,
	}
	for lo, hi := range r.blocks(r.plan) {
		plan.Blocks = append(plan.Blocks, [2]int{lo, hi})
	}
	return plan
}

// Fitting returns the width of blocks for a cache of the given size in bytes.
func Fitting(in propagate.Input, hops int, cache int64) int {
	return newRun(context.Background(), in, hops, 0, Engine{}, false, false).fitting(cache)
}

// Layout returns the nodes in the order of their places, and how many are within each number of hops.
func Layout(a *mat.CSR, rows, classes []int32, hops int) (nodes []int32, within []int) {
	ctx := context.Background() // it does not end
	l := find(ctx, a, rows, hops)
	_ = l.order(ctx, a, rows, classes, l.within[hops])
	return l.nodes, l.within
}

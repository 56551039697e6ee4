package bench

import (
	"context"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Ceilings are the peak rates of the machine, on all threads, of the operations that dominate the steps.
type Ceilings struct {
	// Stream is the bandwidth of memory that is read and written in order.
	//
	// It is measured by y += αx on the halves of the table, which moves 12 bytes per element.
	Stream float64 `json:"stream_gb_per_s"`
	// Gather is the bandwidth of rows that are read at random places of a table. Writing the sums is not counted.
	Gather float64 `json:"gather_gb_per_s"`
	// Compute is the speed of the matrix product.
	//
	// Each thread multiplies its own 1024×1024 matrices, which takes 2·1024³ operations per product.
	Compute float64 `json:"compute_gflop_per_s"`
	// Fresh is the rate at which new memory is written for the first time: the system then finds and clears its pages.
	Fresh float64 `json:"fresh_gb_per_s"`
	// File is the rate at which the graph was read from its file when it was opened; absent if it was not measured.
	//
	// Measure does not set it.
	File float64 `json:"file_gb_per_s,omitempty"`
}

// Ceiling names one of the ceilings.
type Ceiling string

// The ceilings.
const (
	Stream  Ceiling = "stream"
	Gather  Ceiling = "gather"
	Compute Ceiling = "compute"
	Fresh   Ceiling = "fresh"
)

// Unit returns the unit of work: the ceiling is in this unit per second.
func (c Ceiling) Unit() string {
	if c == Compute {
		return "GFLOP"
	}
	return "GB"
}

// of returns the ceiling of the given name.
func (c Ceilings) of(name Ceiling) float64 {
	switch name {
	case Stream:
		return c.Stream
	case Gather:
		return c.Gather
	case Fresh:
		return c.Fresh
	}
	return c.Compute
}

// A Table is the memory that Measure reads at random, like a hop of a propagation: Rows rows of Columns numbers, and
// sums of Degree rows. Columns is a multiple of 16. With half precision, numbers have two bytes instead of four.
type Table struct {
	Rows, Columns, Degree int
	Precision             blocked.Precision
}

// size returns the number of bytes of a number in t.
func (t Table) size() int {
	if t.Precision == blocked.Half {
		return 2
	}
	return 4
}

// Large is a table of 256 MB, several times the size of the largest caches, with rows of seven cache lines.
var Large = Table{Rows: 1 << 26 / 112, Columns: 112, Degree: 20}

const (
	// order is the order of the matrices whose product is timed.
	order = 1024
	// gathered is the number of bytes that a timed call gathers at least: a few milliseconds of work.
	gathered = 128 << 20
)

// Measure measures the ceilings of the machine with t as working set. Each but Fresh is the median of at least three
// runs that take at least the given number of seconds together. src draws the rows to gather. Memory of the size of t
// is allocated, and returned to the system.
func Measure(ctx context.Context, t Table, seconds float64, src rand.Source) (c Ceilings, err error) {
	if err := ctx.Err(); err != nil {
		return c, err
	}
	// Two halves of the table, allocated like the blocks of propagation. They are also the operands of the product.
	debug.FreeOSMemory()
	defer debug.FreeOSMemory()
	size := max(t.Rows*t.Columns, 2*order*order)
	table := memory.Make[float32](size)
	begun := time.Now()
	parallel.For(size, 1<<16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			table[i] = 1
		}
	})
	c.Fresh = 4 * float64(size) / time.Since(begun).Seconds() / 1e9
	x, y := table[:size/2], table[size/2:size/2*2]

	random := rand.New(src)
	targets := max(256, gathered/(4*t.Columns*t.Degree))
	indptr, indices := make([]int64, targets+1), make([]int32, targets*t.Degree)
	for i := range indices {
		indices[i] = random.Int32N(int32(t.Rows))
	}
	for i := range targets {
		indptr[i+1] = int64((i + 1) * t.Degree)
	}
	threads := runtime.GOMAXPROCS(0)
	out := make([]float32, max(threads*order*order, targets*t.Columns))
	scale := memory.Filled[float32](targets, 1)
	gather := func(dst kernel.Block, lo, hi int) {
		kernel.GatherSum(dst, indptr[lo:hi+1], indices, scale[lo:hi], kernel.Rows(table, t.Columns), t.Columns)
	}
	if t.Precision == blocked.Half {
		halves := memory.Make[uint16](t.Rows * t.Columns)
		parallel.For(len(halves), 1<<16, func(lo, hi int) { kernel.NarrowFloat16(halves[lo:hi], table[lo:hi]) })
		gather = func(dst kernel.Block, lo, hi int) {
			kernel.GatherHalf(dst, indptr[lo:hi+1], indices, nil, scale[lo:hi],
				kernel.Halves{Data: halves, Stride: t.Columns}, t.Columns)
		}
	}
	for _, m := range []struct {
		ceiling *float64
		work    float64
		do      func()
	}{
		{&c.Stream, 12 * float64(len(x)), func() {
			parallel.For(len(x), 1<<14, func(lo, hi int) { kernel.Axpy(1e-6, x[lo:hi], y[lo:hi]) })
		}},
		{&c.Gather, float64(t.size() * t.Columns * len(indices)), func() {
			parallel.For(targets, 256, func(lo, hi int) {
				gather(kernel.Rows(out[lo*t.Columns:hi*t.Columns], t.Columns), lo, hi)
			})
		}},
		{&c.Compute, float64(threads) * 2 * order * order * order, func() {
			parallel.For(threads, 1, func(t, _ int) {
				product := kernel.Rows(out[t*order*order:(t+1)*order*order], order)
				kernel.Gemm(product, kernel.Rows(x, order), kernel.Rows(y, order), order, order, order, false)
			})
		}},
	} {
		usual, err := typical(ctx, seconds, m.do)
		if err != nil {
			return c, err
		}
		*m.ceiling = m.work / usual / 1e9
	}
	return c, nil
}

// typical returns the median time of f in seconds. After a first call, which does not count, it calls f at least three
// times and for at least the given number of seconds in total.
func typical(ctx context.Context, seconds float64, f func()) (float64, error) {
	f()
	begun := time.Now()
	var times []float64
	for len(times) < 3 || time.Since(begun).Seconds() < seconds {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		start := time.Now()
		f()
		times = append(times, time.Since(start).Seconds())
	}
	return Median(times), ctx.Err()
}

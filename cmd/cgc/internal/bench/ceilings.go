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

// Large is a table of 256 MB, several times the size of the largest caches, with rows of seven cache lines.
var Large = Table{Rows: 1 << 26 / 112, Columns: 112, Degree: 20}

// order is the order of the matrices whose product is timed.
const order = 1024

// Measure measures the ceilings of the machine with t as working set. Each but Fresh is the median of at least three
// runs that take at least the given number of seconds together. src draws the rows to gather. Memory of the size of t
// is allocated, and returned to the system.
func Measure(ctx context.Context, t Table, seconds float64, src rand.Source) (c Ceilings, err error) {
	if err := ctx.Err(); err != nil {
		return c, err
	}
	debug.FreeOSMemory()
	defer debug.FreeOSMemory()
	size := max(t.Rows*t.Columns, 2*order*order)
	table := memory.Make[float32](size) // allocated like the blocks of propagation
	begun := time.Now()
	parallel.For(size, 1<<16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			table[i] = 1
		}
	})
	c.Fresh = 4 * float64(size) / time.Since(begun).Seconds() / 1e9

	x, y := table[:size/2], table[size/2:size/2*2] // also the operands of the product
	gather, gathered := t.gathering(table, src)
	threads := runtime.GOMAXPROCS(0)
	products := make([]float32, threads*order*order)
	for _, m := range []struct {
		ceiling *float64
		work    float64
		do      func()
	}{
		{&c.Stream, 12 * float64(len(x)), func() {
			parallel.For(len(x), 1<<14, func(lo, hi int) { kernel.Axpy(1e-6, x[lo:hi], y[lo:hi]) })
		}},
		{&c.Gather, gathered, gather},
		{&c.Compute, float64(threads) * 2 * order * order * order, func() {
			parallel.For(threads, 1, func(t, _ int) {
				product := kernel.Rows(products[t*order*order:(t+1)*order*order], order)
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

// gathering returns a function that sums random rows of a table, and the number of bytes of these rows: 128 MB, which
// takes a few milliseconds, or the rows of 256 sums if that is more.
func (t Table) gathering(table []float32, src rand.Source) (gather func(), bytes float64) {
	sums := max(256, 128<<20/(4*t.Columns*t.Degree))
	indptr, indices := make([]int64, sums+1), make([]int32, sums*t.Degree)
	random := rand.New(src)
	for i := range indices {
		indices[i] = random.Int32N(int32(t.Rows))
	}
	for i := range indptr {
		indptr[i] = int64(i * t.Degree)
	}
	out, scale := make([]float32, sums*t.Columns), memory.Filled[float32](sums, 1)
	sum := func(dst kernel.Block, lo, hi int) {
		kernel.GatherSum(dst, indptr[lo:hi+1], indices, scale[lo:hi], kernel.Rows(table, t.Columns), t.Columns)
	}
	bytes = 4
	if t.Precision == blocked.Half {
		bytes = 2
		halves := memory.Make[uint16](t.Rows * t.Columns)
		parallel.For(len(halves), 1<<16, func(lo, hi int) { kernel.NarrowFloat16(halves[lo:hi], table[lo:hi]) })
		rows := kernel.Halves{Data: halves, Stride: t.Columns}
		sum = func(dst kernel.Block, lo, hi int) {
			kernel.GatherHalf(dst, indptr[lo:hi+1], indices, nil, scale[lo:hi], rows, t.Columns)
		}
	}
	return func() {
		parallel.For(sums, 256, func(lo, hi int) {
			sum(kernel.Rows(out[lo*t.Columns:hi*t.Columns], t.Columns), lo, hi)
		})
	}, bytes * float64(t.Columns*len(indices))
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

package bench

import (
	"context"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
)

// Ceilings are the peak rates of the machine, on all threads, of the three operations that dominate the steps.
type Ceilings struct {
	// Stream is the bandwidth of memory that is read and written in order.
	//
	// It is measured by y += αx on arrays of 256 MB each, which moves 12 bytes per element.
	Stream float64 `json:"stream_gb_per_s"`
	// Gather is the bandwidth of memory that is read at random, in rows of 448 bytes.
	//
	// kernel.Gather reads rows of 112 float32 (seven cache lines) at random places of 256 MB, in huge pages if the system
	// gives them. For every 20 rows read, it writes one, which is not counted.
	Gather float64 `json:"gather_gb_per_s"`
	// Compute is the speed of the matrix product.
	//
	// Each thread multiplies its own 1024×1024 matrices, which takes 2·1024³ operations per product.
	Compute float64 `json:"compute_gflop_per_s"`
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
	}
	return c.Compute
}

const (
	elements = 1 << 26 // of an array: 256 MB, several times the size of the largest caches
	columns  = 112
	degree   = 20
	targets  = 1 << 17 // rows that Gather writes: about 30 ms of work
	order    = 1024
)

// Measure measures the ceilings of the machine. Each is the best of several runs, because other programs may interfere.
// Measuring takes about two seconds with SIMD code, and 600 MB of memory. src draws the rows to gather.
func Measure(ctx context.Context, src rand.Source) (Ceilings, error) {
	var c Ceilings
	if err := ctx.Err(); err != nil {
		return c, err
	}
	x, y := memory.Make[float32](elements), memory.Make[float32](elements) // allocated like the blocks of propagation
	// Unwritten pages share one physical page, which stays in the cache, so write all pages first.
	parallel.For(elements, 1<<16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x[i], y[i] = 1, 1
		}
	})
	random := rand.New(src)
	sums := kernel.Sparse{Indptr: make([]int64, targets+1), Indices: make([]int32, targets*degree)}
	for i := range sums.Indices {
		sums.Indices[i] = random.Int32N(elements / columns)
	}
	for i := range targets {
		sums.Indptr[i+1] = int64(i+1) * degree
	}
	threads := runtime.GOMAXPROCS(0)
	out := make([]float32, threads*order*order)
	for _, m := range []struct {
		ceiling *float64
		work    float64
		do      func()
	}{
		{&c.Stream, 12 * elements, func() {
			parallel.For(elements, 1<<16, func(lo, hi int) { kernel.Axpy(1e-6, x[lo:hi], y[lo:hi]) })
		}},
		{&c.Gather, 4 * columns * degree * targets, func() {
			parallel.For(targets, 256, func(lo, hi int) {
				kernel.Gather(kernel.Rows(y[lo*columns:hi*columns], columns), sums, lo, hi, kernel.Rows(x, columns), columns)
			})
		}},
		{&c.Compute, float64(threads) * 2 * order * order * order, func() {
			parallel.For(threads, 1, func(t, _ int) {
				product := kernel.Rows(out[t*order*order:(t+1)*order*order], order)
				kernel.Gemm(product, kernel.Rows(x, order), kernel.Rows(y, order), order, order, order, false)
			})
		}},
	} {
		seconds, err := fastest(ctx, m.do)
		if err != nil {
			return c, err
		}
		*m.ceiling = m.work / seconds / 1e9
	}
	return c, nil
}

// fastest returns the minimum time of f in seconds. After a first call, which does not count, it calls f at least three
// times and for at least half a second in total.
func fastest(ctx context.Context, f func()) (least float64, err error) {
	f()
	begun := time.Now()
	for tries := 0; tries < 3 || time.Since(begun) < time.Second/2; tries++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		start := time.Now()
		f()
		if seconds := time.Since(start).Seconds(); tries == 0 || seconds < least {
			least = seconds
		}
	}
	return least, ctx.Err()
}

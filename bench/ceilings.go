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

// Ceilings is the best speed of the machine, on all threads, at the three things that the steps spend their time on.
type Ceilings struct {
	// Stream is the bandwidth of memory in GB/s: y += αx on arrays of 256 MB each, which moves 12 bytes an element.
	Stream float64 `json:"stream_gb_per_s"`
	// Gather is the bandwidth in GB/s at which kernel.Gather reads rows of 112 float32 (448 bytes, seven lines of the
	// cache) at random places of 256 MB, in huge pages if the system gives them. The row that it writes for every 20 that
	// it reads is not counted.
	Gather float64 `json:"gather_gb_per_s"`
	// Compute is the speed of the matrix product in GFLOP/s. Each thread multiplies matrices of its own, 1024×1024 by
	// 1024×1024, which takes 2·1024³ operations.
	Compute float64 `json:"compute_gflop_per_s"`
	// File is the rate in GB/s at which a graph was read from its file when it was opened; 0 if it was not measured.
	// Measure leaves it alone.
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

// Unit returns the unit of work under the ceiling: the ceiling is so many of them a second.
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
	elements = 1 << 26 // in an array: 256 MB, several times the largest caches
	columns  = 112
	degree   = 20
	targets  = 1 << 17 // rows that Gather makes: some 30 ms of work
	order    = 1024
)

// Measure measures the ceilings of the machine. Each is the best of several tries, while other programs may run. It
// takes about two seconds with the assembly kernels, and 600 MB of memory. src draws the places that are gathered from.
func Measure(ctx context.Context, src rand.Source) (Ceilings, error) {
	var c Ceilings
	x, y := memory.Make[float32](elements), memory.Make[float32](elements) // as the blocks of propagation
	// Pages that were never written share one page, which is in the cache.
	parallel.For(elements, 1<<16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x[i], y[i] = 1, 1
		}
	})
	seconds, err := fastest(ctx, func() {
		parallel.For(elements, 1<<16, func(lo, hi int) { kernel.Axpy(1e-6, x[lo:hi], y[lo:hi]) })
	})
	if err != nil {
		return c, err
	}
	c.Stream = 12 * elements / seconds / 1e9

	random := rand.New(src)
	indptr, indices := make([]int64, targets+1), make([]int32, targets*degree)
	for i := range indices {
		indices[i] = random.Int32N(elements / columns)
	}
	for i := range targets {
		indptr[i+1] = int64(i+1) * degree
	}
	if seconds, err = fastest(ctx, func() {
		parallel.For(targets, 256, func(lo, hi int) {
			sums := kernel.Sparse{Indptr: indptr, Indices: indices}
			kernel.Gather(kernel.Rows(y[lo*columns:hi*columns], columns), sums, lo, hi, kernel.Rows(x, columns), columns)
		})
	}); err != nil {
		return c, err
	}
	c.Gather = 4 * columns * degree * targets / seconds / 1e9

	threads := runtime.GOMAXPROCS(0)
	out := make([]float32, threads*order*order)
	if seconds, err = fastest(ctx, func() {
		parallel.For(threads, 1, func(t, _ int) {
			product := out[t*order*order : (t+1)*order*order]
			kernel.Gemm(kernel.Rows(product, order), kernel.Rows(x, order), kernel.Rows(y, order), order, order, order, false)
		})
	}); err != nil {
		return c, err
	}
	c.Compute = float64(threads) * 2 * order * order * order / seconds / 1e9
	return c, nil
}

// fastest returns the least seconds of several calls of f: at least three, for at least half a second. A first call is
// not counted.
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

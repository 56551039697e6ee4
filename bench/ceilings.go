package bench

import (
	"context"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
)

// Ceilings is the best that the machine did, on all threads, at the three things that the steps spend their time on.
type Ceilings struct {
	// Stream is the bandwidth of memory in GB/s: y += αx on arrays of 256 MB each, 12 bytes moved for each element.
	Stream float64 `json:"stream_gb_per_s"`
	// Gather is the bandwidth at which kernel.Gather reads rows of 112 float32 (seven lines of the cache) at random places of 256 MB, in GB/s:
	// 448 bytes for each row read. What is written, one row for 20 that are read, is not counted.
	Gather float64 `json:"gather_gb_per_s"`
	// Compute is the speed of the matrix product in GFLOP/s: each thread does products of its own, 1024×1024 by 1024×1024, 2·1024³ operations each.
	Compute float64 `json:"compute_gflop_per_s"`
}

// Ceiling names one of the ceilings.
type Ceiling string

// The ceilings.
const (
	Stream  Ceiling = "stream"
	Gather  Ceiling = "gather"
	Compute Ceiling = "compute"
)

// Unit returns the unit of work under the ceiling; per second, it is that of the ceiling.
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
	elements = 1 << 26 // of an array: 256 MB, several times the largest caches
	columns  = 112
	degree   = 20
	targets  = 1 << 17 // rows that Gather makes: some 30 ms of work
	order    = 1024
)

// Measure measures the ceilings of the machine as it is, with what else it does: each is the best of several tries, in about two
// seconds with the assembly kernels. It needs 600 MB of memory. src draws the places that are gathered from.
func Measure(ctx context.Context, src rand.Source) (Ceilings, error) {
	var c Ceilings
	x, y := make([]float32, elements), make([]float32, elements)
	parallel.For(elements, 1<<16, func(lo, hi int) { // pages that were never written would all be one, and in the cache
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
			kernel.Gather(y[lo*columns:hi*columns], columns, lo, hi, indptr, indices, nil, nil, nil, 0, x, columns, columns)
		})
	}); err != nil {
		return c, err
	}
	c.Gather = 4 * columns * degree * targets / seconds / 1e9

	threads := runtime.GOMAXPROCS(0)
	out := make([]float32, threads*order*order)
	if seconds, err = fastest(ctx, func() {
		parallel.For(threads, 1, func(t, _ int) {
			kernel.Gemm(out[t*order*order:(t+1)*order*order], order, x[:order*order], order, false, y[:order*order], order, false, order, order, order, false)
		})
	}); err != nil {
		return c, err
	}
	c.Compute = float64(threads) * 2 * order * order * order / seconds / 1e9
	return c, nil
}

// fastest returns the seconds of the fastest of several calls of f, three at least and half a second in all, after one that is not counted.
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

// Package parallel splits work over goroutines so that the result does not depend on how many there are.
//
// The number of workers is runtime.GOMAXPROCS(0). Work is cut into chunks whose bounds depend only on the size of the
// work, and workers take chunks in order. So a function that writes only what its chunk owns gives the same bits for
// any number of workers. Sum adds the results of the chunks in the order of the chunks.
//
// Starting work allocates only the closure of the caller. Loop avoids that too.
package parallel

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// For calls f(lo, hi) for the chunks [0,chunk), [chunk,2·chunk), … of [0,n), concurrently, and returns when all are
// done. The last chunk may be shorter. chunk must be positive. A panic in f is raised again in the caller.
func For(n, chunk int, f func(lo, hi int)) {
	_ = ForContext(context.Background(), n, chunk, f)
}

// ForContext is like For, but starts no further chunk once ctx is done, and then returns ctx.Err(). The output of the
// remaining chunks is unchanged.
func ForContext(ctx context.Context, n, chunk int, f func(lo, hi int)) error {
	if chunk <= 0 {
		panic(fmt.Sprintf("parallel: chunks of %d, must be at least 1", chunk))
	}
	chunks := (n + chunk - 1) / chunk
	workers := min(runtime.GOMAXPROCS(0), chunks)
	if workers <= 1 {
		for lo := 0; lo < n; lo += chunk {
			if err := ctx.Err(); err != nil {
				return err
			}
			f(lo, min(lo+chunk, n))
		}
		return ctx.Err()
	}
	s := idle.take(newShift)
	s.ctx, s.n, s.chunk, s.f = ctx, n, chunk, f
	s.next.Store(0)
	s.group.Add(workers)
	for range workers {
		go s.work()
	}
	s.group.Wait()
	defer idle.put(s)
	s.ctx, s.f = nil, nil
	s.first.again()
	return ctx.Err()
}

// Try is like ForContext for an f that can fail. It starts no further chunk once one has failed. The error is
// ctx.Err(), or the error of the first chunk, in order, that fails.
func Try(ctx context.Context, n, chunk int, f func(lo, hi int) error) error {
	errs := make([]error, (n+chunk-1)/chunk)
	unfailed, stop := context.WithCancel(ctx)
	defer stop()
	_ = ForContext(unfailed, n, chunk, func(lo, hi int) {
		if errs[lo/chunk] = f(lo, hi); errs[lo/chunk] != nil {
			stop()
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// shift is the state that the workers of one For share.
type shift struct {
	ctx      context.Context
	n, chunk int
	f        func(lo, hi int)
	next     atomic.Int64 // the next chunk
	group    sync.WaitGroup
	first    raised

	work func() // runs one worker; created once, so that starting it allocates nothing
}

// idle holds unused shifts.
var idle stack[shift]

func newShift() *shift {
	s := &shift{}
	s.work = func() {
		debug.SetPanicOnFault(true) // if a mapped file shrinks, the caller gets the panic
		defer s.group.Done()
		defer s.first.rescue()
		chunks := (s.n + s.chunk - 1) / s.chunk
		for s.ctx.Err() == nil && s.first.Load() == nil { // a panic stops the others at their next chunk
			c := int(s.next.Add(1)) - 1
			if c >= chunks {
				return
			}
			s.f(c*s.chunk, min((c+1)*s.chunk, s.n))
		}
	}
	return s
}

// Sum returns Σ f(lo, hi) over the chunks of [0,n), added in the order of the chunks.
func Sum(n, chunk int, f func(lo, hi int) float64) (sum float64) {
	part := make([]float64, (n+chunk-1)/chunk)
	For(n, chunk, func(lo, hi int) { part[lo/chunk] = f(lo, hi) })
	for _, p := range part {
		sum += p
	}
	return sum
}

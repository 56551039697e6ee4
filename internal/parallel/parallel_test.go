package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/parallel"
)

func atWorkers(t *testing.T, workers int) {
	t.Helper()
	before := runtime.GOMAXPROCS(workers)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// TestEachIndexOnce checks that For and a Loop visit each index once.
func TestEachIndexOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		atWorkers(t, workers)
		for _, n := range []int{0, 1, 9, 10, 11, 1000} {
			byFor, byLoop := make([]int, n), make([]int, n)
			parallel.For(n, 10, func(lo, hi int) { fill(&filling{byFor, workers}, lo, hi) })
			fillings.For(n, 10, filling{byLoop, workers}, fill)
			for i := range n {
				if want := workers + i; byFor[i] != want || byLoop[i] != want {
					t.Fatalf("%d workers, n=%d: place %d holds %d and %d, want %d", workers, n, i, byFor[i], byLoop[i], want)
				}
			}
		}
	}
}

func TestSumIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 10_007)
	for i := range x {
		x[i] = random.NormFloat64() * 1e6 // sums of these depend on their order
	}
	mattest.IgnoresThreads(t, func() (sums [20]float64) {
		for k := range sums {
			sums[k] = parallel.Sum(len(x), 64, func(lo, hi int) (s float64) {
				for _, v := range x[lo:hi] {
					s += v
				}
				return s
			})
		}
		return sums
	})
}

// TestForContextStops checks that no chunk starts once the context is done. The context ends when each worker is in the
// middle of a chunk, so no worker can be between its check of the context and its next chunk.
func TestForContextStops(t *testing.T) {
	for _, workers := range []int{1, 3} {
		atWorkers(t, workers)
		ctx, cancel := context.WithCancel(t.Context())
		var ran atomic.Int64
		err := parallel.ForContext(ctx, 1000, 1, func(lo, hi int) {
			if ran.Add(1) == int64(workers) {
				cancel()
			}
			<-ctx.Done()
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d workers: error %v after cancel", workers, err)
		}
		if n := ran.Load(); n != int64(workers) {
			t.Errorf("%d workers: %d chunks ran, though the context ended during the first %d", workers, n, workers)
		}
	}
}

func TestForRaisesPanics(t *testing.T) {
	for _, workers := range []int{1, 3} {
		atWorkers(t, workers)
		func() {
			defer func() {
				if r := recover(); r != "bad row" {
					t.Errorf("%d workers: recovered %v, want the panic of the chunk", workers, r)
				}
			}()
			parallel.For(100, 1, func(lo, hi int) {
				if lo == 50 {
					panic("bad row")
				}
			})
		}()
	}
}

// TestTry checks that Try returns the error of the first chunk that has one, or the error of its context.
func TestTry(t *testing.T) {
	fail := func(lo, _ int) error {
		if lo >= 20 {
			return fmt.Errorf("chunk from %d", lo)
		}
		return nil
	}
	if err := parallel.Try(t.Context(), 100, 10, fail); err == nil || err.Error() != "chunk from 20" {
		t.Errorf("error %v, want that of the chunk from 20", err)
	}
	mattest.OK(t, parallel.Try(t.Context(), 20, 10, fail))
	ended := mattest.Cancelled(t)
	mattest.WantIs(t, parallel.Try(ended, 100, 10, fail), context.Canceled)
}

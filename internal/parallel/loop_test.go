package parallel_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/parallel"
)

type filling struct {
	dst   []int
	value int
}

var fillings parallel.Loop[filling]

func fill(f *filling, lo, hi int) {
	for i := lo; i < hi; i++ {
		f.dst[i] += f.value + i
	}
}

// TestLoopInLoop starts a loop in its own body: each run keeps what it captured.
func TestLoopInLoop(t *testing.T) {
	atWorkers(t, 7)
	outer := make([][]int, 50)
	var nested parallel.Loop[[][]int]
	nested.For(len(outer), 1, outer, func(outer *[][]int, lo, hi int) {
		for i := lo; i < hi; i++ {
			(*outer)[i] = make([]int, 100)
			fillings.For(100, 10, filling{(*outer)[i], i}, fill)
		}
	})
	for i, row := range outer {
		for j, v := range row {
			if v != i+j {
				t.Fatalf("place %d of %d holds %d, want %d", j, i, v, i+j)
			}
		}
	}
}

func TestLoopStops(t *testing.T) {
	atWorkers(t, 2)
	ctx := mattest.Cancelled(t)
	dst := make([]int, 100)
	if err := fillings.ForContext(ctx, 100, 10, filling{dst, 1}, fill); !errors.Is(err, context.Canceled) || dst[0] != 0 {
		t.Errorf("after the end of its context: error %v, first place %d", err, dst[0])
	}
}

// TestStartsAllocateNothing starts work with a body that was created once, and with a Loop. AllocsPerRun would use only
// one worker.
func TestStartsAllocateNothing(t *testing.T) {
	atWorkers(t, 2)
	dst := make([]int, 1000)
	body := func(lo, hi int) { fill(&filling{dst, 1}, lo, hi) }
	for name, start := range map[string]func(){
		"For":  func() { parallel.For(len(dst), 10, body) },
		"Loop": func() { fillings.For(len(dst), 10, filling{dst, 1}, fill) },
	} {
		if per := allocations(100, start); per >= 1 {
			t.Errorf("%s: %v allocations each time, want none", name, per)
		}
	}
}

// allocations returns the mean number of allocations of f over n calls, after ten calls to warm up.
func allocations(n int, f func()) float64 {
	for range 10 {
		f()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		f()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(n)
}

// TestGroup checks that a panic of one function reaches the caller of Wait, after all others have returned, and that
// the group can be used again.
func TestGroup(t *testing.T) {
	var g parallel.Group
	var ended atomic.Int32
	for i := range 8 {
		g.Go(func() {
			if i == 3 {
				panic("no")
			}
			ended.Add(1)
		})
	}
	func() {
		defer func() {
			if raised := recover(); raised != "no" {
				t.Errorf("raised %v, want the panic", raised)
			}
		}()
		g.Wait()
	}()
	mattest.Equal(t, ended.Load(), 7, "functions ended")
	g.Go(func() { ended.Add(1) })
	g.Wait()
	mattest.Equal(t, ended.Load(), 8, "functions ended")
}

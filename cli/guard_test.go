package cli

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// Work that comes near the limit is ended, with a sentence. Work below it is left alone. So is an error of its own.
func TestGuard(t *testing.T) {
	var held atomic.Int64
	limit := func() (int64, string) { return 160e6, "the test allows" }
	begin := func() (context.Context, func(error) error) {
		return guarded(t.Context(), &beyond{doing: "reading x", help: " (help)"}, limit, held.Load)
	}

	held.Store(150e6) // the limit less a sixteenth
	ctx, explain := begin()
	failed := errors.New("a mistake in the file")
	if err := explain(failed); err != failed || explain(nil) != nil {
		t.Errorf("error %v, want %v", err, failed)
	}
	if <-ctx.Done(); !errors.Is(explain(ctx.Err()), context.Canceled) {
		t.Errorf("an interruption becomes %v", explain(ctx.Err()))
	}

	ctx, explain = begin()
	held.Store(150e6 + 1)
	<-ctx.Done()
	err := explain(ctx.Err())
	const want = "reading x has taken 150 MB of memory and is not through, and the test allows 160 MB (help)"
	if err == nil || errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if err := explain(failed); err != failed {
		t.Errorf("error %v, want %v", err, failed)
	}
}

// Memory that grows fast is stopped farther from the limit, unless the work keeps to a bound.
func TestGuardLooksAhead(t *testing.T) {
	var held, looks atomic.Int64
	limit := func() (int64, string) { return 160e6, "the test allows" }
	planned, end := guarded(t.Context(), &beyond{planned: true}, limit, func() int64 {
		return min(1, looks.Add(1)-1) * 150e6 // nothing at first
	})
	for looks.Load() < 4 {
		time.Sleep(looking)
	}
	if err := planned.Err(); err != nil {
		t.Errorf("work within a bound ended: %v", end(err))
	}
	end(nil)
	ctx, explain := guarded(t.Context(), &beyond{doing: "reading x"}, limit, held.Load)
	held.Store(100e6)
	<-ctx.Done()
	const want = "reading x has taken 100 MB of memory and is not through, and the test allows 160 MB"
	if err := explain(ctx.Err()); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

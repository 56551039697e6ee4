package cli

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// TestGuard checks that work near the limit is cancelled with a message. Work below the limit continues, and errors of
// the work are returned unchanged.
func TestGuard(t *testing.T) {
	var held atomic.Int64
	limit := func() (int64, string) { return 160e6, "the test allows" }
	begin := func() (context.Context, func(error) error) {
		return guarded(t.Context(), &beyond{doing: "reading x", help: " (help)"}, limit, held.Load)
	}

	held.Store(150e6) // the limit minus a sixteenth
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

// TestGuardLooksAhead checks that fast-growing work is stopped farther below the limit, unless it keeps to its own
// limit.
func TestGuardLooksAhead(t *testing.T) {
	var held, looks atomic.Int64
	limit := func() (int64, string) { return 160e6, "the test allows" }
	planned, end := guarded(t.Context(), &beyond{planned: true}, limit, func() int64 {
		return min(1, looks.Add(1)-1) * 150e6 // 0 at first
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

// TestPeakText checks that the text separates pages of mapped files from the peak if they make up much of it.
func TestPeakText(t *testing.T) {
	for _, c := range []struct {
		peak, held int64
		want       string
	}{
		{137e6, 120e6, "137 MB"},
		{2900e6, 0, "2.90 GB"},
		{2900e6, 1100e6, "2.90 GB, of which 1.10 GB was kept and the rest was pages of mapped files"},
	} {
		if got := peakText(c.peak, c.held); got != c.want {
			t.Errorf("a peak of %d with %d held is %q, want %q", c.peak, c.held, got, c.want)
		}
	}
}

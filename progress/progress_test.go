package progress_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/graph-condensation/cgc/progress"
)

func Example() {
	ctx := progress.With(context.Background(), func(e progress.Event) { fmt.Println(e) })
	progress.Report(ctx, progress.Event{Stage: "propagate"})
	count := progress.NewCounter(0, 2)
	count.Add(ctx, "condensed")
	count.Add(ctx, "condensed")
	// Output:
	// propagate
	// condensed 1/2
	// condensed 2/2
}

// Events arrive one at a time, and events of a counter arrive in order. Without a function in the context, Report does
// nothing.
func TestReport(t *testing.T) {
	progress.Report(t.Context(), progress.Event{Stage: "nobody"})
	var seen []int64
	ctx := progress.With(t.Context(), func(e progress.Event) { seen = append(seen, e.Done) })
	count := progress.NewCounter(5, 105)
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() { count.Add(ctx, "work") })
	}
	group.Wait()
	for i, done := range seen {
		if done != int64(6+i) {
			t.Fatalf("event %d says %d are done, want %d", i, done, 6+i)
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d events, want 100", len(seen))
	}
	progress.Report(progress.With(ctx, nil), progress.Event{Stage: "silenced"})
	if len(seen) != 100 {
		t.Error("a silenced context reported")
	}
}

package load_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/progress"
)

var cancelGraph = flag.String("cancel.graph", "", "the graph file on which TestCancel ends calls and tells how soon")

// call is a long call that honours cancellation.
type call struct {
	name    string
	run     func(ctx context.Context) error
	prepare func() error // prepares the inputs of run; may be nil
}

// ended is the result of a call that was cancelled.
type ended struct {
	stage string        // the last stage reported
	begun bool          // whether the call was cancelled as that stage began
	at    time.Duration // when it was cancelled
	took  time.Duration // time from the cancellation to the return
	err   error
}

// TestCancel cancels each long call once in each stage that the call reports. The call must return the error of the
// context, and leave no goroutines behind. TestCancel also cancels each call at random times, when the call may return
// a result instead. It only logs how many milliseconds a call took to return. Without -cancel.graph, the graph is small
// and methods are left out, because package condensetest cancels them.
func TestCancel(t *testing.T) {
	path, times, limit := *cancelGraph, 3, 20*time.Second
	if path == "" {
		t.Log("on a small graph: name a large one in -cancel.graph")
		path, times, limit = filepath.Join(t.TempDir(), cgcFile+".safetensors"), 1, time.Hour // the first call completes
		shape := synth.DemoShape().Scale(0.2)
		g := mattest.Must(synth.Make(t.Context(), shape, rand.NewPCG(1, 1)))
		mattest.OK(t, dataset.Write(t.Context(), path, g))
	}
	random := rand.New(rand.NewPCG(1, 0))
	for _, c := range calls(t, path) {
		if *cancelGraph == "" && strings.HasPrefix(c.name, "method ") {
			continue
		}
		if c.prepare != nil {
			mattest.OK(t, c.prepare())
		}
		goroutines := runtime.NumGoroutine()
		first, stages := end(t.Context(), c, limit, "")
		all := []ended{first}
		span := min(first.at, limit)
		for range times {
			one, _ := end(t.Context(), c, time.Duration(random.Float64()*float64(span)), "")
			all = append(all, one)
		}
		for _, stage := range stages {
			one, _ := end(t.Context(), c, 2*limit, stage)
			all = append(all, one)
		}
		for range 6000 { // up to a minute, for busy machines
			if runtime.NumGoroutine() <= goroutines {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n := runtime.NumGoroutine(); n > goroutines {
			t.Errorf("%s: %d goroutines, %d before", c.name, n, goroutines)
		}
		tell(t, c.name, all)
	}
}

// end runs a call and cancels its context after a time, or at the first event of a stage if one is named. It returns
// the stages that the call reported, in order.
func end(parent context.Context, c call, after time.Duration, stage string) (e ended, stages []string) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	var mu sync.Mutex
	var when time.Time
	stop := func() {
		if when.IsZero() {
			when = time.Now()
			cancel()
		}
	}
	heard := progress.With(ctx, func(event progress.Event) {
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(stages, event.Stage) {
			stages = append(stages, event.Stage)
		}
		if when.IsZero() {
			e.stage = event.Stage
		}
		if stage != "" && event.Stage == stage {
			e.begun = when.IsZero() && event.Done < event.Total
			stop()
		}
	})
	begun := time.Now()
	timer := time.AfterFunc(after, func() {
		mu.Lock()
		defer mu.Unlock()
		stop()
	})
	e.err = c.run(heard)
	returned := time.Now()
	timer.Stop()
	mu.Lock()
	defer mu.Unlock()
	if when.IsZero() {
		e.at = returned.Sub(begun)
		return e, stages
	}
	e.at, e.took = when.Sub(begun), returned.Sub(when)
	return e, stages
}

// tell logs how many milliseconds each cancelled call took to return. It fails the test if one returned an error other
// than the context's.
func tell(t *testing.T, name string, all []ended) {
	t.Helper()
	for _, e := range all {
		if e.took == 0 {
			t.Logf("%s: over after %v (%v)", name, e.at.Round(time.Millisecond), e.err)
			continue
		}
		if e.err != nil && !errors.Is(e.err, context.Canceled) {
			t.Errorf("%s, ended in %q: error %v, want that of the context", name, e.stage, e.err)
		}
		if e.err == nil && e.begun {
			t.Errorf("%s goes on to its end, though its context ended as %q began", name, e.stage)
		}
		t.Logf("%-28s %-24s %8.1f ms", name, cmp.Or(e.stage, "(before any)"), float64(e.took.Microseconds())/1000)
	}
}

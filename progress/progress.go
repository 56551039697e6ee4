// Package progress reports the progress of long work: condensing, training, searching, reading and writing.
//
// A caller that wants progress puts a function into the context, by With. The work calls Report with the same context.
// Without such a function, Report does nothing. No parameter struct contains a callback, so that parameters stay values
// that can be compared and written to files.
//
//	ctx = progress.With(ctx, func(e progress.Event) { fmt.Println(e) })
//	small, err := cgc.Condense(ctx, g, config)
package progress

import (
	"context"
	"fmt"
	"sync"
)

// Event is the progress of a piece of work.
type Event struct {
	// Stage is the current activity, in a few words: "propagate", "trained gcn".
	Stage string
	// Done and Total count the stage's pieces of work, or bytes of a file. Total is 0 if it is not known. An event with
	// Done 0 and a Total announces pieces that are still to come.
	Done, Total int64
}

// String returns "stage", or "stage done/total" where the total is known.
func (e Event) String() string {
	if e.Total == 0 {
		return e.Stage
	}
	return fmt.Sprintf("%s %d/%d", e.Stage, e.Done, e.Total)
}

// key is the key of the listener in a context.
type key struct{}

// listener is a function that receives events, and the mutex that serialises its calls.
type listener struct {
	mu sync.Mutex
	f  func(Event)
}

// With returns a context whose work reports to f, one call at a time. f should return quickly, because the work waits
// for it. A nil f turns reports off.
func With(ctx context.Context, f func(Event)) context.Context {
	if f == nil {
		return context.WithValue(ctx, key{}, (*listener)(nil))
	}
	return context.WithValue(ctx, key{}, &listener{f: f})
}

// Report passes an event to the function in ctx, if there is one. It is safe for concurrent use.
func Report(ctx context.Context, e Event) {
	l, _ := ctx.Value(key{}).(*listener)
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.f(e)
}

// Counter counts finished pieces of work and reports each. The zero value counts from 0 and does not know its total.
// It is safe for concurrent use.
type Counter struct {
	mu          sync.Mutex
	done, total int64
}

// NewCounter returns a counter of total pieces. The first done pieces are already finished.
func NewCounter(done, total int) *Counter { return &Counter{done: int64(done), total: int64(total)} }

// Add counts one piece and reports it as stage.
func (c *Counter) Add(ctx context.Context, stage string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	Report(ctx, Event{stage, c.done, c.total})
}

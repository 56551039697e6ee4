//go:build js

// Command wasm is the program of the page in package web. It runs in a worker, which hands it requests and shows its
// answers (web/page/worker.js). Package session does the work.
package main

import (
	"context"
	"runtime/debug"
	"syscall/js"
	"time"

	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/web/session"
)

const (
	// memory is what the collector keeps the heap below where it can. WebAssembly addresses 4 GiB.
	memory = 3 << 30
	// pause is the least time between two events of one stage.
	pause = 40 * time.Millisecond
)

// main puts a function cgc into the global scope, and calls cgcReady. cgc takes a request as text and a function, which
// is called with events as they happen, and with the answer at last: kind ("progress" or "answer"), text, done, total.
func main() {
	debug.SetMemoryLimit(memory)
	s := &session.Session{Inbox: "/graph", Outbox: "/result"}
	requests := make(chan func())
	js.Global().Set("cgc", js.FuncOf(func(_ js.Value, args []js.Value) any {
		text, tell := args[0].String(), args[1]
		go func() {
			requests <- func() {
				ctx := progress.With(context.Background(), events(tell))
				tell.Invoke("answer", string(s.Do(ctx, []byte(text))), 0, 0)
			}
		}()
		return nil
	}))
	js.Global().Call("cgcReady")
	for request := range requests {
		request()
	}
}

// events returns a function that tells of events, and leaves out those that follow too fast.
func events(tell js.Value) progress.Func {
	var stage string
	var last time.Time
	return func(e progress.Event) {
		now := time.Now()
		if e.Stage == stage && e.Done != e.Total && now.Sub(last) < pause {
			return
		}
		stage, last = e.Stage, now
		tell.Invoke("progress", e.Stage, float64(e.Done), float64(e.Total))
	}
}

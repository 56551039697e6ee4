//go:build js

// Command wasm is the WebAssembly program of the page in package web. A worker (web/page/worker.js) runs it and passes
// requests and answers between the page and the program. Package session does the work.
package main

import (
	"context"
	"runtime/debug"
	"syscall/js"
	"time"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/web/session"
	"github.com/graph-condensation/cgc/progress"
)

const (
	// memory is the memory limit of the garbage collector, in bytes. WebAssembly can address 4 GiB.
	memory = 3 << 30
	// pause is the minimum time between two events of one stage.
	pause = 40 * time.Millisecond
)

// main defines a global function cgc, and calls cgcReady. The arguments of cgc are a request as a string, and a
// callback. The callback gets each progress event and finally the answer, with the arguments kind ("progress" or
// "answer"), text, done and total.
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

// events returns a function that reports events, but drops events that follow too soon.
func events(tell js.Value) func(progress.Event) {
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

package parallel

import (
	"runtime/debug"
	"sync"
)

// Group is a sync.WaitGroup whose functions may panic: Wait raises the first panic in its caller. An unreadable page of
// a mapped file causes such a panic. The zero value is ready.
type Group struct {
	group sync.WaitGroup
	mu    sync.Mutex
	raise any
}

// Go calls f in a new goroutine.
func (g *Group) Go(f func()) {
	g.group.Go(func() {
		debug.SetPanicOnFault(true)
		defer func() {
			if raised := recover(); raised != nil {
				g.mu.Lock()
				defer g.mu.Unlock()
				if g.raise == nil {
					g.raise = raised
				}
			}
		}()
		f()
	})
}

// Wait waits until all functions have returned.
func (g *Group) Wait() {
	g.group.Wait()
	if raised := g.raise; raised != nil {
		g.raise = nil
		panic(raised)
	}
}

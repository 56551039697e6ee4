package parallel

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Group is a sync.WaitGroup whose functions may panic: Wait raises the first panic in its caller. An unreadable page of
// a mapped file causes such a panic. The zero value is ready.
type Group struct {
	group sync.WaitGroup
	first raised
}

// Go calls f in a new goroutine.
func (g *Group) Go(f func()) {
	g.group.Go(func() {
		debug.SetPanicOnFault(true)
		defer g.first.rescue()
		f()
	})
}

// Wait waits until all functions have returned.
func (g *Group) Wait() {
	g.group.Wait()
	g.first.again()
}

// raised keeps the value of the first panic of several goroutines.
type raised struct{ atomic.Pointer[any] }

// rescue keeps the value of the first panic. It must be deferred.
func (r *raised) rescue() {
	if value := recover(); value != nil {
		first := value // a copy, so that nothing is allocated without a panic
		r.CompareAndSwap(nil, &first)
	}
}

// again forgets the panic and raises it again, if there was one.
func (r *raised) again() {
	if value := r.Swap(nil); value != nil {
		panic(*value)
	}
}

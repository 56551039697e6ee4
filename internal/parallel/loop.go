package parallel

import (
	"context"
	"sync"
)

// Loop is like For, for a body that runs so often that allocating its closure would matter. The variables that the
// closure would capture are passed as a T, which is copied into reused memory. Each body has its own Loop, a package
// variable. The zero value is ready, and it is safe for concurrent use.
//
//	var scalings parallel.Loop[scaling]
//
//	scalings.For(len(x), 1<<14, scaling{x, alpha}, func(s *scaling, lo, hi int) {
//		kernel.Scale(s.x[lo:hi], s.alpha, s.x[lo:hi])
//	})
type Loop[T any] struct {
	idle stack[task[T]]
}

// task is one run of a Loop.
type task[T any] struct {
	captured T
	body     func(captured *T, lo, hi int)
	f        func(lo, hi int) // calls body; bound once
}

func newTask[T any]() *task[T] {
	t := &task[T]{}
	t.f = func(lo, hi int) { t.body(&t.captured, lo, hi) }
	return t
}

// For calls body as the function For does. All chunks share one captured. body should capture no variables: that would
// allocate the closure that a Loop avoids.
func (l *Loop[T]) For(n, chunk int, captured T, body func(captured *T, lo, hi int)) {
	_ = l.ForContext(context.Background(), n, chunk, captured, body)
}

// ForContext calls body as the function ForContext does.
func (l *Loop[T]) ForContext(ctx context.Context, n, chunk int, captured T, body func(captured *T, lo, hi int)) error {
	t := l.idle.take(newTask)
	t.captured, t.body = captured, body
	err := ForContext(ctx, n, chunk, t.f)
	var none T
	t.captured, t.body = none, nil
	l.idle.put(t)
	return err
}

// stack keeps elements for reuse, at most as many as were in use at the same time. Unlike a sync.Pool, it is not
// emptied by the garbage collector, so a loop that has allocated once does not allocate again.
type stack[E any] struct {
	mu   sync.Mutex
	free []*E
}

// take returns a kept element, or a new one.
func (s *stack[E]) take(fresh func() *E) *E {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) == 0 {
		return fresh()
	}
	e := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	return e
}

func (s *stack[E]) put(e *E) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, e)
}

package parallel

import (
	"context"
	"sync"
)

// Loop is For for a body that is started so often that allocating a closure each time would matter. What the closure
// would capture is a T, copied into memory that is reused. A Loop is a variable of a package, one for each body. Its
// zero value is ready, and it is safe for concurrent use.
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
// allocate the closure that a Loop spares.
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

// stack keeps elements for reuse, as many as were ever in use at one time. The garbage collector does not empty it, as
// it does a sync.Pool. So a loop that allocated once does not allocate again.
type stack[E any] struct {
	mu   sync.Mutex
	free []*E
}

// take returns an element that was put, or a new one.
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

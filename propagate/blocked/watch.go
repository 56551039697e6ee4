package blocked

import "context"

type watchKey struct{}

// Watch returns a context in which Engine.Embeddings tells f its plan before it reads features. f must be safe for
// concurrent use if the work is.
func Watch(ctx context.Context, f func(Footprint)) context.Context {
	return context.WithValue(ctx, watchKey{}, f)
}

// tell tells the plan to the watcher of ctx, if there is one.
func (r *run) tell(ctx context.Context, memory int64) {
	if f, ok := ctx.Value(watchKey{}).(func(Footprint)); ok {
		f(r.footprint(memory))
	}
}

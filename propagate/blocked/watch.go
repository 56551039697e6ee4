package blocked

import "context"

type watchKey struct{}

// Watch returns a context in which Engine.Embeddings calls f with its plan before it reads features. f must be safe for
// concurrent use if Embeddings runs concurrently.
func Watch(ctx context.Context, f func(Footprint)) context.Context {
	return context.WithValue(ctx, watchKey{}, f)
}

// tell calls the watcher of ctx, if any, with the footprint of the plan.
func (r *run) tell(ctx context.Context, memory int64) {
	if f, ok := ctx.Value(watchKey{}).(func(Footprint)); ok {
		f(r.footprint(memory))
	}
}

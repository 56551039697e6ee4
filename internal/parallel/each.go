package parallel

import (
	"cmp"
	"context"
	"runtime"
	"sync"
)

// Each calls use for the items that next returns, numbered from 0, from several goroutines, until next returns false or
// something fails. Calls start in order. The error comes from next, or from the first item for which use failed.
func Each[T any](
	ctx context.Context, next func() (item T, more bool, err error), use func(k int, item T) error,
) error {
	var mu sync.Mutex
	var group Group
	var wrong error
	count, at, done := 0, -1, false
	fail := func(k int, err error) {
		if at < 0 || k < at {
			at, wrong = k, err
		}
	}
	take := func() (k int, item T, more bool) {
		mu.Lock()
		defer mu.Unlock()
		if done || at >= 0 {
			return 0, item, false
		}
		item, more, err := next()
		if err = cmp.Or(err, ctx.Err()); err != nil {
			fail(count, err)
			more = false
		}
		done = !more
		count++
		return count - 1, item, more
	}
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for {
				k, item, more := take()
				if !more {
					return
				}
				if err := use(k, item); err != nil {
					mu.Lock()
					fail(k, err)
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return wrong
}

package parallel_test

import (
	"sync/atomic"
	"testing"

	"github.com/graph-condensation/cgc/internal/parallel"
)

// TestGroup checks that a panic of one function reaches the caller of Wait, after all others have returned, and that
// the group can be used again.
func TestGroup(t *testing.T) {
	var g parallel.Group
	var ended atomic.Int32
	for i := range 8 {
		g.Go(func() {
			if i == 3 {
				panic("no")
			}
			ended.Add(1)
		})
	}
	func() {
		defer func() {
			if raised := recover(); raised != "no" {
				t.Errorf("raised %v, want the panic", raised)
			}
		}()
		g.Wait()
	}()
	if n := ended.Load(); n != 7 {
		t.Errorf("%d functions ended, want 7", n)
	}
	g.Go(func() { ended.Add(1) })
	g.Wait()
	if n := ended.Load(); n != 8 {
		t.Errorf("%d functions ended, want 8", n)
	}
}

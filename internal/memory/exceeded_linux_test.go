package memory_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/memory"
)

// TestMakeExceeds checks that an allocation that no system allows is a panic with a message, and does not kill the
// process.
func TestMakeExceeds(t *testing.T) {
	defer func() {
		raised, is := recover().(error)
		var e *memory.Exceeded
		if !is || !errors.As(raised, &e) || e.Asked != 4<<44 || e.Most <= 0 || e.Held <= 0 ||
			!strings.Contains(e.Error(), "of memory in addition to the") {
			t.Errorf("raised %v, want what was asked for and what the system allows", raised)
		}
	}()
	memory.Make[float32](1 << 44)
}

// TestExceeded checks that memory in use counts, and memory that the collector can free does not.
func TestExceeded(t *testing.T) {
	for _, c := range []struct {
		asked, limit, left int64 // left is the memory that is held at the end; 70 is held at the start
		fails              bool
	}{{30, 100, 70, false}, {60, 100, 40, false}, {61, 100, 40, true}, {61, 0, 70, false}} {
		held := int64(70)
		e := memory.ExceededOf(c.asked, c.limit, "x", func() int64 { return held }, func() { held = 40 })
		if (e != nil) != c.fails || held != c.left || c.fails && (e.Held != 40 || e.Most != 100) {
			t.Errorf("%+v: %v, and %d are held", c, e, held)
		}
	}
}

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
			!strings.Contains(e.Error(), "of memory at once beside") {
			t.Errorf("raised %v, want what was asked for and what the system allows", raised)
		}
	}()
	memory.Make[float32](1 << 44)
}

// TestExceeded checks that memory in use counts, and memory that the collector can free does not.
func TestExceeded(t *testing.T) {
	held := int64(70)
	free := func() { held = 40 }
	if e := memory.ExceededOf(30, 100, "x", func() int64 { return held }, free); e != nil || held != 70 {
		t.Errorf("30 of 100 beside 70: %v, and %d are held", e, held)
	}
	if e := memory.ExceededOf(60, 100, "x", func() int64 { return held }, free); e != nil || held != 40 {
		t.Errorf("60 of 100 beside 40 in use: %v, and %d are held", e, held)
	}
	e := memory.ExceededOf(61, 100, "x", func() int64 { return held }, free)
	if e == nil || e.Held != 40 || e.Most != 100 {
		t.Errorf("61 of 100 beside 40 in use: %v, want an error", e)
	}
	if e := memory.ExceededOf(61, 0, "", func() int64 { return held }, free); e != nil {
		t.Errorf("without a limit: %v", e)
	}
}

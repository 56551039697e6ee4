package memory_test

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/memory"
)

// TestMake checks that slices of all sizes, on either side of a huge page, contain zeros, share no memory, and keep
// their values through a collection.
func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1<<20 - 1, 1 << 20, 1<<20 + 1, 5_000_001} {
		a, b, c := memory.Make[float64](n), memory.Make[byte](n), memory.Clone(memory.Filled(n, int32(7)))
		if len(a) != n || len(b) != n || len(c) != n {
			t.Fatalf("%d, %d and %d values, want %d", len(a), len(b), len(c), n)
		}
		for i := range n {
			if a[i] != 0 || b[i] != 0 {
				t.Fatalf("value %d of %d is %v and %v, want 0", i, n, a[i], b[i])
			}
			a[i], b[i] = float64(i), byte(i)
		}
		runtime.GC()
		for i := range n {
			if a[i] != float64(i) || b[i] != byte(i) || c[i] != 7 {
				t.Fatalf("place %d of %d holds %v, %d and %d", i, n, a[i], b[i], c[i])
			}
		}
	}
}

// TestResized checks that memory is reused if it is large enough.
func TestResized(t *testing.T) {
	s := memory.Range(3, 8)
	if less := memory.Resized(s, 2); !slices.Equal(less, []int32{3, 4}) || &less[0] != &s[0] {
		t.Errorf("%v, want the memory of %v", less, s)
	}
	if more := memory.Resized(s, 9); len(more) != 9 || &more[0] == &s[0] {
		t.Errorf("%d numbers, want 9 in other memory", len(more))
	}
}

// TestRecover checks that a function with Recover returns the panic of Make, its own error, or nil. Other panics
// continue.
func TestRecover(t *testing.T) {
	run := func(raised any, returned error) (err error) {
		defer memory.Recover(&err)
		if raised != nil {
			panic(raised)
		}
		return returned
	}
	large := &memory.Exceeded{Asked: 3e9, Held: 2e9, Most: 4e9, By: memory.ByMachine}
	const want = "the next step takes 3.00 GB of memory in addition to the 2.00 GB in use, " +
		"and the machine has 4.00 GB"
	if err := run(large, nil); err != error(large) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	for _, own := range []error{nil, context.Canceled} {
		if err := run(nil, own); err != own {
			t.Errorf("error %v, want %v", err, own)
		}
	}
	defer func() {
		if raised := recover(); raised != "another" {
			t.Errorf("raised %v, want the panic", raised)
		}
	}()
	_ = run("another", nil)
}

// TestMachine checks that the memory that a process may use is in a plausible range.
func TestMachine(t *testing.T) {
	if m := memory.Machine(); m != 0 && (m < 64<<20 || m > 1<<50) {
		t.Errorf("the machine has %d bytes", m)
	}
}

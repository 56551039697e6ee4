package memory_test

import (
	"testing"

	"github.com/graph-condensation/cgc/internal/memory"
)

// Slices of all sizes, on either side of a huge page, are zeros of their own that can be written from end to end.
func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1<<20 - 1, 1 << 20, 1<<20 + 1, 5_000_001} {
		a, b := memory.Make[float32](n), memory.Make[int64](n)
		if len(a) != n || len(b) != n {
			t.Fatalf("%d and %d values, want %d", len(a), len(b), n)
		}
		for i := range n {
			if a[i] != 0 || b[i] != 0 {
				t.Fatalf("value %d of %d is %v and %v, want 0", i, n, a[i], b[i])
			}
			a[i], b[i] = 1, 2
		}
		for i := range n {
			if a[i] != 1 || b[i] != 2 {
				t.Fatalf("value %d of %d is %v and %v after it was set", i, n, a[i], b[i])
			}
		}
	}
}

// A process may use some memory, and no more than the machine has.
func TestMachine(t *testing.T) {
	if m := memory.Machine(); m != 0 && (m < 64<<20 || m > 1<<50) {
		t.Errorf("the machine has %d bytes", m)
	}
}

package memory_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/graph-condensation/cgc/internal/memory"
)

// TestAnnounce checks what the system knows of the order in which a mapped file will be read: "rr" is random, "sr" is
// sequential.
func TestAnnounce(t *testing.T) {
	s, err := memory.Scratch[float32](1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Free(s)
	for want, announce := range map[string]func([]float32) func(){
		"rr": memory.Sparsely[float32], "sr": memory.InOrder[float32],
	} {
		done := announce(s)
		if during := flags(t, s); !slices.Contains(during, want) {
			t.Errorf("the system has the flags %v, want %s", during, want)
		}
		done()
		if after := flags(t, s); slices.Contains(after, want) {
			t.Errorf("afterwards the system has the flags %v", after)
		}
	}
}

// flags returns the flags of the mapping that s is in.
func flags(t *testing.T, s []float32) (found []string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	at, inside := uintptr(unsafe.Pointer(&s[0])), false
	for line := range strings.Lines(string(text)) {
		var lo, hi uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &lo, &hi); n == 2 {
			inside = lo <= at && at < hi
		}
		if list, is := strings.CutPrefix(line, "VmFlags:"); is && inside {
			return strings.Fields(list)
		}
	}
	t.Fatalf("no mapping has the address %x", at)
	return nil
}

package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/graph-condensation/cgc/internal/confine"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
)

// TestAnnounce checks what the system knows of the order in which a mapped file will be read: "rr" is random, "sr" is
// sequential.
func TestAnnounce(t *testing.T) {
	s := mattest.Must(memory.Scratch[float32](1 << 20))
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

// TestFetch checks that Fetch brings every page into the page cache that the system dropped from it. The system may
// ignore a part of a request, and drop pages again at any time, so each page must be seen once in several calls.
func TestFetch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pages")
	mattest.OK(t, os.WriteFile(path, make([]byte, 5<<20), 0o600))
	file := mattest.Must(os.Open(path))
	defer file.Close()
	mapped := mattest.Must(unix.Mmap(int(file.Fd()), 0, 5<<20, unix.PROT_READ, unix.MAP_SHARED))
	defer unix.Munmap(mapped)
	pages := map[int]bool{} // the pages that were seen in the cache
	cached := func() int {
		state := make([]byte, len(mapped)/os.Getpagesize())
		if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(len(mapped)),
			uintptr(unsafe.Pointer(&state[0]))); errno != 0 {
			t.Fatal(errno)
		}
		for page, b := range state {
			if b&1 != 0 {
				pages[page] = true
			}
		}
		return len(pages)
	}
	mattest.OK(t, confine.Forget(path))
	if cached() > 0 {
		t.Skip("this file system keeps its pages in memory")
	}
	floats := unsafe.Slice((*float32)(unsafe.Pointer(&mapped[0])), len(mapped)/4)
	memory.Fetch(mattest.Cancelled(t), floats)
	if n := cached(); n > 0 {
		t.Errorf("%d pages are read after the context was cancelled", n)
	}
	for tries := 0; cached() < len(mapped)/os.Getpagesize(); tries++ {
		if tries == 3_000 {
			t.Fatalf("%d of %d pages are read", cached(), len(mapped)/os.Getpagesize())
		}
		memory.Fetch(t.Context(), floats)
		time.Sleep(10 * time.Millisecond) // Fetch only starts the last reads
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

package safetensors

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMapLargerThanMemory checks that a file larger than memory can be mapped. Reading it into memory would kill the
// process.
func TestMapLargerThanMemory(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const size = 1 << 40
	if err := file.Truncate(size); err != nil {
		t.Skipf("no file of 1 TiB with a hole: %v", err)
	}
	mapped, err := mapFile(file, size)
	if err != nil {
		t.Fatalf("1 TiB: %v", err)
	}
	if mapped[size-1] != 0 {
		t.Errorf("the last byte is %d, want 0", mapped[size-1])
	}
	if err := unmapFile(mapped); err != nil {
		t.Error(err)
	}
}

package memory

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLargestCache checks that the largest valid size counts.
func TestLargestCache(t *testing.T) {
	folder := t.TempDir()
	if got := largestCache(folder); got != 0 {
		t.Errorf("%d bytes without a cache, want 0", got)
	}
	for name, size := range map[string]string{"index0": "32K\n", "index2": "1024K\n", "index3": "36M\n", "index4": "x\n",
		"index5": "-1G", "other": "64G\n"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name, "size"), []byte(size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := largestCache(folder), int64(36<<20); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}

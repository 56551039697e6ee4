package memory

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestGroupLimit checks that the smallest limit counts: of the group, of a parent, or of the root that a container
// sees. Swap space adds to it if the group may use it.
func TestGroupLimit(t *testing.T) {
	const none = math.MaxInt64
	for name, c := range map[string]struct {
		groups string
		files  map[string]string
		swap   int64
		want   int64
	}{
		"none":         {"0::/a\n", nil, 0, none},
		"version 2":    {"0::/a/b\n", map[string]string{"a/b/memory.max": "500\n"}, 0, 500},
		"above":        {"0::/a/b\n", map[string]string{"a/b/memory.max": "max\n", "a/memory.max": "400\n"}, 0, 400},
		"a container":  {"0::/../x\n", map[string]string{"memory.max": "300\n"}, 0, 300},
		"another name": {"5:memory:/docker/abc\n", map[string]string{"memory/memory.limit_in_bytes": "200\n"}, 0, 200},
		"version 1": {"4:cpu:/a\n5:memory,hugetlb:/a\n",
			map[string]string{"memory/a/memory.limit_in_bytes": "100\n", "cpu/a/memory.limit_in_bytes": "1\n"}, 0, 100},
		"no limit": {"5:memory:/\n", map[string]string{"memory/memory.limit_in_bytes": "9223372036854771712\n"}, 10,
			none},
		"swap":        {"0::/a\n", map[string]string{"a/memory.max": "500"}, 70, 570},
		"little swap": {"0::/a\n", map[string]string{"a/memory.max": "500", "a/memory.swap.max": "30"}, 70, 530},
		"no swap":     {"0::/a\n", map[string]string{"a/memory.max": "500", "a/memory.swap.max": "0"}, 70, 500},
		"both in version 1": {"5:memory:/a\n", map[string]string{
			"memory/a/memory.limit_in_bytes": "100", "memory/a/memory.memsw.limit_in_bytes": "120"}, 70, 120},
		"nonsense": {"memory\n0::/a\n:::::\n", map[string]string{"a/memory.max": "-7"}, 0, none},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			path := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := groupLimit(c.groups, root, c.swap)
		if c.want == none && got < none-1<<20 || c.want < none && got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

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

package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// TestDryRun condenses graphs of several kinds and compares what it took with what --dry-run expected: the budgets are
// equal, and the memory is within a factor of 1.5.
func TestDryRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the largest resident set of a process is known well on Linux alone")
	}
	run := func(into any, args ...string) {
		t.Helper()
		out, err := exec.Command("cgc", append(args, "--json", "--quiet")...).Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		if err := json.Unmarshal(out, into); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	for _, c := range []struct {
		like  string
		scale float64
		flags []string
	}{
		{"arxiv", 0.3, []string{"--memory", "40MB"}},
		{"flickr", 0.3, []string{"--partition", "spectral"}},
		{"flickr", 0.3, []string{"--inductive"}},
	} {
		file := filepath.Join(folder, c.like+".safetensors")
		run(new(any), "data", "make", "--like", c.like, "--scale", strconv.FormatFloat(c.scale, 'g', -1, 64), "-o", file,
			"--force")
		line := append([]string{"condense", file, "--nodes", "80"}, c.flags...)
		var expected struct {
			Memory int64 `json:"memory_bytes"`
			File   int64 `json:"file_bytes"`
			Budget []int
		}
		run(&expected, append(line, "--dry-run")...)
		var took struct {
			Peak      int64 `json:"peak_rss_bytes"`
			Condensed struct{ Budget []int }
		}
		run(&took, append(line, "-o", filepath.Join(folder, "out.safetensors"))...)
		if expected.File > 0 { // the system has room for pages of the file, which the process does not need
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			expected.Memory += info.Size()
		}
		t.Logf("%s %v: expected %d MB, took %d MB", c.like, c.flags, expected.Memory>>20, took.Peak>>20)
		if ratio := float64(expected.Memory) / float64(took.Peak); ratio < 1/1.5 || ratio > 1.5 {
			t.Errorf("%s %v: expected %d bytes, took %d", c.like, c.flags, expected.Memory, took.Peak)
		}
		if len(expected.Budget) != len(took.Condensed.Budget) {
			t.Fatalf("budgets %v and %v", expected.Budget, took.Condensed.Budget)
		}
		for class, n := range took.Condensed.Budget {
			if expected.Budget[class] != n {
				t.Errorf("%s: class %d gets %d nodes, expected %d", c.like, class, n, expected.Budget[class])
			}
		}
	}
}

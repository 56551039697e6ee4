package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
)

// TestDryRun compares the forecast of --dry-run with actual condensations of several graphs: the nodes of each class
// are equal, and the memory is within a factor of 1.5. The garbage collector is limited to the expected heap, as in a
// control group of that size. Without a limit the heap may double before anything is freed, depending on the load.
func TestDryRun(t *testing.T) {
	slow.Test(t, "makes graphs of 50,000 nodes")
	if runtime.GOOS != "linux" {
		t.Skip("the largest resident set of a process is reliable only on Linux")
	}
	run := func(into any, heap int64, args ...string) {
		t.Helper()
		cmd := exec.Command("cgc", append(args, "--json", "--quiet")...)
		if heap > 0 {
			cmd.Env = append(os.Environ(), fmt.Sprint("GOMEMLIMIT=", heap))
		}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		mattest.OK(t, json.Unmarshal(out, into))
	}
	folder := t.TempDir()
	for _, c := range []struct {
		like  string
		scale float64
		flags []string
	}{
		{"arxiv", 0.3, []string{"--memory", "40MB", "--method", "cgc"}},
		{"flickr", 0.3, []string{"--partition", "spectral"}},
		{"flickr", 0.3, []string{"--inductive", "--method", "cgc"}},
	} {
		file := filepath.Join(folder, c.like+".safetensors")
		run(new(any), 0, "data", "make", "--like", c.like, "--scale", strconv.FormatFloat(c.scale, 'g', -1, 64), "-o", file,
			"--force")
		line := append([]string{"condense", file, "--nodes", "80"}, c.flags...)
		var expected struct {
			Memory int64 `json:"memory_bytes"`
			Held   int64 `json:"held_bytes"`
			File   int64 `json:"file_bytes"`
			Budget []int
		}
		run(&expected, 0, append(line, "--dry-run")...)
		var took struct {
			Peak      int64 `json:"peak_rss_bytes"`
			Kept      int64 `json:"kept_bytes"`
			Condensed struct{ Budget []int }
		}
		run(&took, expected.Held, append(line, "-o", filepath.Join(folder, "out.safetensors"))...)
		t.Logf("%s %v: expected %d MB, took %d MB", c.like, c.flags, expected.Memory>>20, took.Peak>>20)
		const bound = 40_000_000
		ratio := float64(expected.Memory) / float64(took.Peak)
		switch within := expected.File > 0; { // the plan for a limit counts only those pages of files that are being read
		case within && (took.Kept > expected.Memory || expected.Memory > bound):
			t.Errorf("%s %v: expected %d bytes, kept %d, must be at most %d", c.like, c.flags, expected.Memory, took.Kept, bound)
		case !within && (ratio < 1/1.5 || ratio > 1.5):
			t.Errorf("%s %v: expected %d bytes, took %d", c.like, c.flags, expected.Memory, took.Peak)
		}
		mattest.Equal(t, expected.Budget, took.Condensed.Budget, "%s: the expected nodes of each class are", c.like)
	}
}

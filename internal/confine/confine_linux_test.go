package confine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// A folder counts as a control group only if it has the kernel's files. Its children can have a memory limit if the
// group has the memory controller, and enables it for them or lets the test enable it.
func TestPossible(t *testing.T) {
	for _, c := range []struct {
		controllers, enabled string // contents of the files; "-" for no file
		want                 bool
	}{
		{"-", "-", false},
		{"cpu io", "cpu", false},
		{"cpu memory", "cpu memory", true},
		{"cpu memory", "cpu", true},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"cgroup.controllers": c.controllers, "cgroup.subtree_control": c.enabled} {
			if text != "-" {
				mattest.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
		}
		g := group{filepath.Join(dir, "child"), "memory.max", "memory.peak"}
		if got := g.possible(); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
		text, _ := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		if c.want && !strings.Contains(string(text), "memory") {
			t.Errorf("%+v: memory was not passed on", c)
		}
		if err := g.bound(1 << 20); err == nil {
			t.Errorf("%+v: a bound was set in a folder that is no control group", c)
		}
	}
}

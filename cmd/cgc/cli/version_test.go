package cli

import (
	"strings"
	"testing"
)

// TestVersionLines checks the texts for the commit and the kernels, including values that a build may not know.
func TestVersionLines(t *testing.T) {
	for _, c := range []struct {
		v       versions
		commit  string
		kernels string
	}{
		{versions{Kernels: "generic", Available: []string{"generic"}}, "unknown", "generic"},
		{versions{Revision: "abc", Date: "2026-01-02T03:04:05Z", Modified: true, Kernels: "avx512",
			Available: []string{"avx512", "avx2", "generic"}},
			"abc of 2026-01-02T03:04:05Z, modified", "avx512 (available: avx2, generic)"},
	} {
		if got := c.v.commit(); !strings.HasPrefix(got, c.commit) {
			t.Errorf("commit %q, want %q", got, c.commit)
		}
		if got := c.v.kernels(); got != c.kernels {
			t.Errorf("kernels %q, want %q", got, c.kernels)
		}
	}
	v := version()
	if v.Version == "" || v.Go == "" || v.Kernels != v.Available[0] || len(v.Methods) < 3 || len(v.Formats) < 5 {
		t.Errorf("%+v", v)
	}
}

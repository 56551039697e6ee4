package registry_test

import (
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/registry"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "ab", 2}, {"cora", "cora", 0}, {"cora", "coar", 1}, {"cora", "crora", 1}, {"cora", "coba", 1},
		{"kitten", "sitting", 3}, {"thread", "threads", 1}, {"ab", "", 2},
	} {
		mattest.Equal(t, registry.Distance(c.a, c.b), c.want, "%s to %s", c.a, c.b)
	}
}

func TestNear(t *testing.T) {
	among := []string{"cora", "citeseer", "coral", "nodes", "label-ratio", "label-ratios", "vn-classwise"}
	for _, c := range []struct {
		word string
		want []string
	}{
		{"coar", []string{"cora", "coral"}}, {"Cora", []string{"cora", "coral"}}, {"cora", nil}, {"node", []string{"nodes"}},
		{"label", []string{"label-ratio", "label-ratios"}}, {"xyz", nil}, {"", nil}, {"c", nil},
		{"vn", []string{"vn-classwise"}},
	} {
		mattest.Equal(t, registry.Near(c.word, among), c.want, "%q", c.word)
	}
	if got := registry.Hint("--", "node", among); got != "; did you mean --nodes?" {
		t.Errorf("hint %q", got)
	}
	mattest.Equal(t, registry.Hint("", "xyz", among), "", "hint")
}

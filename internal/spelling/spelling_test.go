package spelling_test

import (
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/spelling"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "ab", 2}, {"cora", "cora", 0}, {"cora", "coar", 1}, {"cora", "crora", 1}, {"cora", "coba", 1},
		{"kitten", "sitting", 3}, {"thread", "threads", 1}, {"ab", "", 2},
	} {
		mattest.Equal(t, spelling.Distance(c.a, c.b), c.want, "%s to %s", c.a, c.b)
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
		mattest.Equal(t, spelling.Near(c.word, among), c.want, "%q", c.word)
	}
	if got := spelling.Hint("--", "node", among); got != "; did you mean --nodes?" {
		t.Errorf("hint %q", got)
	}
	mattest.Equal(t, spelling.Hint("", "xyz", among), "", "hint")
}

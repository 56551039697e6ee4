package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	const text = "note: the größte feature is 6.14e+03 times the median one"
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, text},
		{57, text},
		{56, "note: the größte feature is 6.14e+03 times the median\n      one"},
		{16, "note: the größte\n      feature is\n      6.14e+03\n      times the\n      median one"},
		{3, text},
	} {
		if got := fold(text, c.width); got != c.want {
			t.Errorf("%d columns: %q, want %q", c.width, got, c.want)
		}
	}
	long := strings.Repeat("x", 99)
	if got := fold("note: "+long+" end", 40); got != "note:\n      "+long+"\n      end" {
		t.Errorf("a long word gives %q", got)
	}
	if columns(new(bytes.Buffer)) != 0 {
		t.Error("a buffer has a width")
	}
}

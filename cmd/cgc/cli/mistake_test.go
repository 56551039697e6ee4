package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
)

// TestOutOfRange checks that every mistake is reported, even inside a wrapped joined error, and that other errors are
// returned unchanged.
func TestOutOfRange(t *testing.T) {
	hops := &condense.FieldError{Package: "cgc", Field: "hops", Value: -1, Want: "at least 0"}
	alpha := &condense.FieldError{Package: "cgc", Field: "soft labels", Value: 7, Want: "true or false"}
	other := errors.New("graph: too small")
	name := func(field string) string { return "--" + strings.ReplaceAll(field, " ", "-") }
	for _, c := range []struct {
		err  error
		want string
	}{
		{hops, "--hops -1, must be at least 0"},
		{errors.Join(hops, alpha), "--hops -1, must be at least 0; --soft-labels 7, must be true or false"},
		{fmt.Errorf("arm cgc: %w", errors.Join(hops, errors.Join(alpha))),
			"--hops -1, must be at least 0; --soft-labels 7, must be true or false"},
		{errors.Join(other, hops), "too small; --hops -1, must be at least 0"},
	} {
		got := outOfRange(c.err, name)
		if got.Error() != c.want || exitCode(got) != exitUsage {
			t.Errorf("%v becomes %v with exit code %d, want %s", c.err, got, exitCode(got), c.want)
		}
	}
	if got := outOfRange(other, name); got != other {
		t.Errorf("%v becomes %v", other, got)
	}
}

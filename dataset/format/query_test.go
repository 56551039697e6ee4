package format_test

import (
	"testing"

	"github.com/graph-condensation/cgc/dataset/format"
)

// TestShown checks that no user, password or parameter of an address is shown.
func TestShown(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://ann:secret@host:5432/people":        "postgres://host:5432/people",
		"postgres://ann:se@cr/et?x@host/people":         "postgres://host/people",
		"postgres://host/people?user=a&password=secret": "postgres://host/people",
		"POSTGRES://a:secret@[::1]/p":                   "POSTGRES://[::1]/p",
		"my-graph/":                                     "my-graph/",
		`C:\graphs\a@b`:                                 `C:\graphs\a@b`,
		"://x@y":                                        "://x@y",
	} {
		if got := format.Shown(address); got != want {
			t.Errorf("%s is shown as %s, want %s", address, got, want)
		}
	}
}

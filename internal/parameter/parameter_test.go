package parameter_test

import (
	"testing"

	"github.com/graph-condensation/cgc/internal/parameter"
)

func TestError(t *testing.T) {
	e := &parameter.Error{Field: "weight decay", Value: -1, Want: "at least 0"}
	for got, want := range map[string]string{
		e.Error(): "weight decay -1, must be at least 0",
		e.Rest():  "-1, must be at least 0",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

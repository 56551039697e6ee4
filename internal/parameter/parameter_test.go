package parameter_test

import (
	"testing"

	"github.com/graph-condensation/cgc/internal/parameter"
)

func TestError(t *testing.T) {
	e := &parameter.Error{Package: "gnn", Field: "weight decay", Value: -1, Want: "at least 0"}
	for got, want := range map[string]string{
		e.Error():    "gnn: weight decay -1, must be at least 0",
		e.Sentence(): "weight decay -1, must be at least 0",
		e.Rest():     "-1, must be at least 0",
		(&parameter.Error{Field: "hops", Value: 9, Want: "0 to 3"}).Error(): "hops 9, must be 0 to 3",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

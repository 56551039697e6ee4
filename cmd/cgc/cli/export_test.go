package cli

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
)

// RunLine runs a command line in this process. It returns the exit code and what the command writes.
func RunLine(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	code = Run(t.Context(), args, &out, &said)
	return code, out.String(), said.String()
}

// DoNotMeasure replaces the measurement of the machine, which takes seconds, with constants.
func DoNotMeasure() {
	measure = func(context.Context, bench.Table, float64, rand.Source) (bench.Ceilings, error) {
		return bench.Ceilings{Stream: 10, Gather: 10, Compute: 100, Fresh: 5}, nil
	}
}

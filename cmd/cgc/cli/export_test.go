package cli

import (
	"context"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
)

// DoNotMeasure replaces the measurement of the machine, which takes seconds, with constants.
func DoNotMeasure() {
	measure = func(context.Context, rand.Source) (bench.Ceilings, error) {
		return bench.Ceilings{Stream: 10, Gather: 10, Compute: 100}, nil
	}
}

// Package mattest has what tests of numerical code share.
package mattest

import (
	"math/rand/v2"
	"runtime"

	"github.com/graph-condensation/cgc/mat"
)

// Normal returns a matrix of standard normal numbers.
func Normal(rows, cols int, random *rand.Rand) *mat.Dense {
	m := mat.NewDense(rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(random.NormFloat64())
	}
	return m
}

// AtThreads calls f at several numbers of threads.
func AtThreads(f func(threads int)) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, threads := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(threads)
		f(threads)
	}
}

// Must returns v. If there is an error, it panics, which ends the test.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

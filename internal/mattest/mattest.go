// Package mattest has helpers for tests: matrices, numbers of threads, and errors.
package mattest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/slow"
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

// Wide returns the numbers of x in float64.
func Wide(x *mat.Dense) []float64 {
	wide := make([]float64, len(x.Data))
	for i, v := range x.Data {
		wide[i] = float64(v)
	}
	return wide
}

// Python runs a program with the arguments in sys.argv, and returns what it prints. It uses python3, or else
// /usr/bin/python3. It skips the test if neither has all the modules, such as "numpy, scipy", or without slow tests.
func Python(t testing.TB, modules, program string, args ...string) string {
	t.Helper()
	slow.Test(t, "starts Python")
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if err := exec.Command(python, "-c", "import "+modules).Run(); err != nil {
			continue
		}
		return strings.TrimSpace(Run(t, exec.Command(python, append([]string{"-c", program}, args...)...)))
	}
	t.Skipf("python3 with %s is not here", modules)
	return ""
}

// Run returns what a command prints. It stops the test if the command fails.
func Run(t testing.TB, command *exec.Cmd) string {
	t.Helper()
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
	return string(out)
}

// Distant is a matrix that can only be read in blocks. If Err is not nil, reading fails with it.
type Distant struct {
	Of  mat.Matrix
	Err error
}

// Dims returns the dimensions of the matrix.
func (d Distant) Dims() (rows, cols int) { return d.Of.Dims() }

// ReadBlock reads a block of the matrix, or returns Err.
func (d Distant) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	if d.Err != nil {
		return d.Err
	}
	return d.Of.ReadBlock(dst, rows, lo, hi)
}

// AtThreads calls f at several numbers of threads.
func AtThreads(f func(threads int)) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, threads := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(threads)
		f(threads)
	}
}

// IgnoresThreads checks that the result of f is bit-identical for any number of threads, and returns the result.
func IgnoresThreads[T any](t testing.TB, f func() T) (first T) {
	t.Helper()
	AtThreads(func(threads int) {
		t.Helper()
		got := f()
		if threads == 1 {
			first = got
		} else if !reflect.DeepEqual(got, first) {
			t.Errorf("%d threads change the result", threads)
		}
	})
	return first
}

// Must returns v. If there is an error, it panics, which ends the test.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// First is Must for a call with two results. It drops the second one.
func First[T, U any](v T, _ U, err error) T { return Must(v, err) }

// OK stops the test if err is not nil.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Cancelled returns a context that is done.
func Cancelled(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// Panics checks that f panics. what names the call.
func Panics(t testing.TB, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s did not panic", what)
		}
	}()
	f()
}

// WantError checks that err says everything in says.
func WantError(t testing.TB, err error, says ...string) {
	t.Helper()
	for _, s := range says {
		if err == nil || !strings.Contains(err.Error(), s) {
			t.Errorf("error %v, want one that says %q", err, s)
		}
	}
}

// Says checks that text has each of the parts.
func Says(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q, want one that says %q", text, part)
		}
	}
}

// WantIs checks that err is target, by errors.Is.
func WantIs(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error %v, want %v", err, target)
	}
}

// True checks that holds is true. Otherwise it reports message in the format of fmt.Sprintf.
func True(t testing.TB, holds bool, message string, args ...any) {
	t.Helper()
	if !holds {
		t.Errorf(message, args...)
	}
}

// Equal checks that got equals want, by reflect.DeepEqual. what names the value in the format of fmt.Sprintf.
func Equal[T any](t testing.TB, got, want T, what string, args ...any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s %+v, want %+v", fmt.Sprintf(what, args...), got, want)
	}
}

// Near checks that got differs from want by at most tolerance; NaN never does. what names the value as in Equal.
func Near(t testing.TB, got, want, tolerance float64, what string, args ...any) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s %v, want %v", fmt.Sprintf(what, args...), got, want)
	}
}

// Fails checks the error of a call with a result: Fails(t, "no rows")(f()).
func Fails(t testing.TB, says ...string) func(result any, err error) {
	return func(_ any, err error) {
		t.Helper()
		WantError(t, err, says...)
	}
}

// Mixture returns n rows of d columns around the given number of centres: unit noise around centres of standard
// deviation 3. The centre of each row is drawn at random.
func Mixture(n, d, centres int, seed uint64) *mat.Dense {
	random := rand.New(rand.NewPCG(seed, 0))
	c := mat.NewDense(centres, d)
	for i := range c.Data {
		c.Data[i] = float32(3 * random.NormFloat64())
	}
	x := mat.NewDense(n, d)
	for i := range n {
		from := c.Row(random.IntN(centres))
		for j := range x.Row(i) {
			x.Row(i)[j] = from[j] + float32(random.NormFloat64())
		}
	}
	return x
}

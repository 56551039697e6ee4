// Package slow marks slow tests.
package slow

import (
	"os"
	"testing"
)

// Variable is the environment variable that turns slow tests on, as in SLOW_TESTS=1 go test work. It does not begin
// with CGC_, because the command rejects such variables unless they are its settings.
const Variable = "SLOW_TESTS"

// On reports whether slow tests run.
func On() bool { return os.Getenv(Variable) != "" }

// Test skips t unless slow tests run. why says what is slow.
func Test(t testing.TB, why string) {
	t.Helper()
	if !On() {
		t.Skipf("slow, runs with %s=1: %s", Variable, why)
	}
}

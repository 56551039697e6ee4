package cli_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/cli"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/confine"
)

// check ends the test unless err is nil.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a command line in this process.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	code = cli.Run(t.Context(), args, &out, &said)
	return code, out.String(), said.String()
}

// ok runs a command line, which must succeed.
func ok(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := run(t, args...)
	if code != 0 {
		t.Fatalf("%q ends with %d: %s", args, code, stderr)
	}
	return stdout, stderr
}

// confined runs a program in a control group with a limit of memory. It skips the test if there can be no such group.
func confined(t *testing.T, limit int64, environment []string, words ...string) (confine.Usage, error) {
	t.Helper()
	u, err := confine.Run(t.Context(), limit, environment, words...)
	if errors.Is(err, confine.ErrNone) {
		t.Skip(err)
	}
	return u, err
}

// onDisk writes a graph to a file of which the system keeps no pages.
func onDisk(t *testing.T, file string, g *graph.Graph) {
	t.Helper()
	check(t, dataset.Write(t.Context(), file, g))
	check(t, confine.Forget(file))
}

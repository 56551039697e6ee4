package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
)

// TestGuard checks that work near the limit is cancelled with a message. Work below the limit continues, and errors of
// the work are returned unchanged.
func TestGuard(t *testing.T) {
	var held atomic.Int64
	limit := func() (int64, string) { return 160e6, "the test allows" }
	begin := func() (context.Context, func(error) error) {
		return guarded(t.Context(), &beyond{doing: "reading x", help: " (help)"}, limit, held.Load)
	}

	held.Store(150e6) // the limit minus a sixteenth
	ctx, explain := begin()
	failed := errors.New("a mistake in the file")
	mattest.True(t, explain(failed) == failed && explain(nil) == nil, "within the limit, another error than %v", failed)
	if <-ctx.Done(); !errors.Is(explain(ctx.Err()), context.Canceled) {
		t.Errorf("an interruption becomes %v", explain(ctx.Err()))
	}

	ctx, explain = begin()
	held.Store(150e6 + 1)
	<-ctx.Done()
	const want = "reading x has used 150 MB of memory and is not finished, and the test allows 160 MB (help)"
	mattest.Equal(t, fmt.Sprint(explain(ctx.Err())), want, "error")
	mattest.True(t, explain(failed) == failed, "beyond the limit, another error than %v", failed)
}

// TestGuardLooksAhead checks that fast-growing work is stopped farther below the limit, unless it keeps to its own
// limit.
func TestGuardLooksAhead(t *testing.T) {
	var held, looks atomic.Int64
	limit := func() (int64, string) { return 160e6, "the test allows" }
	planned, end := guarded(t.Context(), &beyond{planned: true}, limit, func() int64 {
		return min(1, looks.Add(1)-1) * 150e6 // 0 at first
	})
	for looks.Load() < 4 {
		time.Sleep(looking)
	}
	err := planned.Err()
	mattest.True(t, err == nil, "work within a bound ended: %v", end(err))
	end(nil)
	ctx, explain := guarded(t.Context(), &beyond{doing: "reading x"}, limit, held.Load)
	held.Store(100e6)
	<-ctx.Done()
	const want = "reading x has used 100 MB of memory and is not finished, and the test allows 160 MB"
	mattest.Equal(t, fmt.Sprint(explain(ctx.Err())), want, "error")
}

// TestPeakText checks that the text separates pages of mapped files from the peak if they make up much of it, or if
// there is a limit.
func TestPeakText(t *testing.T) {
	for _, c := range []struct {
		peak, held int64
		limited    bool
		want       string
	}{
		{137e6, 120e6, false, "137 MB"},
		{137e6, 120e6, true, "137 MB, of which 120 MB was kept and the rest was pages of mapped files"},
		{2900e6, 0, true, "2.90 GB"},
		{2900e6, 1100e6, false, "2.90 GB, of which 1.10 GB was kept and the rest was pages of mapped files"},
	} {
		mattest.Equal(t, peakText(c.peak, c.held, c.limited), c.want, "a peak of %d with %d held is", c.peak, c.held)
	}
}

// TestOutOfRange checks that every mistake is reported, even inside a wrapped joined error, and that other errors are
// returned unchanged.
func TestOutOfRange(t *testing.T) {
	hops := &condense.FieldError{Field: "hops", Value: -1, Want: "at least 0"}
	alpha := &condense.FieldError{Field: "validate every", Value: 7, Want: "true or false"}
	other := errors.New("too small")
	name := func(field string) string { return "--" + strings.ReplaceAll(field, " ", "-") }
	for _, c := range []struct {
		err  error
		want string
	}{
		{hops, "--hops -1, must be at least 0"},
		{errors.Join(hops, alpha), "--hops -1, must be at least 0; --validate-every 7, must be true or false"},
		{fmt.Errorf("arm cgc: %w", errors.Join(hops, errors.Join(alpha))),
			"--hops -1, must be at least 0; --validate-every 7, must be true or false"},
		{errors.Join(other, hops), "too small; --hops -1, must be at least 0"},
	} {
		got := outOfRange(c.err, name)
		mattest.True(t, got.Error() == c.want && exitCode(got) == exitUsage,
			"%v becomes %v with exit code %d, want %s", c.err, got, exitCode(got), c.want)
	}
	mattest.True(t, outOfRange(other, name) == other, "%v becomes another error", other)
}

// TestFault checks that each panic that reaches the command is reported on one line.
func TestFault(t *testing.T) {
	const large = "the next step takes 4.00 GB of memory in addition to the 1.00 GB in use, " +
		"and the machine has 2.00 GB"
	for want, raised := range map[string]any{
		large: &memory.Exceeded{Asked: 4e9, Held: 1e9, Most: 2e9, By: memory.ByMachine},
		"this is a bug in cgc, please report it with the command line: index": errors.New("index"),
	} {
		var out strings.Builder
		(&command{stderr: &out}).fault(raised)
		mattest.Equal(t, out.String(), "cgc: "+want+"\n", "standard error has")
	}
}

// TestNothingIsLeft checks the error when testing a model exceeds the memory that the graph leaves free: it states how
// much memory is needed and how much is available.
func TestNothingIsLeft(t *testing.T) {
	large := fmt.Errorf("arm cgc: %w", &gnn.MemoryError{Model: "gcn", Need: 5e9, Bound: 1})
	rest := remainder{by: memory.ByMachine, limit: 2e9, taken: 3e9}
	mattest.WantError(t, rest.limited(large, synth.Demo()), "testing gcn takes about 5.00 GB of memory in addition to "+
		"3.00 GB for the program, the graph and the training, and the machine has 2.00 GB")
	other := errors.New("another")
	for _, err := range []error{nil, other} {
		mattest.True(t, rest.limited(err, synth.Demo()) == err, "%v becomes another error", err)
	}
	mattest.True(t, remainder{}.limited(large, synth.Demo()) == large, "with a bound that was asked for: another error")
}

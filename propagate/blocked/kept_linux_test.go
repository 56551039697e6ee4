package blocked_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// TestKept checks that Hops, after a kill or an interruption in any step, computes only the blocks that were not
// finished, and returns the same bits. It computes all blocks if the file differs from the one that it left.
func TestKept(t *testing.T) {
	const n, d = 500, 150
	p := propagate.Propagation{Rule: propagate.PPR, Hops: 3, Teleport: 0.1}
	x := features(n, d, 0.3, rand.New(rand.NewPCG(3, 0)))
	for limit, in := range map[int64]propagate.Input{
		0:                           {Adj: ring(n, 40), X: x, Rows: []int32{3, 4, 77}},
		withProcess(200<<10, false): {Adj: ring(n, 40), X: inPanels{x, 16, nil}, Rows: memory.Range(0, n)},
	} {
		path, identity := filepath.Join(t.TempDir(), "kept"), "a"
		// hops calls Hops, and step in each of its steps.
		hops := func(stay bool, step func(i int, stop func())) (values []float32, steps int, notes []string, err error) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ctx = progress.With(ctx, func(progress.Event) { steps++; step(steps, stop) })
			note := func(sentence string) { notes = append(notes, sentence) }
			kept := &blocked.Kept{Path: path, Identity: identity, Note: note}
			engine := blocked.Engine{Memory: limit, Kept: kept}
			err = engine.Hops(ctx, p, in, mat.F16, func(_ int, h mat.Matrix) error {
				var rows mat.Dense
				defer func() { values = append(values, stored(rows.Data, mat.F16)...) }()
				return h.ReadBlock(&rows, memory.Range(0, len(in.Rows)), 0, d)
			})
			kept.Close(stay)
			return values, steps, notes, err
		}
		var killed [][]byte // the file as a kill in each step leaves it
		want, all, _, err := hops(false, func(int, func()) { killed = append(killed, mattest.Must(os.ReadFile(path))) })
		mattest.OK(t, err)
		// again calls Hops with the file that a call left.
		again := func(name string, file []byte, steps, notes int) {
			t.Helper()
			mattest.OK(t, os.WriteFile(path, file, 0o600))
			got, did, said, err := hops(false, func(int, func()) {})
			if err != nil || did != steps || len(said) != notes || !slices.Equal(got, want) {
				t.Errorf("%s: %d steps, want %d, equal values: %v, notes %q, error %v", name, did, steps,
					slices.Equal(got, want), said, err)
			}
		}
		for i, file := range killed {
			again("after a kill", file, all-i/p.Hops*p.Hops, min(i/p.Hops, 1))
		}
		_, _, _, err = hops(true, func(i int, stop func()) {
			if i <= p.Hops {
				return
			}
			if got, did, _, err := hops(false, func(int, func()) {}); err != nil || did != all || !slices.Equal(got, want) {
				t.Errorf("at the same time: %d steps, want %d, error %v", did, all, err)
			}
			stop()
		})
		mattest.WantIs(t, err, context.Canceled)
		left, last := mattest.Must(os.ReadFile(path)), killed[len(killed)-1]
		again("after an interruption", left, all-p.Hops, 1)
		last[50]++ // another start of the machine
		again("after a kill and a restart", last, all, 1)
		if left[50] != 0 {
			t.Error("a restart after an interruption loses columns")
		}
	}
}

package gnn_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestBound checks that a memory limit does not change results, that models keep fewer propagated features under a
// smaller limit, and that the error reports the smallest limit that works. The graph is in memory.
func TestBound(t *testing.T) {
	g := synth.Demo()
	for _, name := range gnn.Names() {
		m := mattest.Must(gnn.Parse(name))
		config := gnn.Defaults()
		config.Epochs, config.Hidden = 2, 16
		var results []*gnn.Result
		var memory []int64
		for _, bound := range []int64{0, 1 << 30, 4096} {
			target := mattest.Must(gnn.TargetWithin(t.Context(), g, false, bound))
			memory = append(memory, gnn.MemoryOf(target, m, config.Hidden))
			large := new(gnn.MemoryError)
			if _, err := target.Plan(m, config.Hidden); errors.As(err, &large) != (bound == 4096) {
				t.Errorf("%s, bound %d: error %v", name, bound, err)
			}
			if bound == 4096 { // the smallest limit works, and a smaller one does not
				for _, b := range []int64{large.Need, large.Need * 9 / 10} {
					other := mattest.Must(gnn.TargetWithin(t.Context(), g, false, b))
					if _, err := other.Plan(m, config.Hidden); (err == nil) != (b == large.Need) {
						t.Errorf("%s, least %d, bound %d: error %v", name, large.Need, b, err)
					}
				}
			}
			r := mattest.Must(gnn.Train(t.Context(), m, target.Sample(), target, config, rand.NewPCG(1, 0)))
			results = append(results, r)
		}
		for i, r := range results[1:] {
			if r.Test != results[0].Test || r.Validation != results[0].Validation {
				t.Errorf("%s, bound %d: accuracies %v and %v, without one %v and %v", name, i, r.Validation, r.Test,
					results[0].Validation, results[0].Test)
			}
		}
		if memory[0] <= 0 || memory[1] != memory[0] || memory[2] > memory[0] {
			t.Errorf("%s: memory %v without a bound, with a large and with a small one", name, memory)
		}
	}
}

package gnn_test

import (
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/gnn"
)

// Within a bound, models find what they find without one. A smaller bound takes less memory for the models that keep
// propagated features. A graph that is not mapped counts nowhere.
func TestBound(t *testing.T) {
	g := synth.Demo()
	for _, name := range gnn.Names() {
		m, err := gnn.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		config := gnn.Defaults()
		config.Epochs, config.Hidden = 3, 32
		var results []*gnn.Result
		var memory []int64
		for _, bound := range []int64{0, 1 << 30, 4096} {
			target, err := gnn.TargetWithin(t.Context(), g, false, bound)
			if err != nil {
				t.Fatal(err)
			}
			memory = append(memory, target.Memory(m, config.Hidden))
			r, err := gnn.Train(t.Context(), m, target.Sample(), target, config, rand.NewPCG(1, 0))
			if err != nil {
				t.Fatal(err)
			}
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

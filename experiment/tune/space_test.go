package tune_test

import (
	"slices"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/experiment/tune"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
)

// TestSpaceFollowsTheRegistries checks that all registered partitions, propagation rules and variants are searched, and
// that a variant keeps the parameters that it does not read.
func TestSpaceFollowsTheRegistries(t *testing.T) {
	result := mustRun(t, tiny(t), func(s *tune.Search) { s.Space, s.Trials = tune.Space(), 50 })
	seen := map[string]bool{}
	for _, r := range result.Ranked {
		c := r.Config
		for _, name := range []string{
			"partition " + c.Partition, "propagation " + string(c.Propagation), "method " + c.Name(),
		} {
			seen[name] = true
		}
		if c.Variant == cgc.SimDM && slices.ContainsFunc(r.Changes, func(c tune.Change) bool {
			return c.Name == "partition" || c.Name == "soft-labels" || c.Name == "threshold"
		}) {
			t.Errorf("simdm with %v", r.Changes)
		}
	}
	var want []string
	for _, name := range partition.Names() {
		want = append(want, "partition "+name)
	}
	for _, rule := range propagate.Rules() {
		want = append(want, "propagation "+string(rule))
	}
	for _, variant := range cgc.Variants() {
		want = append(want, "method "+string(variant))
	}
	for _, w := range want {
		if !seen[w] {
			t.Errorf("no candidate has %s", w)
		}
	}
}

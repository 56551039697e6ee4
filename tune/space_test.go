package tune_test

import (
	"slices"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/tune"
)

// TestSpaceFollowsTheRegistries: partitions, propagation rules and variants are searched as they are registered, and a
// parameter that a variant does not read is never changed for it.
func TestSpaceFollowsTheRegistries(t *testing.T) {
	result := mustRun(t, tiny(t), func(s *tune.Search) { s.Space, s.Trials = tune.Space(), 120 })
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

package cgc_test

import (
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense/condensetest"
	"github.com/graph-condensation/cgc/internal/slow"
)

// TestContract checks the paper's methods against the contract of condense.Method, with and without extensions.
func TestContract(t *testing.T) {
	configs := map[string]cgc.Config{
		"extended": configured(0, func(c *cgc.Config) {
			c.Augment, c.SoftLabels, c.Edges, c.Degree = 0.5, true, cgc.RealEdges, 3
			c.HopWeights, c.Partitions, c.Partition = cgc.HopWeights{1, 1, 2}, 2, "spectral"
		}),
		"pseudo-labels": configured(0, func(c *cgc.Config) { c.PseudoLabels, c.Variant = 1, cgc.CGCX }),
	}
	for _, v := range cgc.Variants() {
		if v != cgc.CGC && !slow.On() {
			continue
		}
		configs[string(v)] = configured(0, func(c *cgc.Config) { c.Variant = v })
	}
	for name, config := range configs {
		t.Run(name, func(t *testing.T) { condensetest.Test(t, config, condensetest.Proportional, condensetest.Random) })
	}
}

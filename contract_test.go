package cgc_test

import (
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense/condensetest"
)

// The methods of the paper keep to the contract of all methods, as they are and with every extension.
func TestContract(t *testing.T) {
	for _, v := range cgc.Variants() {
		config := configured(0, func(c *cgc.Config) { c.Variant = v })
		t.Run(string(v), func(t *testing.T) {
			condensetest.Test(t, config, condensetest.Proportional, condensetest.Random)
		})
	}
}

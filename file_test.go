package cgc_test

import (
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/graph-condensation/cgc"
)

// The configuration and the account of each variant are unchanged after saving and loading. TestContract compares all
// else.
func TestSaveAndLoad(t *testing.T) {
	g, _ := smallGraph(100, 8, 3, false, false, rand.New(rand.NewPCG(30, 0)))
	for _, variant := range cgc.Variants() {
		config := configured(12, func(c *cgc.Config) {
			c.Variant, c.Threshold, c.Standardize, c.SoftLabels = variant, 0.3, variant == cgc.CGCX, variant == cgc.CGC
		})
		want := mustCondense(t, g, config)
		path := filepath.Join(t.TempDir(), "small.safetensors")
		if err := want.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		got, err := cgc.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := cgc.ConfigOf(got); err != nil || !reflect.DeepEqual(c, config) {
			t.Errorf("%s: configuration %+v, error %v, want %+v", variant, c, err, config)
		}
		if !reflect.DeepEqual(accountOf(t, got), accountOf(t, want)) {
			t.Errorf("%s: account %s, want %s", variant, got.Account, want.Account)
		}
	}
}

package cgc_test

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc"
)

// Each variant, with each of its extensions, is unchanged after saving and loading, and so are its configuration and
// account. Package condense tests other contents of files, and damaged ones.
func TestSaveAndLoad(t *testing.T) {
	g, _ := smallGraph(100, 8, 3, false, false, rand.New(rand.NewPCG(30, 0)))
	for i, variant := range append(cgc.Variants(), cgc.CGC) {
		config := configured(12, func(c *cgc.Config) {
			c.Variant, c.Threshold, c.Standardize, c.SoftLabels = variant, 0.3, variant == cgc.CGCX, variant == cgc.CGC
			if i == len(cgc.Variants()) {
				c.Edges = cgc.RealEdges
			}
		})
		want := mustCondense(t, g, config)
		if variant == cgc.CGC && want.Edges() == 0 {
			t.Fatal("the test wants a graph with edges")
		}
		path := filepath.Join(t.TempDir(), "small.safetensors")
		if err := want.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		got, err := cgc.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if want.Adj != nil && want.Adj.Data == nil {
			want.Adj.Data = slices.Repeat([]float32{1}, want.Adj.NNZ()) // a file has explicit weights
		}
		if !bytes.Equal(bytesOf(t, got), bytesOf(t, want)) || !reflect.DeepEqual(got.Soft, want.Soft) {
			t.Errorf("%s: read back differs", variant)
		}
		if (want.Soft != nil) != (variant == cgc.CGC) || (got.Scaling != nil) != (variant == cgc.CGCX) {
			t.Errorf("%s: soft labels %v, scaling %v", variant, want.Soft, got.Scaling)
		}
		if got.Graph != "small" || got.Method != string(variant) {
			t.Errorf("%s: read back as %+v", variant, got)
		}
		if c, err := cgc.ConfigOf(got); err != nil || !reflect.DeepEqual(c, config) {
			t.Errorf("%s: configuration %+v, error %v, want %+v", variant, c, err, config)
		}
		if !reflect.DeepEqual(accountOf(t, got), accountOf(t, want)) {
			t.Errorf("%s: account %s, want %s", variant, got.Account, want.Account)
		}
	}
}

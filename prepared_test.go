package cgc_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"runtime"
	"sync"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/propagate"
)

// Prepared.Condense gives the same result as Condense, for a sequence of configurations of the later steps.
func TestPreparedIsCondense(t *testing.T) {
	g, _ := smallGraph(60, 6, 3, true, false, rand.New(rand.NewPCG(27, 0)))
	for _, shared := range []func(*cgc.Config){
		func(c *cgc.Config) { c.Augment = 0 }, // confidence below hop K is computed only when it is needed
		func(*cgc.Config) {},
		func(c *cgc.Config) { c.Standardize, c.Propagation, c.Teleport = true, propagate.PPR, 0.3 },
		func(c *cgc.Config) { c.Inductive, c.Hops = true, 1 },
	} {
		p := mattest.Must(cgc.Prepare(t.Context(), g, configured(12, shared)))
		for i, change := range []func(*cgc.Config){
			func(c *cgc.Config) { c.Augment, c.Partition = 0.7, "spectral" },
			func(c *cgc.Config) { c.Variant, c.Temperature, c.Seed = cgc.CGCX, 0.1, 9 },
			func(c *cgc.Config) { c.Variant = cgc.SimDM },
			func(c *cgc.Config) { c.Nodes, c.Threshold, c.Alpha = 7, 0.2, 3 },
		} {
			config := configured(12, func(c *cgc.Config) { shared(c); change(c) })
			want := mustCondense(t, g, config)
			got := mattest.Must(p.With(t.Context(), config))
			want.Seconds, got.Seconds = condense.Seconds{}, condense.Seconds{}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("configuration %d: condensing from what was prepared differs", i)
			}
		}
	}
}

func TestPreparedRefusesAnotherPropagation(t *testing.T) {
	g, _ := smallGraph(60, 6, 3, true, false, rand.New(rand.NewPCG(27, 0)))
	p := mattest.Must(cgc.Prepare(t.Context(), g, configured(12, nil)))
	for _, change := range []func(*cgc.Config){
		func(c *cgc.Config) { c.Hops = 3 }, func(c *cgc.Config) { c.Propagation = propagate.SAGE },
		func(c *cgc.Config) { c.Standardize = true }, func(c *cgc.Config) { c.Inductive = true },
	} {
		mattest.Fails(t, "was prepared for")(p.With(t.Context(), configured(12, change)))
	}
	if _, err := p.With(t.Context(), configured(12, func(c *cgc.Config) { c.Teleport = 0.4 })); err != nil {
		t.Errorf("a teleport, which SGC does not read: %v", err)
	}
	mattest.Fails(t, "nodes 999")(p.With(t.Context(), configured(999, nil)))
}

// One preparation serves several configurations concurrently, even after one was cancelled. Each result has the same
// bytes as a separate run on one thread.
func TestPreparedServesManyAtOnce(t *testing.T) {
	g, _ := fewLabels(200, 8, 5, true, rand.New(rand.NewPCG(52, 0)))
	var configs []cgc.Config
	for _, augment := range []float64{0, 0.7, 2, 0.7} { // whichever augments first computes the confidences
		for _, variant := range cgc.Variants() {
			configs = append(configs, configured(16, func(c *cgc.Config) { c.Augment, c.Variant = augment, variant }))
		}
	}
	p := mattest.Must(cgc.Prepare(t.Context(), g, configs[0]))
	if _, err := p.With(mattest.Cancelled(t), configs[3]); err == nil {
		t.Error("no error from a cancelled context")
	}
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	runtime.GOMAXPROCS(1)
	want := make([][]byte, len(configs))
	for i, config := range configs {
		want[i] = bytesOf(t, mustCondense(t, g, config))
	}
	runtime.GOMAXPROCS(7)
	var group sync.WaitGroup
	for range 3 {
		for i, config := range configs {
			group.Go(func() {
				small, err := p.With(t.Context(), config)
				if err != nil {
					t.Error(err)
				} else if !bytes.Equal(bytesOf(t, small), want[i]) {
					t.Errorf("configuration %d: another graph from what is prepared", i)
				}
			})
		}
	}
	group.Wait()
}

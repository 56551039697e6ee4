package load_test

import (
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/propagate"
)

// together lists configurations that reach every branch of every step of the method.
var together = []func(*cgc.Config){
	func(*cgc.Config) {},
	func(c *cgc.Config) { c.Partition, c.Augment = "spectral", 0.4 },
	func(c *cgc.Config) { c.Partition, c.Propagation = "random", propagate.PPR },
	func(c *cgc.Config) { c.Propagation, c.Hops, c.Augment = propagate.SAGE, 3, 1 },
	func(c *cgc.Config) { c.Memory = 40 << 20 },
	func(c *cgc.Config) { c.Inductive, c.Edges, c.Degree = true, cgc.RealEdges, 4 },
	func(c *cgc.Config) { c.PseudoLabels, c.SoftLabels, c.Partitions = 1, true, 2 },
	func(c *cgc.Config) { c.Standardize, c.Variant, c.Threshold, c.Degree = true, cgc.SimDM, 0.2, 3 },
}

// TestEightAtOnce checks that eight concurrent condensations of one mapped graph give the same results as single ones,
// do not change the graph, and leave no goroutine, file or mapping behind. The race detector runs this test too.
func TestEightAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), cgcFile+".safetensors")
	check(t, dataset.Write(t.Context(), path, synth.Demo()))
	g, err := (dataset.Options{}).Open(t.Context(), path)
	check(t, err)
	identity := func() graph.Identity {
		id, err := graph.Identify(g)
		check(t, err)
		return id
	}
	unchanged := identity()
	once := func(change func(*cgc.Config)) *condense.Condensed {
		config := cgc.Defaults()
		config.Nodes = 35
		change(&config)
		small, err := cgc.Condense(t.Context(), g, config)
		if err != nil {
			t.Error(err)
			return nil
		}
		small.Seconds = condense.Seconds{}
		return small
	}
	var alone []*condense.Condensed
	for _, change := range together {
		alone = append(alone, once(change))
	}
	before := holds()
	got := make([]*condense.Condensed, len(together))
	var group sync.WaitGroup
	for i, change := range together {
		group.Go(func() { got[i] = once(change) })
	}
	group.Wait()
	for i := range got {
		if !reflect.DeepEqual(got[i], alone[i]) {
			t.Errorf("configuration %d: condensing beside others differs", i)
		}
	}
	if identity() != unchanged {
		t.Error("the graph has changed")
	}
	if after := holds(); after.goroutines > before.goroutines || after.files > before.files ||
		after.mappings != before.mappings {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

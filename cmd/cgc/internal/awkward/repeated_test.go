package awkward_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/propagate"
)

// held counts the resources of a process.
type held struct{ heap, goroutines, files, mappings int }

// holds counts the resources of this process after a garbage collection. files and mappings are 0 without /proc.
func holds() held {
	debug.FreeOSMemory()
	time.Sleep(10 * time.Millisecond) // so that ended goroutines are no longer counted
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	h := held{heap: int(stats.HeapAlloc), goroutines: runtime.NumGoroutine()}
	files, _ := os.ReadDir("/proc/self/fd")
	h.files = len(files)
	text, _ := os.ReadFile("/proc/self/maps")
	h.mappings = strings.Count(string(text), cgcFile)
	return h
}

// settled repeats holds until exceeds returns false, for at most a minute, because a busy machine takes time to end
// goroutines and free memory.
func settled(exceeds func(held) bool) held {
	h := holds()
	for begun := time.Now(); exceeds(h) && time.Since(begun) < time.Minute; {
		h = holds()
	}
	return h
}

// cgcFile is part of the names of the files that these tests map.
const cgcFile = "cgc-awkward"

// TestRepeatedCondensations checks that many condensations, each saved to a file, leave nothing behind: the process
// uses no more memory, goroutines, open files or mappings than after the first few.
func TestRepeatedCondensations(t *testing.T) {
	const runs = 20
	g := synth.Demo()
	path := filepath.Join(t.TempDir(), cgcFile+".safetensors")
	once := func(seed uint64) {
		t.Helper()
		config := cgc.Defaults()
		config.Nodes, config.Seed, config.Augment = 35, seed, 0.4
		if seed%3 == 1 {
			config.Partition = "spectral"
		}
		small := mattest.Must(cgc.Condense(t.Context(), g, config))
		mattest.OK(t, small.Save(t.Context(), path))
		mattest.Must(condense.Load(path))
	}
	for seed := range uint64(3) {
		once(seed)
	}
	first := holds()
	for run := range uint64(runs) {
		once(run)
	}
	const slack = 2 << 20 // allows for pools that grew to the size of the largest class
	exceeds := func(h held) bool {
		return h.heap > first.heap+slack || h.goroutines > first.goroutines || h.files > first.files ||
			h.mappings > first.mappings
	}
	last := settled(exceeds)
	mattest.True(t, !exceeds(last), "%+v after the first condensations, %+v after %d more", first, last, runs)
}

// TestNothingLeftBehind checks that a rejected graph file and an interrupted condensation leave no file, mapping or
// goroutine behind.
func TestNothingLeftBehind(t *testing.T) {
	dir := t.TempDir()
	torn := filepath.Join(dir, cgcFile+"-torn.safetensors")
	whole := filepath.Join(dir, cgcFile+".safetensors")
	mattest.OK(t, dataset.Write(t.Context(), whole, synth.Demo()))
	text := mattest.Must(os.ReadFile(whole))
	for i := len(text) - 4; i < len(text); i++ { // the split contains a node that does not exist
		text[i] = 0x7f
	}
	mattest.OK(t, os.WriteFile(torn, text, 0o600))
	before := holds()
	g := synth.Demo()
	for range 20 {
		if _, err := (dataset.Options{}).Open(t.Context(), torn); err == nil {
			t.Fatal("a torn file is opened")
		}
		ctx, cancel := context.WithCancel(t.Context())
		config := cgc.Defaults()
		config.Nodes = 35
		_, err := cgc.Condense(progress.With(ctx, func(progress.Event) { cancel() }), g, config)
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("an interrupted condensation: %v", err)
		}
	}
	exceeds := func(h held) bool {
		return h.goroutines > before.goroutines || h.files > before.files || h.mappings > before.mappings
	}
	after := settled(exceeds)
	mattest.True(t, !exceeds(after), "before %+v, after %+v", before, after)
}

// together lists configurations that cover the main branches of each step.
var together = []func(*cgc.Config){
	func(*cgc.Config) {},
	func(c *cgc.Config) { c.Partition, c.Augment = "spectral", 0.4 },
	func(c *cgc.Config) { c.Partition, c.Propagation = "random", propagate.PPR },
	func(c *cgc.Config) { c.Propagation, c.Hops, c.Augment = propagate.SAGE, 3, 1 },
	func(c *cgc.Config) { c.Memory = 40 << 20 },
	func(c *cgc.Config) { c.Inductive, c.Threshold, c.Degree = true, 0.2, 4 },
	func(c *cgc.Config) { c.Standardize, c.Variant, c.Threshold, c.Degree = true, cgc.SimDM, 0.2, 3 },
}

// TestEightAtOnce checks that eight concurrent condensations of one mapped graph give the same results as single ones,
// do not change the graph, and leave no goroutine, file or mapping behind. The race detector runs this test too.
func TestEightAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), cgcFile+".safetensors")
	mattest.OK(t, dataset.Write(t.Context(), path, synth.Demo()))
	g := mattest.Must((dataset.Options{}).Open(t.Context(), path))
	identity := func() graph.Identity { return mattest.Must(graph.Identify(g)) }
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
		mattest.True(t, reflect.DeepEqual(got[i], alone[i]), "configuration %d: condensing beside others differs", i)
	}
	mattest.True(t, identity() == unchanged, "the graph has changed")
	if after := holds(); after.goroutines > before.goroutines || after.files > before.files ||
		after.mappings != before.mappings {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

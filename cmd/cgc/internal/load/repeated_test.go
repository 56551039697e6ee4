package load_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/progress"
)

// held counts the resources of a process. resident and peak are the current and the largest number of bytes not backed
// by files; both are 0 without /proc.
type held struct{ heap, goroutines, files, mappings, resident, peak int }

// holds counts the resources of this process after a garbage collection. files and mappings are 0 without /proc.
func holds() held {
	resident := int(memory.Held()) // read before the collection, so it includes garbage
	debug.FreeOSMemory()
	time.Sleep(10 * time.Millisecond) // until ended goroutines are no longer counted
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	h := held{heap: int(stats.HeapAlloc), goroutines: runtime.NumGoroutine(), resident: resident}
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
const cgcFile = "cgc-load"

var (
	runs      = flag.Int("load.runs", 20, "how many condensations TestRepeatedCondensations does")
	loadGraph = flag.String("load.graph", "", "TestRepeatedCondensations condenses the graph of this file")
)

// watchPeak samples the resident bytes until stop is closed, and returns the maximum.
func watchPeak(stop <-chan struct{}) (peak int64) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		peak = max(peak, memory.Held())
		select {
		case <-stop:
			return peak
		case <-tick.C:
		}
	}
}

// TestRepeatedCondensations checks that many condensations, each saved to a file, leave nothing behind: no more memory
// is used after the last than after the first few, and no goroutine runs and no file stays open.
func TestRepeatedCondensations(t *testing.T) {
	g, nodes := synth.Demo(), 35
	if *loadGraph != "" {
		var err error
		if g, err = (dataset.Options{}).Open(t.Context(), *loadGraph); err != nil {
			t.Fatal(err)
		}
		nodes = 5 * g.Classes
	}
	path := filepath.Join(t.TempDir(), cgcFile+".safetensors")
	once := func(seed uint64) {
		t.Helper()
		config := cgc.Defaults()
		config.Nodes, config.Seed, config.Augment = nodes, seed, 0.4
		if seed%3 == 1 {
			config.Partition = "spectral"
		}
		small, err := cgc.Condense(t.Context(), g, config)
		if err != nil {
			t.Fatal(err)
		}
		if err := small.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		if _, err := condense.Load(path); err != nil {
			t.Fatal(err)
		}
	}
	measured := func(seed uint64) (peak int) { // peak memory of one condensation
		stop, done := make(chan struct{}), make(chan int64)
		go func() { done <- watchPeak(stop) }()
		once(seed)
		close(stop)
		return int(<-done)
	}
	peak := measured(0)
	alone := holds()
	alone.peak = peak
	t.Logf("after 1: %+v", alone)
	for seed := range uint64(3) {
		once(seed)
	}
	first := holds()
	for run := range uint64(*runs) {
		peak = max(peak, measured(run))
		if run == 9 {
			after := holds()
			after.peak = peak
			t.Logf("after 10: %+v", after)
		}
	}
	const slack = 2 << 20 // allows for pools that grew to the size of the largest class
	exceeds := func(h held) bool {
		return h.heap > first.heap+slack || h.goroutines > first.goroutines || h.files > first.files ||
			h.mappings > first.mappings
	}
	last := settled(exceeds)
	last.peak = peak
	t.Logf("after the first three: %+v", first)
	t.Logf("after %d more: %+v", *runs, last)
	if exceeds(last) {
		t.Errorf("%+v after the first condensations, %+v after %d more", first, last, *runs)
	}
}

// TestNothingLeftBehind checks that a rejected graph file and an interrupted condensation leave no file, mapping or
// goroutine behind.
func TestNothingLeftBehind(t *testing.T) {
	dir := t.TempDir()
	torn := filepath.Join(dir, cgcFile+"-torn.safetensors")
	whole := filepath.Join(dir, cgcFile+".safetensors")
	if err := dataset.Write(t.Context(), whole, synth.Demo()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(text) - 4; i < len(text); i++ { // the split contains a node that does not exist
		text[i] = 0x7f
	}
	if err := os.WriteFile(torn, text, 0o600); err != nil {
		t.Fatal(err)
	}
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
	if after := settled(exceeds); exceeds(after) {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

// BenchmarkCancel measures the milliseconds from cancellation to the return of Condense, for each step, on a synthetic
// graph of Flickr's size.
func BenchmarkCancel(b *testing.B) {
	shape, err := synth.Like("flickr")
	if err != nil {
		b.Fatal(err)
	}
	g, err := synth.Make(b.Context(), shape, rand.NewPCG(1, 0))
	if err != nil {
		b.Fatal(err)
	}
	for _, step := range []string{"propagate", "assess", "augment", "partition", "generate"} {
		b.Run(step, func(b *testing.B) {
			worst, total := time.Duration(0), time.Duration(0)
			for b.Loop() {
				ctx, cancel := context.WithCancel(b.Context())
				var ended time.Time
				heard := progress.With(ctx, func(e progress.Event) {
					if e.Stage == step && ended.IsZero() {
						ended = time.Now()
						cancel()
					}
				})
				config := cgc.Defaults()
				config.Nodes, config.Augment, config.Partition = 446, 0.4, "spectral"
				_, err := cgc.Condense(heard, g, config)
				if took := time.Since(ended); !ended.IsZero() {
					worst, total = max(worst, took), total+took
				}
				cancel()
				if !errors.Is(err, context.Canceled) {
					b.Fatalf("step %s: %v", step, err)
				}
			}
			b.ReportMetric(float64(worst.Microseconds())/1000, "ms-worst")
			b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "ms-mean")
		})
	}
}

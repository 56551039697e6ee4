package awkward_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/experiment/tune"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/propagate"
	_ "github.com/graph-condensation/cgc/rival/all" // registers the published baselines
)

var cancelGraph = flag.String("cancel.graph", "", "the graph file on which TestCancel ends calls and tells how soon")

// call is a long call that honours cancellation.
type call struct {
	name    string
	run     func(ctx context.Context) error
	prepare func() error // prepares the inputs of run; may be nil
}

// ended is the result of a call that was cancelled.
type ended struct {
	stage string        // the last stage reported
	begun bool          // whether the call was cancelled as that stage began
	at    time.Duration // when it was cancelled
	took  time.Duration // time from the cancellation to the return
	err   error
}

// TestCancel cancels each long call once in each stage that the call reports. The call must return the error of the
// context, and leave no goroutines behind. TestCancel also cancels each call at random times, when the call may return
// a result instead. It only logs how many milliseconds a call took to return. Without -cancel.graph, the graph is small
// and methods are left out, because package condensetest cancels them.
func TestCancel(t *testing.T) {
	path, times, limit := *cancelGraph, 3, 20*time.Second
	if path == "" {
		slow.Test(t, "cancels each call in each stage")
		t.Log("on a small graph: name a large one in -cancel.graph")
		path, times, limit = filepath.Join(t.TempDir(), cgcFile+".safetensors"), 1, time.Hour // the first call completes
		shape := synth.DemoShape().Scale(0.2)
		g := mattest.Must(synth.Make(t.Context(), shape, rand.NewPCG(1, 1)))
		mattest.OK(t, dataset.Write(t.Context(), path, g))
	}
	random := rand.New(rand.NewPCG(1, 0))
	for _, c := range calls(t, path) {
		if *cancelGraph == "" && strings.HasPrefix(c.name, "method ") {
			continue
		}
		if c.prepare != nil {
			mattest.OK(t, c.prepare())
		}
		goroutines := runtime.NumGoroutine()
		first, stages := end(t.Context(), c, limit, "")
		all := []ended{first}
		span := min(first.at, limit)
		for range times {
			one, _ := end(t.Context(), c, time.Duration(random.Float64()*float64(span)), "")
			all = append(all, one)
		}
		for _, stage := range stages {
			one, _ := end(t.Context(), c, 2*limit, stage)
			all = append(all, one)
		}
		for range 6000 { // up to a minute, for busy machines
			if runtime.NumGoroutine() <= goroutines {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		n := runtime.NumGoroutine()
		mattest.True(t, n <= goroutines, "%s: %d goroutines, %d before", c.name, n, goroutines)
		tell(t, c.name, all)
	}
}

// end runs a call and cancels its context after a time, or at the first event of a stage if one is named. It returns
// the stages that the call reported, in order.
func end(parent context.Context, c call, after time.Duration, stage string) (e ended, stages []string) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	var mu sync.Mutex
	var when time.Time
	stop := func() {
		if when.IsZero() {
			when = time.Now()
			cancel()
		}
	}
	heard := progress.With(ctx, func(event progress.Event) {
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(stages, event.Stage) {
			stages = append(stages, event.Stage)
		}
		if when.IsZero() {
			e.stage = event.Stage
		}
		if stage != "" && event.Stage == stage {
			e.begun = when.IsZero() && event.Done < event.Total
			stop()
		}
	})
	begun := time.Now()
	timer := time.AfterFunc(after, func() {
		mu.Lock()
		defer mu.Unlock()
		stop()
	})
	e.err = c.run(heard)
	returned := time.Now()
	timer.Stop()
	mu.Lock()
	defer mu.Unlock()
	if when.IsZero() {
		e.at = returned.Sub(begun)
		return e, stages
	}
	e.at, e.took = when.Sub(begun), returned.Sub(when)
	return e, stages
}

// tell logs how many milliseconds each cancelled call took to return. It fails the test if one returned an error other
// than the context's.
func tell(t *testing.T, name string, all []ended) {
	t.Helper()
	for _, e := range all {
		if e.took == 0 {
			t.Logf("%s: over after %v (%v)", name, e.at.Round(time.Millisecond), e.err)
			continue
		}
		if e.err != nil && !errors.Is(e.err, context.Canceled) {
			t.Errorf("%s, ended in %q: error %v, want that of the context", name, e.stage, e.err)
		}
		if e.err == nil && e.begun {
			t.Errorf("%s goes on to its end, though its context ended as %q began", name, e.stage)
		}
		t.Logf("%-28s %-24s %8.1f ms", name, cmp.Or(e.stage, "(before any)"), float64(e.took.Microseconds())/1000)
	}
}

// written lists the file extensions of the formats in which graphs are written and read.
var written = []string{".safetensors", ".npz", ".pt", ".graphml"}

// bound is the memory limit, in bytes, of the calls that have one. The graph "products" is larger, but can be condensed
// within the limit.
const bound = 2 << 30

// calls returns the long calls on the graph in a file. They write into a temporary folder of the test.
func calls(t *testing.T, path string) []call {
	t.Helper()
	g := mattest.Must(dataset.Options{}.Open(t.Context(), path))
	nodes := 4 * g.Classes
	dir := t.TempDir()
	all := []call{
		{name: "read .safetensors", run: func(ctx context.Context) error {
			_, err := dataset.Options{}.Open(ctx, path)
			return err
		}},
		{name: "make", run: func(ctx context.Context) error {
			_, err := synth.Make(ctx, shapeOf(g), rand.NewPCG(1, 1))
			return err
		}},
		{name: "make in parts", run: func(ctx context.Context) error {
			s, err := synth.Stream(ctx, shapeOf(g), rand.NewPCG(1, 1))
			if err != nil {
				return err
			}
			return inParts(ctx, filepath.Join(dir, "made.safetensors"), s)
		}},
		{name: "convert in parts", run: func(ctx context.Context) error {
			return inParts(ctx, filepath.Join(dir, "parts.safetensors"), format.StreamOf(g))
		}},
	}
	for _, extension := range written {
		file := filepath.Join(dir, "graph"+extension)
		all = append(all, call{name: "write " + extension, run: func(ctx context.Context) error {
			return dataset.Write(ctx, file, g)
		}}, call{name: "read " + extension, run: func(ctx context.Context) error {
			_, err := dataset.Options{}.Open(ctx, file)
			return err
		}, prepare: func() error { return dataset.Write(t.Context(), file, g) }})
	}
	return append(append(all, condensing(g, nodes)...), training(t, g, nodes)...)
}

// shapeOf returns the shape of a synthetic graph with the sizes of g.
func shapeOf(g *graph.Graph) synth.Shape {
	return synth.Shape{
		Name: "made", Nodes: g.Nodes(), Edges: g.Edges(), Features: g.Features(), Classes: g.Classes, Signal: 1,
		Train: len(g.Split.Train), Val: len(g.Split.Val), Test: len(g.Split.Test),
	}
}

// inParts writes a graph that is generated in parts.
func inParts(ctx context.Context, path string, s *format.Stream) error {
	_, err := dataset.WriteStream(ctx, path, s, format.Storing{Memory: 64 << 20, Width: 16})
	return err
}

// condensing returns the calls that condense with every method, and with different settings of cgc.
func condensing(g *graph.Graph, nodes int) (all []call) {
	for _, way := range []struct {
		name   string
		change func(*cgc.Config)
	}{
		{"k-means", func(c *cgc.Config) { c.Augment = 0.4 }},
		{"spectral", func(c *cgc.Config) { c.Partition, c.Augment = "spectral", 0.4 }},
		{"3 hops of sage", func(c *cgc.Config) { c.Propagation, c.Hops = propagate.SAGE, 3 }},
		{"within a bound", func(c *cgc.Config) { c.Memory = bound }},
		{"standardized", func(c *cgc.Config) { c.Standardize = true }},
		{"inductive", func(c *cgc.Config) { c.Inductive = true }},
	} {
		all = append(all, call{name: "cgc, " + way.name, run: func(ctx context.Context) error {
			config := cgc.Defaults()
			config.Nodes = nodes
			way.change(&config)
			_, err := cgc.Condense(ctx, g, config)
			return err
		}})
	}
	for _, name := range condense.Names() {
		all = append(all, call{name: "method " + name, run: func(ctx context.Context) error {
			m, err := condense.New(name, nil)
			if err != nil {
				return err
			}
			_, err = m.Condense(ctx, g, nodes, 1)
			return err
		}})
	}
	return all
}

// training returns the calls that train and test models.
func training(t *testing.T, g *graph.Graph, nodes int) (all []call) {
	config := cgc.Defaults()
	config.Nodes = nodes
	small := mattest.Must(cgc.Condense(t.Context(), g, config))
	trained := gnn.Defaults()
	trained.Epochs = 5
	if g.Nodes() < 1000 {
		trained.Epochs, trained.Hidden = 2, 8
	}
	onWhole := trained
	if g.Nodes() > 1<<20 {
		onWhole.Hidden = 64 // at the size of products, 256 units with their gradients take more than 24 GB
	}
	for _, m := range gnn.All() {
		e := experiment.Evaluation{Models: []gnn.Model{m}, Training: trained, Trainings: 1}
		whole := e
		whole.Training = onWhole
		all = append(all, call{name: "evaluate " + m.Name(), run: func(ctx context.Context) error {
			_, err := e.Run(ctx, small, g)
			return err
		}}, call{name: "train whole " + m.Name(), run: func(ctx context.Context) error {
			_, err := whole.Whole(ctx, small, g)
			return err
		}})
	}
	for name, most := range map[string]int64{"evaluate within a bound": 2 * bound, "evaluate in order": bound / 2} {
		e := experiment.Evaluation{Models: []gnn.Model{gnn.GCN()}, Training: trained, Trainings: 1, Memory: most}
		all = append(all, call{name: name, run: func(ctx context.Context) error {
			_, err := e.Run(ctx, small, g)
			return err
		}})
	}
	return append(all, call{name: "experiment", run: func(ctx context.Context) error {
		p := experiment.Plan{
			Method: config, Size: condense.Size{Nodes: nodes}, Training: trained, Seeds: 2, Models: []gnn.Model{gnn.GCN()},
		}
		_, err := p.Run(ctx, g)
		return err
	}}, call{name: "tune", run: func(ctx context.Context) error {
		s := tune.Search{
			Base: tune.Candidate{Method: auto.New()}, Nodes: config.Nodes, Models: []gnn.Model{gnn.SGC()},
			Training: trained, Trials: 4,
		}
		_, err := s.Run(ctx, g)
		return err
	}})
}

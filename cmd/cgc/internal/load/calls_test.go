package load_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/experiment/tune"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/propagate"
	_ "github.com/graph-condensation/cgc/rival/all" // registers the published baselines
)

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
		{"beyond the paper", func(c *cgc.Config) { c.PseudoLabels, c.SoftLabels, c.Partitions = 1, true, 3 }},
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
			Base: tune.Candidate{Config: config}, Space: tune.Space(cgc.CGC), Models: []gnn.Model{gnn.SGC()},
			Training: trained, Trials: 4,
		}
		_, err := s.Run(ctx, g)
		return err
	}})
}

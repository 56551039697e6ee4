package load_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/propagate"
	_ "github.com/graph-condensation/cgc/rival/all" // registers the methods of others
	"github.com/graph-condensation/cgc/tune"
)

// written are endings of files that graphs are written to and read from. Writing a large graph as .graphml, to read it,
// takes minutes: -cancel.calls leaves it out.
var written = []string{".safetensors", ".npz", ".pt", ".graphml"}

// bound is what calls within a bound may take, in bytes: less than products takes, more than it needs.
const bound = 2 << 30

// calls lists the long calls on the graph of a file. What they write goes into a folder of the test.
func calls(t *testing.T, path string) []call {
	t.Helper()
	g, err := dataset.Options{}.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
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

// readings lists the reading of each graph of -cancel.read; nil if there is none.
func readings() (all []call) {
	for path := range strings.SplitSeq(*cancelRead, ",") {
		if path != "" {
			all = append(all, call{name: "read " + filepath.Base(path), run: func(ctx context.Context) error {
				_, err := dataset.Options{}.Open(ctx, path)
				return err
			}})
		}
	}
	return all
}

// shapeOf returns the shape of a made graph of the size of g.
func shapeOf(g *graph.Graph) synth.Shape {
	return synth.Shape{
		Name: "made", Nodes: g.Nodes(), Edges: g.Edges(), Features: g.Features(), Classes: g.Classes, Signal: 1,
		Train: len(g.Split.Train), Val: len(g.Split.Val), Test: len(g.Split.Test),
	}
}

// inParts writes a graph that is delivered in parts.
func inParts(ctx context.Context, path string, s *format.Stream) error {
	_, err := dataset.WriteStream(ctx, path, s, format.Storing{Memory: 64 << 20, Width: 16})
	return err
}

// condensing lists every method, and cgc in its ways.
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

// training lists what trains and tests models.
func training(t *testing.T, g *graph.Graph, nodes int) (all []call) {
	config := cgc.Defaults()
	config.Nodes = nodes
	small, err := cgc.Condense(t.Context(), g, config)
	if err != nil {
		t.Fatal(err)
	}
	trained := gnn.Defaults()
	trained.Epochs = 5
	onWhole := trained
	if g.Nodes() > 1<<20 {
		onWhole.Hidden = 64 // at products size, 256 units with their gradients take more than 24 GB
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

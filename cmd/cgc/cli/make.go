package cli

import (
	"cmp"
	"context"
	"math/rand/v2"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/memory"
)

func (c *command) makeCommand() *cobra.Command {
	var (
		like, out string
		seed      uint64
		scale     = 1.0
		store     storing
		force     bool
	)
	cmd := &cobra.Command{
		Use: "make --like NAME -o FILE" + extension,
		Example: examples(
			"cgc data make --like arxiv -o made.safetensors",
			"cgc data make --like products --scale 0.1 --seed 3 -o made.safetensors",
			"cgc data make --like papers100m --scale 1/4 --store f16 --panels 16 --memory 6GB -o made.safetensors",
		),
		Short: "Make a synthetic graph with the sizes of a real one",
		Long: `Make a synthetic graph from a stochastic block model, with the numbers of nodes, edges, features and classes
and the split sizes of a real graph. Features and edges depend on the class. Use it to try commands and to
measure time and memory: accuracies on it say nothing about the real graph.

The graph is written in parts and may be larger than memory. Temporary files next to FILE take at most 18 bytes per
edge.`,
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case like == "":
				return usagef("data make needs --like GRAPH: the graph whose sizes it copies")
			case out == "":
				return usagef("data make needs -o FILE: the file to write")
			}
			shape, err := synth.Like(like)
			if err != nil {
				return usagef("--like %s: %s", like, sentence(err))
			}
			if scale != 1 {
				shape = shape.Scale(scale)
			}
			if err := shape.Validate(); err != nil {
				return usagef("--scale %s: %s", formatFloat(scale), sentence(err))
			}
			if err := cmp.Or(store.check(), writable("-o", out, extension, force, never)); err != nil {
				return err
			}
			return c.makeGraph(cmd.Context(), shape, seed, out, store)
		},
	}
	flags := inOrder(cmd)
	flags.StringVar(&like, "like", "", "use the sizes of `NAME`: "+strings.Join(synth.Names(), ", "))
	flags.Uint64Var(&seed, "seed", 0, "random seed")
	flags.Var(factor(&scale), "scale", "factor for the numbers of nodes and edges and the split sizes: 0.1 or 1/4")
	flags.StringVarP(&out, "output", "o", "", "write the graph to `FILE`")
	store.addTo(cmd)
	flags.BoolVar(&force, "force", false, "replace the file if it exists")
	return cmd
}

// makeGraph generates a graph and writes it: in parts, unless its features are sparse.
func (c *command) makeGraph(ctx context.Context, shape synth.Shape, seed uint64, out string, store storing) error {
	c.progress.step("making a graph like " + strings.TrimPrefix(shape.Name, synth.Prefix))
	src := rand.NewPCG(seed, 0)
	if shape.Words > 0 {
		if store.storage != "" || store.panels != 0 {
			return usagef("--store and --panels are for dense features, and those of %s are sparse", shape.Name)
		}
		g, err := synth.Make(ctx, shape, src)
		if err != nil {
			return err
		}
		return c.write(ctx, g, out, "")
	}
	if err := store.enough(shape.Name, shape.Need()); err != nil {
		return err
	}
	defer memory.Bounded(store.memory)()
	s, err := synth.Stream(ctx, shape, src)
	if err != nil {
		return err
	}
	return c.writeStream(ctx, s, out, store.options(shape.Need()))
}

// writeStream writes a graph that is generated in parts, and reports it.
func (c *command) writeStream(ctx context.Context, s *format.Stream, file string, o format.Storing) error {
	var changes graph.Changes
	err := c.save(file, func() (err error) {
		changes, err = dataset.WriteStream(ctx, file, s, o)
		return err
	})
	if err != nil {
		return err
	}
	edges := changes.Entries - changes.Loops - changes.Merged
	switch {
	case s.Adj != nil:
		edges = s.Adj.NNZ() / 2
	case s.Exact > 0:
		edges = int(s.Exact)
	default:
		for _, sentence := range content.EdgeNotes(s.Name, changes) {
			c.progress.note("%s", sentence)
		}
	}
	return c.wrote(written{Graph: &s.Name, File: file}, report.Plural(s.Nodes, "node"), edges, s.Features, s.Classes)
}

package cli

import (
	"context"
	"math/rand/v2"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/report"
)

func (c *command) makeCommand() *cobra.Command {
	var (
		like, out string
		seed      uint64
		scale     = factor(1)
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
		Short: "Make a graph with the sizes of a real one",
		Long: `Make a graph by a seeded block model. It has the numbers of nodes, edges, features and classes of a real one,
and a split of the same sizes. Its features and edges tell the classes. It is for trying and measuring:
accuracies on it say nothing about the real graph. The graph goes to the file in parts: it may exceed memory.
Temporary files stand beside FILE, at most 18 bytes for each edge.`,
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case like == "":
				return usagef("data make has no --like, want the name of the graph to take the sizes of")
			case out == "":
				return usagef("data make has no -o, want the name of the file to write")
			}
			shape, err := synth.Like(like)
			if err != nil {
				return usagef("--like %s: %s", like, sentence(err))
			}
			if scale != 1 {
				shape = shape.Scale(float64(scale))
			}
			if err := shape.Validate(); err != nil {
				return usagef("--scale %s: %s", &scale, sentence(err))
			}
			if err := store.check(); err != nil {
				return err
			}
			if err := writable("-o", out, extension, force, never); err != nil {
				return err
			}
			return c.makeGraph(cmd.Context(), shape, seed, out, store)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&like, "like", "", "take the sizes of `NAME`: "+strings.Join(synth.Names(), ", "))
	flags.Uint64Var(&seed, "seed", 0, "decides all random choices")
	flags.Var(&scale, "scale", "factor for the numbers of nodes and edges and for the split: 0.1 or 1/4")
	flags.StringVarP(&out, "output", "o", "", "write the graph to `FILE`")
	store.addTo(cmd)
	flags.BoolVar(&force, "force", false, "replace the file if it exists")
	return cmd
}

// makeGraph makes a graph and writes it, in parts unless its features are sparse.
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

// writeStream writes a graph that is delivered in parts, and says so.
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
		for _, sentence := range format.EdgeNotes(s.Name, changes) {
			c.progress.note("%s", sentence)
		}
	}
	written := struct {
		Graph string `json:"graph"`
		File  string `json:"file"`
	}{s.Name, file}
	return c.print(written, sentenceDocument("%s: %s nodes, %s edges, %s features, %s classes in %s", s.Name,
		report.Count(s.Nodes), report.Count(edges), report.Count(s.Features), report.Count(s.Classes), file))
}

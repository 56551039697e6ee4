package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/checkpoint"
	"github.com/graph-condensation/cgc/internal/memory"
)

func (c *command) condenseCommand() *cobra.Command {
	var (
		config *configFlags
		out    string
		name   string
		force  bool
		dry    bool
		done   string
		timed  bool
	)
	cmd := &cobra.Command{
		Use: "condense GRAPH -o FILE",
		Example: examples(
			"cgc condense my-graph/ --nodes 200 -o small.safetensors",
			"cgc condense cora --ratio 2.6% --method cgc-x --partition spectral -o small.safetensors",
			"cgc condense large.safetensors --nodes 1000 --memory 2GiB -o small.pt",
			"cgc condense large.safetensors --nodes 1000 --memory 2GiB --dry-run",
			"cgc condense --embeddings embeddings.safetensors --nodes 1000 -o small.safetensors",
		),
		Short: "Condense a graph and write the result to a file",
		Args: func(cmd *cobra.Command, args []string) error {
			if done != "" {
				return arguments(0, "GRAPH")(cmd, args)
			}
			return arguments(1, "GRAPH")(cmd, args)
		},
		ValidArgsFunction: completeGraph,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dry && done != "" {
				return usagef("--dry-run with --embeddings, must be one of them: what was propagated needs no plan")
			}
			if dry {
				if err := config.read(); err != nil {
					return err
				}
				return c.dryRun(cmd.Context(), args[0], config)
			}
			if out == "" {
				return usagef("condense needs -o FILE: the file to write")
			}
			if err := config.read(); err != nil {
				return err
			}
			if err := storable("-o", out, name, force); err != nil {
				return err
			}
			if done != "" {
				return c.condenseEmbeddings(cmd.Context(), args, config, done, out, name, timed)
			}
			return c.condense(cmd.Context(), args[0], config, out, name, timed)
		},
	}
	config = newMethodFlags(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the condensed graph to `FILE`")
	cmd.Flags().StringVar(&name, "format", "",
		"write the format `NAME`: "+strings.Join(format.Stores(), ", ")+" (default by the file extension)")
	cmd.Flags().StringVar(&done, "embeddings", "",
		"use the embeddings that cgc propagate wrote to `FILE`; GRAPH is then optional")
	into(advancedGroup, cmd.Flags(), "embeddings")
	cmd.Flags().BoolVar(&timed, "timings", false,
		"write the seconds of each step into the file, for cgc report; two runs then give different bytes")
	cmd.Flags().BoolVar(&force, "force", false, "replace the file even if it is not a condensed graph")
	cmd.Flags().BoolVar(&dry, "dry-run", false,
		"print the nodes allocated to each class and the expected memory and time; write nothing")
	into(outputGroup, cmd.Flags())
	return cmd
}

// checkpointEvery is the interval at which the state of a long condensation is saved: an interruption loses at most
// this much work.
const checkpointEvery = time.Minute

func (c *command) condense(
	ctx context.Context, name string, flags *configFlags, out, as string, timed bool,
) (err error) {
	defer memory.Bounded(collected(flags.config.Memory))()
	g, seconds, err := c.open(ctx, name, flags)
	if err != nil {
		return err
	}
	bound, err := c.fit(g, flags)
	if err != nil {
		return err
	}
	ctx, explain := guard(ctx, "condensing "+g.Name, inParts(g), bound)
	defer func() { err = explain(err) }()
	c.progress.step("condensing")
	watched, plan := c.watch(ctx, bound, 1e9*openedRate(g, seconds))
	kept := checkpoint.With(watched, out+".checkpoint", checkpointEvery)
	small, err := flags.condense(kept, g)
	if err != nil {
		return flags.mistake(err)
	}
	small.Timed = timed
	planned := plan(small.Seconds.Of("propagate"))
	if err := c.save(out, func() error { return small.SaveAs(ctx, out, as) }); err != nil {
		return err
	}
	if err := checkpoint.Remove(kept); err != nil {
		return err
	}
	r := outcomeOf(g, out)
	r.add(small, seconds, small.Seconds)
	r.Plan = planned
	c.warn(r.Warnings)
	return c.print(r, r.document())
}

// condense condenses g by the chosen method.
func (f *configFlags) condense(ctx context.Context, g *graph.Graph) (*condense.Condensed, error) {
	methods, err := f.methods()
	if err != nil {
		return nil, err
	}
	if config, is := methods[0].(cgc.Config); is { // so that a ratio is stored as given, not as a number of nodes
		return cgc.Condense(ctx, g, config)
	}
	if err := condense.Trainable(g); err != nil {
		return nil, err
	}
	nodes, err := f.config.Size.Of(g, condense.SettingOf(methods[0]).Inductive)
	if err != nil {
		return nil, err
	}
	return methods[0].Condense(ctx, g, nodes, f.config.Seed)
}

// warn prints the warnings of a method, each at most once.
func (c *command) warn(warnings []string) {
	for _, sentence := range warnings {
		if !slices.Contains(c.warned, sentence) {
			c.warned = append(c.warned, sentence)
			c.progress.note("%s", sentence)
		}
	}
}

// open opens the graph and fills in the defaults that depend on it.
func (c *command) open(
	ctx context.Context, name string, flags *configFlags,
) (g *graph.Graph, seconds float64, err error) {
	begun := time.Now()
	c.progress.step("opening " + format.Shown(name))
	if g, err = c.read(ctx, name); err != nil {
		return nil, 0, err
	}
	seconds = time.Since(begun).Seconds()
	for _, why := range flags.defaultsFor(g) {
		c.progress.note("%s", why)
	}
	return g, seconds, nil
}

// print writes object as JSON if --json is set, and document as text otherwise.
func (c *command) print(object any, document *report.Document) error {
	c.progress.finish()
	if c.json {
		return writeJSON(c.stdout, object)
	}
	return report.Text(c.stdout, document)
}

// dryRun prints the expected size, memory and time of a condensation without running it. It opens the graph, but does
// not read the features of a mapped file. Measuring the machine takes two seconds.
func (c *command) dryRun(ctx context.Context, name string, flags *configFlags) error {
	methods, err := flags.methods()
	if err != nil {
		return err
	}
	if _, is := methods[0].(auto.Method); is {
		c.progress.note("this is for --method cgc: auto condenses by several methods, and takes several times as long")
		flags.names[0] = flags.config.Name()
	} else if _, is := methods[0].(cgc.Config); !is {
		return usagef("--dry-run: what %s takes is not known, must be one of cgc's methods", methods[0].Name())
	}
	defer memory.Bounded(flags.config.Memory)()
	g, seconds, err := c.open(ctx, name, flags)
	if err != nil {
		return err
	}
	opened := peakRSS() // reading may need more memory than condensing
	config, err := flags.methods()
	if err != nil {
		return err
	}
	// Report mistakes in the size before the measurement.
	if _, err := bench.Predict(g, config[0].(cgc.Config), bench.Ceilings{}); err != nil {
		return flags.mistake(err)
	}
	ceilings, err := c.ceilings(ctx)
	if err != nil {
		return err
	}
	ceilings.File = openedRate(g, seconds)
	f, err := bench.Predict(g, config[0].(cgc.Config), ceilings)
	if err != nil {
		return flags.mistake(err)
	}
	if f.File == 0 {
		f.Memory = max(f.Memory, opened)
	}
	if limit, by := memory.Limit(); limit > 0 && f.Memory > limit {
		c.progress.note("%s %s: less than %s. Without --memory, condensing is done in blocks if these fit, or refused", by,
			report.Bytes(limit), report.Bytes(f.Memory))
	}
	return c.print(f, f.Document())
}

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
	job := &condenseJob{command: c}
	cmd := &cobra.Command{
		Use: "condense GRAPH -o FILE|FOLDER",
		Example: examples(
			"cgc condense my-graph/ --nodes 200 -o small.safetensors",
			"cgc condense my-graph/ --nodes 35,70,140 -o small",
			"cgc condense my-graph/ --lossless 1 -o small.safetensors",
			"cgc condense cora --ratio 2.6% --method cgc-x --partition spectral -o small.safetensors",
			"cgc condense large.safetensors --nodes 1000 --memory 2GiB -o small.pt",
			"cgc condense large.safetensors --nodes 1000 --memory 2GiB --dry-run",
			"cgc condense my-graph/ --config small.safetensors --without forgotten.csv -o small.safetensors",
			"cgc condense --embeddings embeddings.safetensors --nodes 1000 -o small.safetensors",
		),
		Short: "Condense a graph and write the result to a file",
		Long: `Condense a graph and write the result to a file. With several --nodes, write a file of each size to a folder.
The steps before the partition are then run once, and each file has the bytes of its own run.`,
		Args: func(cmd *cobra.Command, args []string) error {
			least := 1
			if job.embeddings != "" {
				least = 0
			}
			return arguments(least, "GRAPH")(cmd, args)
		},
		ValidArgsFunction: completeGraph,
		RunE:              runs(job.run),
	}
	flags := cmd.Flags()
	job.config = newMethodFlags(cmd)
	job.config.addLossless()
	severalNodes(flags, &job.config.config.Nodes, &job.nodes)
	flags.StringVarP(&job.out, "output", "o", "",
		"write the condensed graph to `FILE`, or those of several sizes to a folder")
	flags.StringVar(&job.format, "format", "",
		"write the format `NAME`: "+strings.Join(format.Stores(), ", ")+" (default by the file extension)")
	flags.StringVar(&job.embeddings, "embeddings", "",
		"use the embeddings that cgc propagate wrote to `FILE`; GRAPH is then optional")
	flags.BoolVar(&job.timed, "timings", false,
		"write the seconds of each step into the file, for cgc report; two runs then give different bytes")
	flags.BoolVar(&job.force, "force", false, "replace the file even if it is not a condensed graph")
	flags.BoolVar(&job.dry, "dry-run", false,
		"print the nodes allocated to each class and the expected memory and time; write nothing")
	return cmd
}

// condenseJob is one run of cgc condense.
type condenseJob struct {
	*command
	config            *configFlags
	nodes             []int  // the sizes, if they are given by --nodes
	out, format       string // format is "" for that of the file extension
	embeddings        string
	force, dry, timed bool
}

func (j *condenseJob) run(ctx context.Context, args []string) error {
	switch {
	case j.dry && j.embeddings != "":
		return usagef("--dry-run with --embeddings, must be one of them: what was propagated needs no plan")
	case !j.dry && j.out == "":
		return usagef("condense needs -o FILE: the file to write")
	}
	if err := j.config.read(); err != nil {
		return err
	}
	if len(j.nodes) > 1 {
		return j.severalSizes(ctx, args)
	}
	if j.dry {
		return j.dryRun(ctx, args[0])
	}
	if err := storable("-o", j.out, j.format, j.force); err != nil {
		return err
	}
	if j.embeddings != "" {
		return j.fromEmbeddings(ctx, args)
	}
	return j.condense(ctx, args[0])
}

// checkpointEvery is the interval at which the state of a long condensation is saved: an interruption loses at most
// this much work.
const checkpointEvery = time.Minute

func (j *condenseJob) condense(ctx context.Context, name string) (err error) {
	defer memory.Bounded(collected(j.config.config.Memory))()
	g, seconds, err := j.open(ctx, name, j.config)
	if err != nil {
		return err
	}
	bound, err := j.fit(g, j.config)
	if err != nil {
		return err
	}
	ctx, explain := guard(ctx, "condensing "+g.Name, inParts(g), bound)
	defer func() { err = explain(err) }()
	j.progress.step("condensing")
	watched, plan := j.watch(ctx, bound, 1e9*openedRate(g, seconds))
	kept := checkpoint.With(watched, j.out+".checkpoint", checkpointEvery)
	small, err := j.config.condense(kept, g)
	if err != nil {
		return j.config.mistake(err)
	}
	planned := plan(small.Seconds.Of("propagate"))
	r, err := j.write(ctx, j.out, g, small, seconds)
	if err != nil {
		return err
	}
	if err := checkpoint.Remove(kept); err != nil {
		return err
	}
	r.Plan = planned
	return j.tell(r)
}

// write writes the condensed graph to path. opening is how long opening the graph took.
func (j *condenseJob) write(
	ctx context.Context, path string, g *graph.Graph, small *condense.Condensed, opening float64,
) (*outcome, error) {
	small.Timed = j.timed
	if err := j.save(path, func() error { return small.SaveAs(ctx, path, j.format) }); err != nil {
		return nil, err
	}
	r := outcomeOf(g, path)
	r.add(small, opening, small.Seconds)
	return r, nil
}

func (j *condenseJob) tell(r *outcome) error {
	j.warn(r.Warnings)
	return j.print(r, r.document())
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
	if g, seconds, err = c.read(ctx, name); err != nil {
		return nil, 0, err
	}
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
func (j *condenseJob) dryRun(ctx context.Context, name string) error {
	flags := j.config
	methods, err := flags.methods()
	if err != nil {
		return err
	}
	if _, is := methods[0].(auto.Method); is {
		j.progress.note("this is for --method cgc: auto condenses by several methods, and takes several times as long")
		flags.names[0] = flags.config.Name()
	} else if _, is := methods[0].(cgc.Config); !is {
		return usagef("--dry-run: what %s takes is not known, must be one of cgc's methods", methods[0].Name())
	}
	defer memory.Bounded(flags.config.Memory)()
	g, seconds, err := j.open(ctx, name, flags)
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
	ceilings, err := j.ceilings(ctx)
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
		j.progress.note("%s %s: less than %s. Without --memory, condensing is done in blocks if these fit, or refused", by,
			report.Bytes(limit), report.Bytes(f.Memory))
	}
	return j.print(f, f.Document())
}

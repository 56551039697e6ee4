package cli

import (
	"context"
	"path/filepath"
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
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/rival"
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
		Long: `Condense a graph and write the result to a file. With several values of --nodes, write a file for each
size to a folder. The steps before the partition are then run only once, and each file is identical to that of a
separate run.`,
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
	flags.Float64Var(&job.config.lossless, "lossless", 0,
		"condense to the smallest size that loses at most `POINTS` of accuracy, as estimated on the "+
			"validation nodes; --nodes, --ratio or --label-ratio sets the largest size to try; 0 turns this off")
	severalNodes(flags, &job.config.config.Nodes, &job.nodes)
	flags.StringVarP(&job.out, "output", "o", "",
		"write the condensed graph to `FILE`, or condensed graphs of several sizes to a folder")
	flags.StringVar(&job.format, "format", "",
		"write the format `NAME`: "+strings.Join(format.Stores(), ", ")+" (default by the file extension)")
	flags.StringVar(&job.embeddings, "embeddings", "",
		"use the embeddings that cgc propagate wrote to `FILE`; GRAPH is then optional")
	flags.BoolVar(&job.timed, "timings", false,
		"write the seconds of each step into the file, for cgc report; two runs then give different bytes")
	flags.BoolVar(&job.force, "force", false, "replace the file even if it is not a condensed graph")
	flags.BoolVar(&job.dry, "dry-run", false,
		"print the nodes allocated to each class and the expected memory and time; write nothing (measuring the machine "+
			"takes two seconds and 600 MB of memory)")
	return cmd
}

type condenseJob struct {
	*command
	config            *configFlags
	nodes             []int  // the sizes, if given by --nodes
	out, format       string // format is "" if the file extension determines it
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
	if err := j.readMethod(j.config); err != nil {
		return err
	}
	if j.config.fileSize {
		j.nodes = nil
	}
	if j.dry && len(j.nodes) < 2 {
		return j.dryRun(ctx, args[0])
	}
	check := func() error { return storable(j.out, j.format, j.force) }
	if len(j.nodes) > 1 {
		check = j.checkSizes
	}
	if err := check(); err != nil {
		return err
	}
	if err := notInput(j.out, append(args, j.embeddings)...); err != nil {
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

// condense condenses to each size that the flags give, and writes a file for each.
func (j *condenseJob) condense(ctx context.Context, name string) (err error) {
	defer memory.Bounded(collected(j.config.config.Memory))()
	g, opening, err := j.open(ctx, name, j.config)
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
	files := []string{j.out}
	to := func(ctx context.Context, _ int) (*condense.Condensed, error) { return j.config.condense(ctx, g) }
	if len(j.nodes) > 1 {
		bound = 0 // the propagation plan covers only one size
		if files, to, err = j.several(ctx, g); err != nil {
			return err
		}
	}
	watched, plan := j.watch(ctx, bound, 1e9*openedRate(g, opening))
	var all sizesOutcome
	for i, file := range files {
		kept := rival.WithCheckpoint(watched, file+".checkpoint", checkpointEvery)
		small, err := to(kept, i)
		if err != nil {
			return j.config.mistake(err)
		}
		planned := plan(small.Seconds.Of("propagate"))
		r, err := j.write(ctx, file, g, small, opening)
		if err != nil {
			return err
		}
		if err := rival.RemoveCheckpoint(kept); err != nil {
			return err
		}
		r.Plan = planned
		j.warn(r.Warnings)
		all.Sizes = append(all.Sizes, r)
	}
	if len(all.Sizes) == 1 {
		return j.print(all.Sizes[0], all.Sizes[0].document())
	}
	return j.print(all, all.document())
}

// write writes the condensed graph to path. opening is how long opening the graph took.
func (j *condenseJob) write(
	ctx context.Context, path string, g *graph.Graph, small *condense.Condensed, opening float64,
) (*outcome, error) {
	small.Timed = j.timed
	if err := j.save(path, func() error { return small.SaveAs(ctx, path, j.format) }); err != nil {
		return nil, err
	}
	r := j.outcomeOf(g, path)
	r.add(small, opening, small.Seconds)
	return r, nil
}

// condense condenses g by the chosen method.
func (f *configFlags) condense(ctx context.Context, g *graph.Graph) (*condense.Condensed, error) {
	method := f.methods()[0]
	if config, is := method.(cgc.Config); is { // so that a ratio is stored as given, not as a number of nodes
		return cgc.Condense(ctx, g, config)
	}
	if err := condense.Trainable(g); err != nil {
		return nil, err
	}
	nodes, err := f.config.Size.Of(g, condense.SettingOf(method).Inductive)
	if err != nil {
		return nil, err
	}
	small, err := method.Condense(ctx, g, nodes, f.config.Seed)
	if err == nil && f.lossless == 0 { // with it, auto chooses the size
		err = condense.CheckResult(method, g, nodes, small)
	}
	return small, err
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
	if g, seconds, err = c.read(ctx, name); err == nil {
		c.setDefaults(flags, g)
	}
	return g, seconds, err
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
	switch method := flags.built[0].(type) {
	case cgc.Config:
		flags.config.Variant = method.Variant
	case auto.Method:
		j.progress.note("this is the plan for --method cgc: auto runs several methods, which takes several times as long")
		flags.names[0] = flags.config.Name()
	default:
		return usagef("--dry-run: the memory that %s needs is unknown, must be one of cgc's methods", method.Name())
	}
	defer memory.Bounded(flags.config.Memory)()
	g, seconds, err := j.open(ctx, name, flags)
	if err != nil {
		return err
	}
	if flags.lossless > 0 {
		j.progress.note("this is the plan for the largest size that --lossless may choose while it condenses")
	}
	opened := peakRSS() // reading may need more memory than condensing
	// Report mistakes in the size before the measurement.
	if _, err := bench.Predict(g, flags.config, bench.Ceilings{}); err != nil {
		return flags.mistake(err)
	}
	if flags.config.Memory > 0 {
		if err := flags.enough(g, flags.config); err != nil {
			return err
		}
	}
	ceilings, err := j.ceilings(ctx)
	if err != nil {
		return err
	}
	ceilings.File = openedRate(g, seconds)
	f, err := bench.Predict(g, flags.config, ceilings)
	if err != nil {
		return flags.mistake(err)
	}
	if f.File == 0 {
		f.Memory = max(f.Memory, opened)
	}
	if limit, by := memory.Limit(); limit > 0 && f.Memory > limit {
		j.progress.note("%s %s: less than %s. Without --memory, condensing works in blocks if these fit, and fails otherwise",
			by, report.Bytes(limit), report.Bytes(f.Memory))
	}
	return j.print(f, f.Document())
}

// sizesOutcome is the result of a condensation to several sizes.
type sizesOutcome struct {
	// Sizes has an outcome for each size, in the order of --nodes.
	Sizes []*outcome `json:"sizes"`
}

// checkSizes checks the flags for several sizes, and makes the folder of -o.
func (j *condenseJob) checkSizes() error {
	with := ""
	switch {
	case j.dry:
		with = "--dry-run"
	case j.embeddings != "":
		with = "--embeddings"
	case j.config.lossless > 0:
		with = "--lossless"
	case j.format != "":
		with = "--format"
	default:
		if _, err := format.StoreFor(j.out, ""); err == nil { // the file extension of a condensed graph
			return usagef("-o %s with %d sizes, must be a folder for %s files", j.out, len(j.nodes), extension)
		}
		return makeFolder("-o", j.out)
	}
	return usagef("--nodes with %d sizes and %s, must be one size", len(j.nodes), with)
}

// several returns the path of a file in the folder of -o for each size of --nodes, and a function that condenses to the
// size with the given index. Work that all sizes share is done here.
func (j *condenseJob) several(ctx context.Context, g *graph.Graph) (
	files []string, to func(ctx context.Context, size int) (*condense.Condensed, error), err error,
) {
	method, seed := j.config.methods()[0], j.config.config.Seed
	for _, n := range j.nodes {
		file := filepath.Join(j.out, defaultName(g, n))
		if err := storable(file, "", j.force); err != nil {
			return nil, nil, err
		}
		if c, is := method.(condense.Checker); is {
			if err := c.Check(g, n); err != nil {
				return nil, nil, j.config.mistake(err)
			}
		}
		files = append(files, file)
	}
	of := func(ctx context.Context, nodes int) (*condense.Condensed, error) {
		return method.Condense(ctx, g, nodes, seed)
	}
	if preparer, is := method.(condense.Preparer); is {
		prepared, err := preparer.Prepare(ctx, g)
		if err != nil {
			return nil, nil, j.config.mistake(err)
		}
		of = func(ctx context.Context, nodes int) (*condense.Condensed, error) {
			return prepared.Condense(ctx, method, nodes, seed)
		}
	}
	return files, func(ctx context.Context, size int) (*condense.Condensed, error) {
		small, err := of(ctx, j.nodes[size])
		if err == nil {
			err = condense.CheckResult(method, g, j.nodes[size], small)
		}
		return small, err
	}, nil
}

// document shows the outcome as a table with a row for each size.
func (s sizesOutcome) document() *report.Document {
	d := &report.Document{Title: "condense " + s.Sizes[0].Graph}
	t := &report.Table{Columns: report.Columns("nodes", "edges", "ratio", "method", "file")}
	for _, r := range s.Sizes {
		how := method(r.Config)
		if r.Choice != nil {
			how = r.Choice.Chosen
		}
		t.Row(report.Integer(r.Condensed.Nodes), report.Integer(r.Condensed.Edges), ratio(r.Condensed.Nodes, r.Nodes),
			report.Word(how), report.Word(r.File))
	}
	d.Add(t)
	return d
}

package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/overview"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

func (c *command) runCommand() *cobra.Command {
	job := &runJob{command: c}
	cmd := &cobra.Command{
		Use: "run [GRAPH]",
		Example: examples(
			"cgc run",
			"cgc run cora --nodes 70 --models gcn,sgc,sage,appnp,cheby,gat",
			"cgc run my-graph/ --ratio 1% --seeds 3",
			"cgc run cora --config cora-70.json",
		),
		Short: "Condense a graph, train on the result, test on the original and compare with the full graph",
		Long: `Condense a graph with several seeds, train models on each condensed graph and test them on the original graph.
Train the same models on the full graph for comparison. Without GRAPH, use the built-in graph demo.

The condensed graph of the first seed is written to GRAPH-NODES` + extension + ` in the current folder, or to the file
given by -o. An existing file is replaced only if it is a condensed graph.`,
		Args:              arguments(0, "GRAPH"),
		ValidArgsFunction: completeGraph,
		RunE:              runs(job.run),
	}
	job.config = newMethodFlags(cmd)
	job.training = newTrainingFlags(cmd, "number of condensations, each with its own seed and training")
	job.training.addWhole(cmd, "")
	cmd.Flags().StringVarP(&job.out, "output", "o", "", "write the condensed graph of the first seed to `FILE`")
	cmd.Flags().BoolVar(&job.force, "force", false, "replace the file even if it is not a condensed graph")
	addReport(cmd, &job.page)
	return cmd
}

type runJob struct {
	*command
	config   *configFlags
	training *trainingFlags
	out      string
	force    bool
	page     string
}

func (j *runJob) run(ctx context.Context, args []string) (err error) {
	name := "demo"
	if len(args) > 0 {
		name = args[0]
	}
	if err := j.check(); err != nil {
		return err
	}
	if err := notInput(j.out, name); err != nil {
		return err
	}
	j.training.amend(j.config)
	defer memory.Bounded(collected(j.config.config.Memory))()
	g, seconds, err := j.open(ctx, name, j.config)
	if err != nil {
		return err
	}
	if !j.said("whole") && g.Nodes() > smallWhole {
		j.progress.note("no model is trained on the full graph: with %s nodes this may take a long time "+
			"(--whole 1 trains one)",
			report.Count(g.Nodes()))
	}
	nodes, err := j.config.config.NodesFor(g)
	if err != nil {
		return j.config.mistake(err)
	}
	if j.out == "" {
		j.out = defaultName(g, nodes)
		if err := storable(j.out, "", j.force); err != nil {
			return err
		}
	}
	blocks, err := j.fit(g, j.config)
	if err != nil {
		return err
	}
	ctx, explain := guard(ctx, "working on "+g.Name, inParts(g), blocks)
	defer func() { err = explain(err) }()
	config := j.config.config
	bound, rest := testingBound(config.Memory, g, nodes, j.training.config.Hidden)
	plan := experiment.Plan{
		Method: j.config.methods()[0], Size: config.Size, Training: j.training.config, Seed: config.Seed,
		Seeds: j.training.seeds, Models: j.training.models, Whole: j.wholeOf(j.training, g), Memory: bound,
	}
	tests := j.newTests(bound, plan.Training, g, plan.Seeds)
	plan.Planned = tests.plan
	j.progress.step("condensing and training")
	result, err := plan.Run(ctx, g)
	if err != nil {
		return rest.limited(j.config.mistake(err), g)
	}
	if err := j.save(j.out, func() error { return result.Condensed[0].Save(ctx, j.out) }); err != nil {
		return err
	}
	r := j.outcomeOf(g, j.out)
	steps := mapped(result.Condensed, func(c *cgc.Condensed) condense.Seconds { return c.Seconds })
	mean := bench.Combine(steps, func(values []float64) float64 { return stat.Mean(values, nil) })
	r.add(result.Condensed[0], seconds, mean)
	r.Over, r.Results, r.Whole = overCondensations, accuracies(result.Small), accuracies(result.Whole)
	r.Report, r.Testing = j.page, tests.measured()
	for _, small := range result.Condensed {
		j.warn(small.Warnings)
	}
	if j.page != "" {
		if err := j.report(ctx, name, g, result, r.PeakRSS); err != nil {
			return err
		}
	}
	return j.print(r, r.document())
}

// report writes a page that shows the condensed graph of the first seed and the accuracies over all seeds.
func (j *runJob) report(ctx context.Context, name string, g *graph.Graph, result *experiment.Result,
	peak int64) error {
	s := overview.Subject{
		Graph: g, Condensed: result.Condensed[0], Small: result.Small, Whole: result.Whole, Over: overCondensations,
		Peak: peak, Command: overview.CommandLine(append([]string{"cgc"}, j.args...)...), Source: name,
		Reading: j.reading(), File: j.out,
	}
	d, err := j.document(ctx, &s, true)
	if err != nil {
		return err
	}
	return j.writePage(j.page, d)
}

// check checks the command line before anything is opened.
func (j *runJob) check() error {
	if err := cmp.Or(j.readMethod(j.config), j.training.check(), checkReport(j.page)); err != nil || j.out == "" {
		return err
	}
	return storable(j.out, "", j.force)
}

// defaultName returns the default file name of a condensed graph: NAME-N.safetensors.
func defaultName(g *graph.Graph, nodes int) string {
	return overview.FileName(g.Name, nodes) + extension
}

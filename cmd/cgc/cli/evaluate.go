package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/internal/memory"
)

func (c *command) evaluateCommand() *cobra.Command {
	job := &evaluateJob{transfer: transfer{command: c}}
	cmd := &cobra.Command{
		Use: "evaluate FILE --on GRAPH",
		Example: examples(
			"cgc evaluate small.safetensors --on my-graph/",
			"cgc evaluate cora-70.safetensors --on cora --models gcn,gat --seeds 10 --json",
			"cgc evaluate small.safetensors --on large.safetensors --memory 6GB --dry-run",
		),
		Short: "Train on a condensed graph and test on the original",
		Long: `Train models on the condensed graph in FILE and test them on the graph it was made from.
The standard deviation is over training runs on this one condensed graph; cgc run also varies the condensation.`,
		Args:              arguments(1, "FILE"),
		ValidArgsFunction: files("safetensors"),
		RunE:              runs(job.run),
	}
	flags := inOrder(cmd)
	job.addGraph(flags, "original `GRAPH` to test on")
	job.training = newTrainingFlags(cmd, "number of training runs of each model")
	flags.Uint64Var(&job.seed, "seed", 0, "random seed")
	flags.Var(size(&job.bound), "memory",
		"memory limit for testing, such as 2GiB or 500MB; cgc stops if a model needs more (default none)")
	flags.BoolVar(&job.dry, "dry-run", false,
		"print the memory and time that testing needs within --memory; train nothing")
	return cmd
}

type evaluateJob struct {
	transfer
	bound int64
	dry   bool
}

func (j *evaluateJob) run(ctx context.Context, args []string) (err error) {
	if j.on == "" {
		return usagef("evaluate needs --on GRAPH: the original graph to test on")
	}
	if err := j.training.check(); err != nil {
		return err
	}
	defer memory.Bounded(collected(j.bound))()
	if err := j.load(ctx, args[0]); err != nil {
		return err
	}
	if err := j.compare(); err != nil {
		return err
	}
	bound, rest := testingBound(j.bound, j.graph, j.small.Nodes(), j.training.config.Hidden)
	evaluation := j.evaluation(bound)
	tests := j.newTests(bound, j.training.config, j.graph, j.training.seeds)
	evaluation.Planned = tests.plan
	if j.dry {
		if err := evaluation.Plan(ctx, j.small, j.graph); err != nil {
			return rest.limited(err, j.graph)
		}
		return j.print(tests, tests.document())
	}
	ctx, explain := guard(ctx, "testing on "+j.graph.Name, inParts(j.graph), bound)
	defer func() { err = explain(err) }()
	j.progress.step("training")
	scores, err := evaluation.Run(ctx, j.small, j.graph)
	if err != nil {
		return rest.limited(err, j.graph)
	}
	r := j.outcome(args[0], scores)
	r.evaluated, r.Testing = true, tests.measured()
	return j.print(r, r.document())
}

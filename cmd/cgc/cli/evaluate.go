package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

func (c *command) evaluateCommand() *cobra.Command {
	var (
		training *trainingFlags
		on       string
		seed     uint64
		bound    int64
		dry      bool
		other    bool
	)
	cmd := &cobra.Command{
		Use: "evaluate FILE --on GRAPH",
		Example: examples(
			"cgc evaluate small.safetensors --on my-graph/",
			"cgc evaluate cora-70.safetensors --on cora --models gcn,gat --seeds 10 --json",
			"cgc evaluate small.safetensors --on large.safetensors --memory 6GB --dry-run",
		),
		Short: "Train on a condensed graph and test on the original",
		Long: `Train models on the condensed graph in FILE and test them on the graph it was made from.
The standard deviation is over trainings on this one condensed graph; cgc run also varies the condensation.`,
		Args:              arguments(1, "FILE"),
		ValidArgsFunction: files("safetensors"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if on == "" {
				return usagef("evaluate needs --on GRAPH: the original graph to test on")
			}
			if err := training.check(); err != nil {
				return err
			}
			defer memory.Bounded(collected(bound))()
			return c.evaluate(cmd.Context(), args[0], on, training, seed, bound, dry, other)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&on, "on", "", "original `GRAPH` to test on")
	addOtherGraph(cmd.Flags(), &other)
	training = newTrainingFlags(cmd, "number of trainings of each model")
	cmd.Flags().Uint64Var(&seed, "seed", 0, "random seed")
	cmd.Flags().Var(size(&bound), "memory",
		"memory limit for testing, as 2GiB or 500MB; models that need more are an error (default none)")
	cmd.Flags().BoolVar(&dry, "dry-run", false,
		"print the memory and time that testing needs within --memory; train nothing")
	return cmd
}

func (c *command) evaluate(
	ctx context.Context, file, on string, training *trainingFlags, seed uint64, memory int64, dry, other bool,
) error {
	small, err := cgc.Load(file)
	if err != nil {
		return err
	}
	g, seconds, err := c.read(ctx, on)
	if err != nil {
		return err
	}
	compared, err := c.target(small, g, other)
	if err != nil {
		return err
	}
	bound, rest := testingBound(memory, g, small.Nodes(), training.config.Hidden)
	evaluation := experiment.Evaluation{
		Models: training.models, Training: training.config, Trainings: training.seeds, Seed: seed,
		Memory: bound, OtherGraph: other,
	}
	tests := c.newTests(bound, training.config, g, training.seeds)
	evaluation.Planned = tests.plan
	if dry {
		if err := evaluation.Plan(ctx, small, g); err != nil {
			return rest.limited(err, g)
		}
		return c.print(tests, tests.document())
	}
	c.progress.step("training")
	scores, err := evaluation.Run(ctx, small, g)
	if err != nil {
		return rest.limited(err, g)
	}
	r := outcomeOf(g, file)
	r.add(small, seconds, small.Seconds) // small.Seconds come from the saved file
	r.evaluated, r.Over, r.Results = true, overTrainings, accuracies(scores)
	r.OtherGraph = compared
	r.Testing = tests.measured()
	return c.print(r, r.document())
}

// addOtherGraph adds the flag --other-graph, which allows a graph other than the one that the file was condensed from.
func addOtherGraph(flags *pflag.FlagSet, allowed *bool) {
	flags.BoolVar(allowed, "other-graph", false,
		"allow a graph or a split other than the one FILE was condensed from; the output then says so")
}

// target compares g with the graph that small was made from. If they differ, it returns the difference if that is
// allowed, and otherwise an error. It prints a note about differences, and about comparisons that are impossible.
func (c *command) target(small *condense.Condensed, g *graph.Graph, allowed bool) (*condense.Target, error) {
	t, err := small.CheckTarget(g)
	if err != nil {
		return nil, err
	}
	if note := t.Note(); note != "" {
		c.warn([]string{note})
	}
	if t.Err() == nil {
		return nil, nil
	}
	if !allowed {
		return nil, fmt.Errorf("%s; --other-graph allows it", t.Reason())
	}
	c.warn([]string{t.Reason()})
	return &t, nil
}

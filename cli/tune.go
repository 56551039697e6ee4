package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/report"
	"github.com/graph-condensation/cgc/tune"
)

func (c *command) tuneCommand() *cobra.Command {
	job := &tuneJob{command: c, methods: []cgc.Variant{cgc.CGC, cgc.CGCX}}
	cmd := &cobra.Command{
		Use: "tune GRAPH",
		Example: examples(
			"cgc tune cora --nodes 70 --trials 200 -o best.json",
			"cgc tune my-graph/ --ratio 1% --seconds 60 --models gcn,sage",
		),
		Short: "Search for a configuration that does better on the validation nodes",
		Long: `Rank many configurations by a closed form on the validation nodes. Confirm the best of them by training.
Write the winner to a file that run and condense take with --config. The defaults stay unless another configuration
is better by more than noise. Labels of test nodes are never read. With --trials and without --seconds, the same
command gives the same file.

The search begins with the parameters of the flags and of the file of --config. Those of flags stay as they are.

` + priorsHelp() + `
If it is interrupted, it writes and prints the best so far, and exits with code 130.`,
		Args:              arguments(1, "GRAPH"),
		ValidArgsFunction: completeGraph,
		RunE: func(cmd *cobra.Command, args []string) error {
			return job.run(cmd, args[0])
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&job.trials, "trials", 0,
		"number of configurations to rank (default 200, or what --seconds leave time for)")
	flags.Float64Var(&job.seconds, "seconds", 0,
		"bound on the whole time; about a third is for ranking, the rest for training")
	flags.StringVarP(&job.out, "output", "o", "", "write the configuration to `FILE` (default GRAPH-NODES.json)")
	flags.BoolVar(&job.force, "force", false, "replace the file even if it is not a configuration")
	addSome(cmd, &job.methods, "methods", cgc.Variants(), "methods to choose from")
	job.config = newConfigFlags(cmd)
	job.training = newTrainingFlags(cmd, "")
	flags.Lookup("seeds").Hidden = true  // confirmation decides how many
	flags.Lookup("method").Hidden = true // the same as --methods with one
	addReport(cmd, &job.page)
	return cmd
}

// priorsHelp says which configurations are ranked among the first, and why.
func priorsHelp() string {
	text := "Priors are configurations that did well on other graphs. They are ranked among the first. After that\n" +
		"they have the same bar as all others.\n"
	for _, p := range tune.Priors() {
		text += fmt.Sprintf("  %s: %s (did well on %s)\n", p.Name, p, strings.Join(p.FoundOn, ", "))
	}
	return text
}

// usualTrials is the number of configurations that are ranked by default. Some hundred validation nodes can hardly tell
// more of them apart.
const usualTrials = 200

// tuneJob is one cgc tune.
type tuneJob struct {
	*command
	config   *configFlags
	training *trainingFlags
	methods  []cgc.Variant
	trials   int
	seconds  float64
	out      string
	force    bool
	page     string
}

func (j *tuneJob) run(cmd *cobra.Command, name string) (err error) {
	begun := time.Now()
	ctx := cmd.Context()
	if err := j.check(cmd); err != nil {
		return err
	}
	defer memory.Bounded(collected(j.config.config.Memory))()
	g, _, err := j.open(ctx, name, j.config)
	if err != nil {
		return err
	}
	nodes, err := j.config.config.NodesFor(g)
	if err != nil {
		return j.config.mistake(err)
	}
	if j.out == "" {
		j.out = strings.TrimSuffix(defaultName(g, nodes), extension) + configExtension
		if err := writable("-o", j.out, configExtension, j.force, isConfig); err != nil {
			return err
		}
	}
	space := j.space(cmd)
	blocks, err := j.within(g, space)
	if err != nil {
		return err
	}
	bound, rest := testingBound(j.config.config.Memory, g, nodes, j.training.config.Hidden)
	ctx, explain := guard(ctx, "searching on "+g.Name, inParts(g), blocks)
	defer func() { err = explain(err) }()
	search := tune.Search{
		Base:  tune.Candidate{Config: j.config.config, Weighted: j.training.config.Weighted},
		Space: space, Models: j.training.models, Training: j.training.config, Trials: j.trials,
		Memory: bound,
	}
	if j.seconds > 0 {
		search.Seconds = max(j.seconds-time.Since(begun).Seconds(), 0.001)
	}
	tuned, err := search.Run(ctx, g)
	if tuned == nil || len(tuned.Ranked) == 0 {
		return rest.limited(j.config.mistake(errors.Join(err, context.Cause(ctx))), g)
	}
	if err := j.save(j.out, func() error { return writeConfig(j.out, tuned.Best.Candidate) }); err != nil {
		return err
	}
	r := tune.NewOutcome(g, modelNames(j.training.models), tuned)
	r.Seconds, r.File = time.Since(begun).Seconds(), j.out
	r.Next = j.next(name)
	if err := j.report(ctx, name, g, r); err != nil {
		return err
	}
	if printed := j.print(r, r.Document()); printed != nil {
		return printed
	}
	return err
}

// within compares what the search takes with what the system allows, as fit does, for a candidate with the most hops.
// It returns the bound of fit.
func (j *tuneJob) within(g *graph.Graph, space []tune.Dimension) (bound int64, err error) {
	most := *j.config
	if slices.ContainsFunc(space, func(d tune.Dimension) bool { return d.Name == "hops" }) {
		most.config.Hops = max(most.config.Hops, tune.MostHops)
	}
	bound, err = j.fit(g, &most)
	j.config.config.Engine = most.config.Engine
	return bound, err
}

// report writes a page that shows the search, and the graph that its configuration condenses. No model is trained for
// it: a search reads no labels of test nodes.
func (j *tuneJob) report(ctx context.Context, name string, g *graph.Graph, r *tune.Outcome) error {
	if j.page == "" {
		return nil
	}
	var more []report.Block
	if ctx.Err() == nil { // a search that was stopped has a page too, but no time for this
		var err error
		more, err = j.show(ctx, shown{name: name, graph: g, method: r.Config, nodes: r.Condensed, seed: r.Config.Seed})
		if err != nil {
			return err
		}
	}
	return j.writeReport(j.page, "Search on "+g.Name, r.Picture(), more)
}

// check checks the command line before anything is opened.
func (j *tuneJob) check(cmd *cobra.Command) error {
	if err := j.config.read(); err != nil {
		return err
	}
	if err := j.training.check(); err != nil {
		return err
	}
	j.training.amend(j.config)
	if cmd.Flags().Changed("method") {
		j.methods = []cgc.Variant{j.config.config.Variant}
	}
	if !slices.Contains(j.methods, j.config.config.Variant) {
		j.config.config.Variant = j.methods[0]
	}
	switch {
	case j.said(cmd, "trials") && j.trials < 1:
		return usagef("--trials %d, want at least 1", j.trials)
	case j.said(cmd, "seconds") && !(j.seconds > 0):
		return usagef("--seconds %g, want above 0", j.seconds)
	case j.trials == 0 && j.seconds == 0:
		j.trials = usualTrials
	}
	if err := checkReport(j.page); err != nil {
		return err
	}
	if j.out == "" {
		return nil
	}
	return writable("-o", j.out, configExtension, j.force, isConfig)
}

// space is what is varied: all but the parameters that the command line fixes.
func (j *tuneJob) space(cmd *cobra.Command) []tune.Dimension {
	fixed := func(d tune.Dimension) bool { return d.Name != "method" && cmd.Flags().Changed(d.Name) }
	return slices.DeleteFunc(tune.Space(j.methods...), fixed)
}

// next is the command that tries the configuration.
func (j *tuneJob) next(name string) string {
	command := "cgc run " + name + " --config " + j.out
	if models := j.training.models.String(); models != "gcn" {
		command += " --models " + models
	}
	return command
}

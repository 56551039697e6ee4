package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
)

type trainingFlags struct {
	models []gnn.Model
	config gnn.Config
	seeds  int
	least  int // minimum number of seeds
	whole  int // number of training runs on the full graph
}

// smallWhole is the largest number of nodes for which models are also trained on the full graph by default, because
// that takes only seconds.
const smallWhole = 20_000

// addWhole adds the flag --whole to cmd. of says what is trained, in the help text.
func (t *trainingFlags) addWhole(cmd *cobra.Command, of string) {
	cmd.Flags().IntVar(&t.whole, "whole", 0,
		"number of training runs "+of+"on the full graph; 0 for none (default as --seeds up to 20,000 nodes, else 0)")
}

// wholeOf returns the number of training runs on the full graph g: --whole, or else its default for g.
func (c *command) wholeOf(t *trainingFlags, g *graph.Graph) int {
	if !c.said("whole") && g.Nodes() <= smallWhole {
		return t.seeds
	}
	return t.whole
}

// newTrainingFlags adds the flags for training to cmd. seeds is the help text of --seeds.
func newTrainingFlags(cmd *cobra.Command, seeds string) *trainingFlags {
	t := &trainingFlags{models: []gnn.Model{gnn.GCN()}, config: gnn.Defaults(), least: 1}
	// The paper uses no weights, and gnn.Defaults follows it. With weights, the validation accuracy rises on four of the
	// five graphs measured and falls by 0.2 on the fifth (docs/notes/2026-11-defaults.md).
	t.config.Weighted = true
	flags := cmd.Flags()
	flags.Var(models(&t.models), "models",
		"models to train: "+strings.Join(gnn.Names(), ", ")+"; gcn:layers=3 sets a parameter")
	flags.IntVar(&t.seeds, "seeds", 5, seeds)
	flags.IntVar(&t.config.Epochs, "epochs", t.config.Epochs, "number of training epochs")
	flags.IntVar(&t.config.Hidden, "hidden", t.config.Hidden, "number of hidden units")
	flags.Float64Var(&t.config.Dropout, "dropout", t.config.Dropout, "dropout probability")
	flags.Float64Var(&t.config.InputDropout, "input-dropout", t.config.InputDropout,
		"dropout probability of the input features")
	flags.Float64Var(&t.config.LearningRate, "lr", t.config.LearningRate, "learning rate")
	flags.Float64Var(&t.config.WeightDecay, "weight-decay", t.config.WeightDecay, "weight decay")
	flags.BoolVar(&t.config.Weighted, "weighted", t.config.Weighted,
		"weight each condensed node by the number of its source nodes; =false weights all equally, as in the paper")
	flags.IntVar(&t.config.ValidateEvery, "validate-every", t.config.ValidateEvery,
		"number of epochs between validations; 0 chooses it by the size of the graph")
	return t
}

// amend applies the training settings of the --config file that the command line does not override.
func (t *trainingFlags) amend(from *configFlags) {
	if from.training != nil && from.training.Weighted != nil && !from.flags.Changed("weighted") {
		t.config.Weighted = *from.training.Weighted
	}
}

// check returns an error that lists all invalid values by flag.
func (t *trainingFlags) check() error {
	var lines []string
	for _, err := range []error{
		atLeast("seeds", t.seeds, t.least), atLeast("whole", t.whole, 0), t.config.Validate(),
	} {
		if err != nil {
			lines = append(lines, outOfRange(err, trainingFlag).Error())
		}
	}
	if len(lines) > 0 {
		return usage{strings.Join(lines, "; ")}
	}
	return nil
}

// trainingFlag returns the flag of a parameter of training.
func trainingFlag(field string) string {
	if field == "learning rate" {
		return "--lr"
	}
	return "--" + strings.ReplaceAll(field, " ", "-")
}

// transfer holds the flags of a command that trains on a condensed graph and tests on the original, and the two graphs.
type transfer struct {
	*command
	training *trainingFlags
	on       string // the name of the original graph
	other    bool
	seed     uint64

	small     *condense.Condensed
	graph     *graph.Graph
	opening   float64          // seconds that opening the graph took
	different *condense.Target // how the graph differs from the one that was condensed; nil if it does not
}

// addGraph adds the flags for the graph. on is the help text of --on.
func (t *transfer) addGraph(flags *pflag.FlagSet, on string) {
	flags.StringVar(&t.on, "on", "", on)
	flags.BoolVar(&t.other, "other-graph", false,
		"allow a graph or a split other than the one FILE was condensed from; the output then says so")
}

// load reads both graphs.
func (t *transfer) load(ctx context.Context, file string) (err error) {
	if t.small, err = cgc.Load(file); err != nil {
		return err
	}
	t.graph, t.opening, err = t.read(ctx, t.on)
	return err
}

// compare compares the graph with the one that was condensed. A difference is an error unless --other-graph allows it.
func (t *transfer) compare() (err error) {
	t.different, err = t.target(t.small, t.graph, t.other)
	return err
}

// evaluation returns the training runs that the flags ask for, tested within a memory limit.
func (t *transfer) evaluation(memory int64) experiment.Evaluation {
	return experiment.Evaluation{
		Models: t.training.models, Training: t.training.config, Trainings: t.training.seeds, Seed: t.seed, Memory: memory,
		OtherGraph: t.other,
	}
}

// outcome returns the outcome of training runs on the condensed graph in file.
func (t *transfer) outcome(file string, scores []experiment.Score) *outcome {
	r := t.outcomeOf(t.graph, file)
	r.add(t.small, t.opening, t.small.Seconds) // the seconds come from the file
	if r.Results, r.OtherGraph = accuracies(scores), t.different; len(scores) > 0 {
		r.Over = overTrainings
	}
	return r
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
		hint := ""
		known, _, err := small.Matched(g)
		switch {
		case err != nil || known.Features() != small.X.Cols: // no model of one graph accepts the other
		case known.Classes > small.Classes && !t.Known:
			hint = fmt.Sprintf("; if a class has no condensed node, the metadata (origin in Python) must count it: "+
				"\"classes\": \"%d\"", known.Classes)
		case known.Classes == small.Classes && c.cmd.Flags().Lookup("other-graph") != nil:
			hint = "; --other-graph allows it"
		}
		return nil, fmt.Errorf("%s%s", t.Reason(), hint)
	}
	c.warn([]string{t.Reason()})
	return &t, nil
}

// accuracies turns scores into rows of an outcome.
func accuracies(scores []experiment.Score) []modelScore {
	var lines []modelScore
	for _, s := range scores {
		a := modelScore{Model: s.Model, Seeds: len(s.Test), Seconds: s.Seconds, Metrics: s.Metrics}
		a.ValMean, a.ValStd = s.ValMean()
		a.TestMean, a.TestStd = s.TestMean()
		a.TestCI95 = s.TestCI95()
		lines = append(lines, a)
	}
	return lines
}

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/findings"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/overview"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/experiment/tune"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/distill"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/object"
)

func (c *command) tuneCommand() *cobra.Command {
	job := &tuneJob{command: c}
	cmd := &cobra.Command{
		Use: "tune GRAPH",
		Example: examples(
			"cgc tune cora --nodes 70 --trials 200 -o best.json",
			"cgc tune my-graph/ --ratio 1% --seconds 60 --models gcn,sage",
		),
		Short: "Search for a configuration with a higher validation accuracy",
		Long: `Start from the configuration that auto chooses for the graph. Rank many other configurations of cgc,
cgc-x and cgc-d on the validation nodes with fast surrogates of GNNs, and train GNNs with the best of them. Write the
winner to a file that run and condense read with --config. The configuration of auto wins unless another is better by
more than the noise. If the time ends before any training, the best-ranked one is written. Labels of test nodes are
never read. With --trials and without --seconds, the same command writes the same file.

A parameter or method that a flag sets is fixed. All others are searched, starting from the defaults or from the file of
--config.

Ctrl-C interrupts the search: it keeps the best configuration so far and exits with code 130.`,
		Args:              arguments(1, "GRAPH"),
		ValidArgsFunction: completeGraph,
		RunE:              runs(job.run),
	}
	flags := cmd.Flags()
	flags.IntVar(&job.search.Trials, "trials", 0,
		"number of configurations to rank (default 200, or as many as --seconds allows)")
	flags.Float64Var(&job.search.Seconds, "seconds", 0,
		"time limit in seconds: about a third for ranking, the rest for training (default none)")
	flags.StringVarP(&job.out, "output", "o", "", "write the configuration to `FILE` (default GRAPH-NODES.json)")
	flags.BoolVar(&job.force, "force", false, "replace the file even if it is not a configuration")
	job.config = methodFlags(cmd, tunable(), auto.New().Name(), "auto compares configurations of cgc, cgc-x and cgc-d "+
		"with what auto chooses, or with cgc if a flag sets a parameter of cgc")
	job.training = newTrainingFlags(cmd, "")
	flags.Lookup("seeds").Hidden = true // the confirmation determines the number
	addReport(cmd, &job.page)
	return cmd
}

// tunable returns the values of --method.
func tunable() []string { return append([]string{auto.New().Name()}, tune.Methods()...) }

// usualTrials is the default number of configurations to rank. A few hundred validation nodes can hardly distinguish
// more configurations.
const usualTrials = 200

// tuneJob is one run of cgc tune.
type tuneJob struct {
	*command
	config   *configFlags
	training *trainingFlags
	search   tune.Search // the settings from the flags
	out      string
	force    bool
	page     string
}

func (j *tuneJob) run(ctx context.Context, args []string) (err error) {
	begun, name := time.Now(), args[0]
	if err := j.check(); err != nil {
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
	space := j.space()
	blocks, err := j.within(g, space)
	if err != nil {
		return err
	}
	bound, rest := testingBound(j.config.config.Memory, g, nodes, j.training.config.Hidden)
	ctx, explain := guard(ctx, "searching on "+g.Name, inParts(g), blocks)
	defer func() { err = explain(err) }()
	search := j.search
	search.Base, search.Nodes, search.Seed = j.base(), nodes, j.config.config.Seed
	search.Space, search.Models, search.Training, search.Memory = space, j.training.models, j.training.config, bound
	if search.Seconds > 0 {
		search.Seconds = max(search.Seconds-time.Since(begun).Seconds(), 0.001)
	}
	j.progress.step("searching")
	tuned, err := search.Run(ctx, g)
	if err == nil && ctx.Err() == nil && len(tuned.Ranked) == 0 {
		return fmt.Errorf("--seconds %g: no configuration could be ranked in this time, must be more", j.search.Seconds)
	}
	if tuned == nil || len(tuned.Ranked) == 0 {
		return rest.limited(j.config.mistake(errors.Join(err, context.Cause(ctx))), g)
	}
	r, failed := findings.OfSearch(g, search, tuned, j.config.config.Memory)
	if failed != nil {
		return failed
	}
	r.Seconds, r.File, r.Next = time.Since(begun).Seconds(), j.out, j.next(name, g)
	if err := j.write(r); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	best := shown{name: name, graph: g, method: tuned.Best.InSetting(), nodes: nodes, seed: search.Seed}
	if err := j.report(ctx, best, r); err != nil {
		return err
	}
	if printed := j.print(r, r.Document()); printed != nil {
		return printed
	}
	return err
}

// base returns the configuration that the search starts from.
func (j *tuneJob) base() tune.Candidate {
	c := tune.Candidate{
		Method: j.config.built[0], Setting: j.config.config.Setting(), Weighted: j.training.config.Weighted,
	}
	switch m := j.config.methods()[0].(type) {
	case auto.Method:
		c.Method = m
	case cgc.Config:
		m.NormalizeFeatures, m.Standardize, m.Inductive, m.Causal = false, false, false, false // Setting has them
		c.Method = m
	}
	return c
}

// write writes the configuration found, in the form that --config reads.
func (j *tuneJob) write(r *findings.Search) error {
	config, err := object.Parse(r.Config)
	if err != nil {
		return err
	}
	training, err := json.Marshal(trainingFile{&r.Weighted})
	if err != nil {
		return err
	}
	text := append(config, object.Field{Key: "training", Value: training}).Bytes()
	return j.replace(j.out, func(w io.Writer) error { return writeJSON(w, text) })
}

// within applies fit to a search, for the candidate of cgc with the most hops.
func (j *tuneJob) within(g *graph.Graph, space []tune.Dimension) (bound int64, err error) {
	most := *j.config
	if _, own := j.config.built[0].(cgc.Config); !own && slices.Contains(j.methods(), string(cgc.CGC)) {
		most.names, most.built = []string{string(cgc.CGC)}, []condense.Method{cgc.Defaults()}
	}
	if slices.ContainsFunc(space, func(d tune.Dimension) bool { return d.Name == "hops" }) {
		most.config.Hops = max(most.config.Hops, tune.MostHops)
	}
	bound, err = j.fit(g, &most)
	j.config.config.Engine = most.config.Engine
	return bound, err
}

// report writes a page that shows the search, and a graph condensed with the configuration found. It trains no model,
// because a search must not read labels of test nodes.
func (j *tuneJob) report(ctx context.Context, best shown, r *findings.Search) error {
	if j.page == "" {
		return nil
	}
	var more []report.Block
	if ctx.Err() == nil { // the page of an interrupted search has no condensed graph
		var err error
		if more, err = j.show(ctx, best); err != nil {
			return err
		}
	}
	return j.writeReport(j.page, "Search on "+best.graph.Name, r.Picture(), more)
}

// check checks the command line before anything is opened.
func (j *tuneJob) check() error {
	if err := cmp.Or(j.config.read(), j.training.check()); err != nil {
		return err
	}
	j.training.amend(j.config)
	switch method := j.config.names[0]; {
	case !slices.Contains(tunable(), method): // only a file can name another method
		return usagef("--config %s: method %s, must be one of %s", j.config.file, method, strings.Join(tunable(), ", "))
	case j.said("trials") && j.search.Trials < 1:
		return atLeast("trials", j.search.Trials, 1)
	case j.said("seconds") && !(j.search.Seconds > 0):
		return usagef("--seconds %g, must be above 0", j.search.Seconds)
	case j.search.Trials == 0 && j.search.Seconds == 0:
		j.search.Trials = usualTrials
	}
	if err := checkReport(j.page); err != nil || j.out == "" {
		return err
	}
	return writable("-o", j.out, configExtension, j.force, isConfig)
}

// methods returns the methods that are searched: the one of --method, or cgc, cgc-x and cgc-d.
func (j *tuneJob) methods() []string {
	if method := j.config.names[0]; j.said("method") && method != auto.New().Name() {
		return []string{method}
	}
	return []string{string(cgc.CGC), string(cgc.CGCX), distill.New().Name()}
}

// space returns the dimensions of the search: all parameters that the command line does not fix.
func (j *tuneJob) space() []tune.Dimension {
	methods := j.methods()
	fixed := func(d tune.Dimension) bool {
		if slices.Contains(j.config.own, d.Name) && !j.config.ofCGC() { // hops is also a parameter of cgc-d
			return false
		}
		return d.Name != "method" && j.said(d.Name)
	}
	return slices.DeleteFunc(tune.Space(methods...), func(d tune.Dimension) bool {
		return fixed(d) || slices.ContainsFunc(j.config.params.list, func(p param) bool {
			return p.key == d.Name && !p.fromConfig
		})
	})
}

// next returns the command line that uses the configuration found. Without test nodes, it only condenses.
func (j *tuneJob) next(name string, g *graph.Graph) string {
	words := append([]string{"cgc", "run", name, "--config", j.out}, j.reading()...)
	if models := strings.Join(modelNames(j.training.models), ","); len(g.Split.Test) == 0 {
		words[1] = "condense"
		words = append(words, "-o", strings.TrimSuffix(j.out, configExtension)+extension)
	} else if models != "gcn" {
		words = append(words, "--models", models)
	}
	return overview.CommandLine(words...)
}

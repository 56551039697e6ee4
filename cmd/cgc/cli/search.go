package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/findings"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment/search"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/object"
	"github.com/graph-condensation/cgc/internal/registry"
)

func (c *command) searchCommand() *cobra.Command {
	job := &searchJob{command: c}
	cmd := &cobra.Command{
		Use: "search GRAPH",
		Example: examples(
			"cgc search cora --nodes 70 --trials 1000",
			"cgc search my-graph/ --condensed small.safetensors --models gcn,sage --seconds 60",
			"cgc search cora --nodes 70 --compare 64 -o searched",
		),
		Short: "Choose a GNN and its training: search on the condensed graph, confirm on the full graph",
		Long: `Train many candidates (a model with its training) on a condensed graph and validate them on the original graph.
Poor candidates are stopped early. Train the best few on the original graph, and choose the one with the best
validation accuracy. Labels of test nodes are read only for the accuracy that is printed.

--space reads a JSON object with lists of values to choose from, for any of models, hidden, dropout, input_dropout,
learning_rate, weight_decay and weighted. The default space has ` + report.Count(search.DefaultSpace().Size()) +
			` candidates: three variants of each model,
such as gcn:layers=1, gcn and gcn:layers=3. A model's name may set parameters: layers (gcn, sage, cheby), hops (sgc,
appnp), alpha (appnp), order (cheby) and heads (gat).

--compare N measures how far the condensed graph can be trusted: N random candidates are trained on both graphs, which
takes a long time. With -o, all training runs on the full graph are kept in FOLDER/whole.jsonl. To resume, run the same
command again.`,
		Args:              arguments(1, "GRAPH"),
		ValidArgsFunction: completeGraph,
		RunE:              runs(job.run),
	}
	job.config = methodFlags(cmd, condense.Names(), string(cgc.CGC),
		"candidates are ranked better on a graph condensed by cgc than by auto, because cgc learns only "+
			"from labelled nodes, as training on the full graph does")
	flags := cmd.Flags()
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "seed" && flag.Name != "memory" { // the search itself uses these two
			job.condensing = append(job.condensing, flag.Name)
		}
	})
	flags.StringVar(&job.small, "condensed", "", "search on the condensed graph in `FILE` instead of condensing")
	flags.Var(models(&job.models), "models",
		"models to choose from, with parameters as in gcn:layers=3 (default three variants of each)")
	flags.Lookup("models").DefValue = ""
	flags.StringVar(&job.space, "space", "", "JSON `FILE` with the values to choose from")
	flags.IntVar(&job.search.Trials, "trials", 1000, "number of candidates")
	flags.Float64Var(&job.search.Seconds, "seconds", 0,
		"time limit of the search on the condensed graph, in seconds; at least 27 candidates are tried (default none)")
	flags.IntVar(&job.search.Epochs, "epochs", 300, "number of epochs of a candidate that is not stopped early")
	flags.IntVar(&job.search.Finalists, "finalists", 0,
		"number of candidates to train on the full graph (default 24 up to 5,000 nodes, 6 up to 20,000, else 0)")
	flags.IntVar(&job.compare, "compare", 0, "number of random candidates to train on both graphs, at least 3")
	flags.StringVarP(&job.folder, "output", "o", "", "write the result and its training runs to `FOLDER`")
	return cmd
}

type searchJob struct {
	*command
	config       *configFlags
	condensing   []string // the flags that only condensing reads
	small, space string
	models       []gnn.Model
	search       search.Search
	compare      int
	folder       string
}

func (j *searchJob) run(ctx context.Context, args []string) (err error) {
	if err := j.check(); err != nil {
		return err
	}
	defer memory.Bounded(collected(j.config.config.Memory))()
	g, _, err := j.read(ctx, args[0])
	if err != nil {
		return err
	}
	small, err := j.condensed(ctx, g)
	if err != nil {
		return err
	}
	switch {
	case j.said("finalists"):
	case g.Nodes() <= 5_000: // the ranking is least certain at the top, and a training run takes seconds
		j.search.Finalists = 24
	case g.Nodes() <= smallWhole:
		j.search.Finalists = 6
	default:
		j.progress.note("no candidate is trained on the full graph: with %s nodes that may take a long time (--finalists 6)",
			report.Count(g.Nodes()))
	}
	widest := slices.Max(append([]int{1}, j.search.Space.Hidden...))
	bound, rest := testingBound(j.config.config.Memory, g, small.Nodes(), widest)
	j.search.Seed, j.search.Memory = j.config.config.Seed, bound
	if j.search.Graph, err = graph.Identify(g); err != nil {
		return err
	}
	if j.folder != "" {
		if j.search.Log, err = j.openLog(filepath.Join(j.folder, "whole.jsonl")); err != nil {
			return err
		}
		defer func() {
			j.resumes(err)
			err = errors.Join(err, j.search.Log.Close())
		}()
	}
	j.progress.step("searching on " + g.Name)
	result, err := j.search.Run(ctx, small, g)
	if err != nil {
		return rest.limited(err, g)
	}
	r := findings.Models{
		Graph: j.search.Graph, Method: small.Method, Condensed: small.Nodes(), CondenseSeconds: small.Seconds.Total,
		Space: j.search.Space.Size(), Result: *result,
	}
	if j.compare > 0 {
		if err := j.agree(ctx, small, g, &r); err != nil {
			return rest.limited(err, g)
		}
	}
	if j.folder != "" {
		write := func(w io.Writer) error { return writeJSON(w, r) }
		if err := j.replace(filepath.Join(j.folder, "result.json"), write); err != nil {
			return err
		}
	}
	return j.print(r, r.Document())
}

// condensed reads the condensed graph from the file of --condensed, or condenses g.
func (j *searchJob) condensed(ctx context.Context, g *graph.Graph) (*condense.Condensed, error) {
	if j.small != "" {
		small, err := cgc.Load(j.small)
		if err != nil {
			return nil, err
		}
		_, err = j.target(small, g, false)
		return small, err
	}
	j.setDefaults(j.config, g)
	nodes, err := j.config.config.NodesFor(g)
	if err != nil {
		return nil, j.config.mistake(err)
	}
	if _, err := j.fit(g, j.config); err != nil {
		return nil, err
	}
	j.progress.step("condensing")
	method := j.config.methods()[0]
	small, err := method.Condense(ctx, g, nodes, j.config.config.Seed)
	if err == nil {
		err = condense.CheckResult(method, g, nodes, small)
	}
	if err != nil {
		return nil, j.config.mistake(err)
	}
	j.warn(small.Warnings)
	return small, nil
}

// agree fills in the fields for --compare.
func (j *searchJob) agree(
	ctx context.Context, small *condense.Condensed, g *graph.Graph, r *findings.Models,
) (err error) {
	j.progress.step("comparing on " + g.Name)
	if r.Agreement, err = j.search.Agree(ctx, small, g, j.compare); err != nil {
		return err
	}
	r.Random = new(findings.RandomSearch)
	r.Random.Candidates, r.Random.Val, r.Random.Test = r.Agreement.Random(r.CondenseSeconds+r.Total(), j.search.Seed)
	if len(r.Finalists) > 0 {
		best, choice := r.Agreement.Best, r.Finalists[0]
		r.Regret = &findings.Regret{Val: best.WholeVal - choice.WholeVal, Test: best.WholeTest - choice.WholeTest}
	}
	return nil
}

// check checks the command line, and sets the space.
func (j *searchJob) check() error {
	space := search.DefaultSpace()
	if err := cmp.Or(
		j.config.read(), atLeast("trials", j.search.Trials, 1), atLeast("seconds", j.search.Seconds, 0),
		atLeast("epochs", j.search.Epochs, 1), atLeast("finalists", j.search.Finalists, 0),
	); err != nil {
		return err
	}
	var condensing []string
	for _, name := range j.condensing {
		if j.cmd.Flags().Changed(name) {
			condensing = append(condensing, "--"+name)
		}
	}
	if j.small != "" && condensing != nil {
		return usagef("%s with --condensed %s, must be without: the graph is condensed already",
			strings.Join(condensing, ", "), j.small)
	}
	if j.compare != 0 && j.compare < 3 {
		return usagef("--compare %d, must be 0 or at least 3", j.compare)
	}
	if j.space != "" {
		var err error
		if space, err = readSpace(j.space); err != nil {
			return err
		}
	}
	if j.said("models") {
		space.Models = modelNames(j.models)
	}
	if j.compare > space.Size() {
		return usagef("--compare %d, must be at most %d, the size of the space", j.compare, space.Size())
	}
	j.search.Space = space
	if j.folder == "" {
		return nil
	}
	return makeFolder("-o", j.folder)
}

// readSpace reads the file of --space. A parameter that the file lacks keeps its default values.
func readSpace(path string) (search.Space, error) {
	space := search.DefaultSpace()
	text, err := os.ReadFile(path)
	if err != nil {
		return space, fmt.Errorf("--space: %w", err)
	}
	keys := keysOfType(reflect.TypeOf(space))
	for _, f := range object.Fields(text) { // the decoder ignores the case of keys, and skips null
		if !slices.Contains(keys, f.Key) {
			return space, usagef("--space %s: parameter %q, must be one of %s%s", path, f.Key, strings.Join(keys, ", "),
				registry.Hint("", f.Key, keys))
		}
		var values []any
		if json.Unmarshal(f.Value, &values) == nil && (values == nil || slices.Contains(values, nil)) {
			return space, usagef("--space %s: %s has null, must be a list of values", path, f.Key)
		}
	}
	if err := cmp.Or(strictly(text, &space), space.Validate()); err != nil {
		key := func(field string) string { return strings.ReplaceAll(field, " ", "_") }
		return space, usagef("--space %s: %s", path, sentence(outOfRange(err, key)))
	}
	return space, nil
}

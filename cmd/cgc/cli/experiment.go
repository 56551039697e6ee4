package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/findings"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

func (c *command) experimentCommand() *cobra.Command {
	job := &experimentJob{command: c}
	cmd := &cobra.Command{
		Use: "experiment GRAPH… -o FOLDER",
		Example: examples(
			"cgc experiment cora --methods cgc,cgc-x,simdm --nodes 35,70,140 -o results",
			"cgc experiment cora citeseer --ratios 1.3%,2.6% --models gcn,sgc --seeds 3 -o results",
		),
		Short: "Compare methods at several sizes with several models; an interrupted comparison can be resumed",
		Long: `Condense each graph by several methods, at several sizes and with several seeds. Train models on the results
and test them on the original graph. Report means over the condensation seeds with 95% intervals, and the differences
between methods, paired by seed.

Each finished training run is appended to FOLDER/records.jsonl. Run the same command again to resume an interrupted
experiment; with more methods, sizes, seeds or models, only the missing training runs are done. FOLDER/records.csv and
FOLDER/summary.csv contain the results of the last command.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("experiment needs a GRAPH: cgc experiment GRAPH… -o FOLDER")
			}
			return nil
		},
		ValidArgsFunction: oneOf(graphNames, cobra.ShellCompDirectiveDefault),
		RunE:              runs(job.run),
	}
	job.axes, job.config = newAxes(cmd)
	job.training = newTrainingFlags(cmd, "number of condensations of each method and size, each with its own seed")
	cmd.Flags().IntVar(&job.trainings, "trainings", 1, "number of training runs of each model on each condensed graph")
	job.training.addWhole(cmd, "of each model ")
	cmd.Flags().StringVarP(&job.folder, "output", "o", "",
		"write records and tables to `FOLDER`, which is created if needed")
	addReport(cmd, &job.page)
	return cmd
}

type experimentJob struct {
	*command
	axes         *axes
	config       *configFlags
	training     *trainingFlags
	trainings    int
	folder, page string

	log   *experiment.Log
	kept  int              // records that the log had before
	arms  []experiment.Arm // of the current graph
	nodes []int            // condensed nodes of each arm
	more  []report.Block   // blocks of the report page that show the condensed graphs
}

// The files of an experiment's folder.
const (
	recordsName = "records.jsonl"
	tableName   = "records.csv"
	summaryName = "summary.csv"
)

func (j *experimentJob) run(ctx context.Context, names []string) (err error) {
	if err := j.check(); err != nil {
		return err
	}
	defer func() {
		if j.log != nil {
			j.resumes(err)
			err = errors.Join(err, j.log.Close())
		}
	}()
	defer memory.Bounded(collected(0))()
	var records []experiment.Record
	known := map[string]string{} // the arguments, by the fingerprints of their graphs
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return usagef("graph %s is given twice, must be once", name)
		}
	}
	if err := j.findable(names); err != nil {
		return err
	}
	for _, name := range names {
		config := *j.config // default sizes depend on the graph
		g, _, err := j.open(ctx, name, &config)
		if err != nil {
			return err
		}
		found, err := j.one(ctx, g, &config)
		if err != nil {
			return err
		}
		id := found[0].Graph.Fingerprint
		if other, twice := known[id]; twice {
			return usagef("%s is the same graph as %s, must be another one", name, other)
		}
		known[id] = name
		if err := j.show(ctx, name, g, &config, found); err != nil {
			return err
		}
		records = append(records, found...)
	}
	done := len(j.log.Records()) - j.kept
	e := &findings.Experiment{
		Summaries: experiment.Summarize(records), Comparisons: []experiment.Comparison{}, Trained: done,
		Kept: len(records) - done,
	}
	e.Comparisons = append(e.Comparisons, experiment.Comparisons(e.Summaries)...)
	e.Records, e.RecordsCSV, e.SummaryCSV = j.path(recordsName), j.path(tableName), j.path(summaryName)
	if err := cmp.Or(
		j.replace(e.RecordsCSV, func(w io.Writer) error { return experiment.WriteCSV(w, records) }),
		j.replace(e.SummaryCSV, func(w io.Writer) error { return experiment.WriteSummaryCSV(w, e.Summaries) }),
	); err != nil {
		return err
	}
	j.otherBuilds(records)
	if err := j.writeReport(j.page, "Experiment", e.Picture(), j.more); err != nil {
		return err
	}
	return j.print(e, e.Document())
}

// one runs the experiment on one graph, and returns its records.
func (j *experimentJob) one(
	ctx context.Context, g *graph.Graph, config *configFlags,
) (records []experiment.Record, err error) {
	blocks, err := j.fit(g, config)
	if err != nil {
		return nil, err
	}
	if err := j.cross(g, config); err != nil {
		return nil, err
	}
	if err := j.keep(); err != nil {
		return nil, err
	}
	bound, rest := testingBound(config.config.Memory, g, slices.Max(j.nodes), j.training.config.Hidden)
	ctx, explain := guard(ctx, "working on "+g.Name, inParts(g), blocks)
	defer func() { err = explain(err) }()
	grid := experiment.Grid{
		Arms: j.arms, Seed: config.config.Seed, Seeds: j.training.seeds, Trainings: j.trainings,
		Models: j.training.models, Whole: j.wholeOf(j.training, g), Memory: bound,
		Measure: func(r *experiment.Record) { r.Peak = peakRSS() },
		Warn:    func(sentence string) { j.warn([]string{g.Name + ": " + sentence}) },
	}
	j.progress.step("condensing and training on " + g.Name)
	records, err = grid.Run(ctx, g, j.log)
	if err != nil {
		return nil, rest.limited(config.mistake(err), g)
	}
	return records, nil
}

// show adds to the report page, for each method, the condensed graph of the first size and seed.
func (j *experimentJob) show(
	ctx context.Context, name string, g *graph.Graph, config *configFlags, records []experiment.Record,
) error {
	if j.page == "" {
		return nil
	}
	summaries := experiment.Summarize(records)
	for i, a := range j.arms[:len(config.built)] {
		s := shown{name: name, graph: g, method: a.Method, nodes: j.nodes[i], seed: config.config.Seed}
		s.small, s.whole = scoresOf(summaries, a.Name, s.nodes)
		blocks, err := j.command.show(ctx, s)
		if err != nil {
			return config.mistake(err)
		}
		j.more = append(j.more, blocks...)
	}
	return nil
}

// cross sets the arms to compare on g: every method at every size.
func (j *experimentJob) cross(g *graph.Graph, config *configFlags) error {
	sizes := j.axes.sizes()
	if len(sizes) == 0 {
		sizes = []condense.Size{config.config.Size}
	}
	j.arms, j.nodes = nil, nil
	for _, size := range sizes {
		sized := *config
		sized.config.Size = size
		if _, err := sized.config.NodesFor(g); err != nil {
			return config.mistake(err)
		}
		for _, m := range sized.methods() {
			nodes, err := size.Of(g, condense.SettingOf(m).Inductive)
			if err != nil {
				return config.mistake(err)
			}
			j.nodes = append(j.nodes, nodes)
			j.arms = append(j.arms, experiment.Arm{Name: m.Name(), Method: m, Size: size, Training: j.training.config})
		}
	}
	return nil
}

// check checks the command line. It opens nothing except an existing log.
func (j *experimentJob) check() error {
	if err := cmp.Or(j.config.read(), j.training.check(), checkReport(j.page)); err != nil {
		return err
	}
	j.training.amend(j.config)
	if j.config.fileSize {
		*j.axes = axes{}
	}
	if sizes := j.axes.sizes(); len(sizes) > 0 {
		j.config.config.Size = sizes[0]
	}
	switch {
	case j.trainings < 1 || j.trainings > 1000:
		return usagef("--trainings %d, must be 1 to 1000", j.trainings)
	case j.folder == "":
		return usagef("experiment needs -o FOLDER: the folder for the records")
	}
	if err := notFile("-o", j.folder); err != nil {
		return err
	}
	if _, err := os.Stat(j.folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return makeFolder("-o", j.folder) // makeFolder reports the error
	}
	if _, err := os.Stat(j.path(recordsName)); err == nil {
		return j.keep()
	}
	for _, name := range []string{tableName, summaryName} {
		text, err := os.ReadFile(j.path(name))
		if err == nil && !bytes.HasPrefix(text, []byte("graph,fingerprint,arm,")) {
			return fmt.Errorf("-o %s: %s in it was not written by an experiment, must be another folder", j.folder, name)
		}
	}
	return nil
}

func (j *experimentJob) path(name string) string { return filepath.Join(j.folder, name) }

// keep opens the log, or starts a new one.
func (j *experimentJob) keep() error {
	if j.log != nil {
		return nil
	}
	if err := makeFolder("-o", j.folder); err != nil {
		return err
	}
	var err error
	if j.log, err = j.openLog(j.path(recordsName)); err == nil {
		j.kept = len(j.log.Records())
	}
	return err
}

// resumes tells the user after an interruption that the training runs so far are kept.
func (c *command) resumes(err error) {
	if errors.Is(err, context.Canceled) {
		c.progress.note("run the same command again to resume")
	}
}

// openLog opens a log, or starts a new one.
func (c *command) openLog(path string) (*experiment.Log, error) {
	log, err := experiment.OpenLog(path)
	if err == nil && log.Torn() > 0 {
		c.progress.note("the last line of %s was cut short (%d bytes) and was removed; its training is repeated", path,
			log.Torn())
	}
	return log, err
}

// otherBuilds prints a note if some records were made by another build, whose numbers may differ.
func (j *experimentJob) otherBuilds(records []experiment.Record) {
	here := experiment.ThisBuild()
	count := 0
	for _, r := range records {
		if b := r.Build; b.Version != here.Version || b.Revision != here.Revision || b.Kernels != here.Kernels {
			count++
		}
	}
	if count > 0 {
		j.progress.note("%d of %d training runs were done by another version of cgc or with another SIMD code path "+
			"(see the columns version, revision and kernels); another folder keeps them apart", count, len(records))
	}
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/paper"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/progress"
)

func (c *command) boardCommand() *cobra.Command {
	job := &boardJob{command: c, names: condense.Names()}
	job.board.Models = []gnn.Model{gnn.GCN(), gnn.SGC(), gnn.GAT()}
	cmd := &cobra.Command{
		Use: "board [GRAPH…] -o FOLDER",
		Example: examples(
			"cgc paper board -o board",
			"cgc paper board cora own.npz --methods auto,gcond,bonsai --limit 5m -o board",
		),
		Short: "Compare all methods under one protocol; an interrupted comparison can be resumed",
		Long: `Condense each graph by every method on one core, at three sizes and with several seeds, and train models on
the results. With two seeds, each model is trained with four configurations; the one with the best mean validation
accuracy is used with the other seeds and is reported. A method that takes more than a minute to condense to the middle
size is measured there only, with the first model and at most three seeds. Without GRAPH, the graphs are the data sets
that cgc data list finds. CGC with the paper's parameters is always measured too, as cgc-paper.

The tables first list where another method is significantly better than auto (5%, Holm's procedure over all
differences, paired by seed). Then they have a row for each method, with the middle size of each graph and the first
model. FOLDER/board.csv has all sizes, models, differences and costs.

Each finished training run is appended to FOLDER/NAME.jsonl. Run the same command again to resume. After a further run
with --normalize-features, validation accuracy also chooses between plain and row-normalised features.`,
		ValidArgsFunction: oneOf(graphNames, cobra.ShellCompDirectiveDefault),
		RunE:              runs(job.run),
	}
	flags := inOrder(cmd)
	addSome(cmd, &job.names, "methods", condense.Names(), "methods to compare (default all)")
	flags.Lookup("methods").DefValue = ""
	flags.DurationVar(&job.board.Limit, "limit", 20*time.Minute, "maximum processor time of one condensation")
	addNormalize(flags, &job.board.NormalizeFeatures)
	flags.Var(models(&job.board.Models), "models", "models to train; slow methods are measured with the first")
	flags.IntVar(&job.board.Seeds, "seeds", 5, "number of condensations of each method and size, each with its own seed")
	flags.IntVar(&job.board.Whole, "whole", 5, "number of training runs of each model and configuration on the full graph")
	flags.StringVarP(&job.folder, "output", "o", "", "write records to `FOLDER`, which is created if needed")
	return cmd
}

type boardJob struct {
	*command
	names  []string
	board  paper.Board // the settings from the flags
	folder string
}

func (j *boardJob) run(ctx context.Context, graphs []string) error {
	if j.folder == "" {
		return usagef("paper board needs -o FOLDER: the folder for the records")
	}
	if err := cmp.Or(atLeast("seeds", j.board.Seeds, 1), atLeast("whole", j.board.Whole, 0)); err != nil {
		return err
	}
	if j.board.Limit <= 0 {
		return usagef("--limit %v, must be above 0", j.board.Limit)
	}
	if len(graphs) == 0 {
		for _, s := range dataset.Environment().List() {
			if s.Path != "" {
				graphs = append(graphs, s.Name)
			}
		}
	}
	if len(graphs) == 0 {
		return usagef("paper board found no data sets, must have a GRAPH")
	}
	if err := j.findable(graphs); err != nil {
		return err
	}
	if err := makeFolder("-o", j.folder); err != nil {
		return err
	}
	un, err := paper.OpenUnmeasured(filepath.Join(j.folder, "unmeasured.jsonl"))
	if err != nil {
		return err
	}
	var records []experiment.Record
	for _, name := range graphs {
		more, err := j.on(ctx, name, un)
		if err != nil {
			j.resumes(err)
			return err
		}
		records = append(records, more...)
	}
	s := paper.NewStandings(records, un.All(), nil)
	if err := j.replace(filepath.Join(j.folder, "board.csv"), s.WriteCSV); err != nil {
		return err
	}
	return j.print(s, s.Document())
}

// on measures all methods on one graph, and returns the graph's records.
func (j *boardJob) on(ctx context.Context, name string, un *paper.UnmeasuredLog) (_ []experiment.Record, err error) {
	g, _, err := j.read(ctx, name)
	if err != nil {
		return nil, err
	}
	flags := configFlags{config: cgc.Defaults(), names: j.names}
	flags.config.NormalizeFeatures, flags.config.Inductive = j.board.NormalizeFeatures, paper.Inductive(g.Name)
	if err := flags.build(); err != nil {
		return nil, err
	}
	log, err := j.openLog(filepath.Join(j.folder, g.Name+".jsonl"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	b := j.board
	b.Name, b.Graph, b.Methods, b.Log, b.Unmeasured = g.Name, g, flags.methods(), log, un
	b.ResetPeak, b.Peak, b.Processor = bench.ForgetPeak, peakRSS, processorSeconds
	b.Note = func(sentence string) { j.progress.note("%s", sentence) }
	j.progress.step("measuring on " + g.Name)
	if err := b.Run(progress.With(ctx, func(e progress.Event) {
		j.progress.count(g.Name+": "+e.Stage, e.Done, e.Total)
	})); err != nil {
		return nil, err
	}
	return log.Records(), nil
}

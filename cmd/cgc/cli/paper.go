package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/paper"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/registry"
	"github.com/graph-condensation/cgc/progress"
)

func (c *command) paperCommand() *cobra.Command {
	job := &paperJob{command: c}
	cmd := &cobra.Command{
		Use: "paper [TABLE…]",
		Example: examples(
			"cgc paper",
			"cgc paper table3 --graphs cora,citeseer -o results",
			"cgc paper figure5 --ours --seeds 3 -o results",
			"cgc paper table3 --graphs cora --search --trials 16 -o searched",
		),
		Short: "Repeat the paper's tables and figures and compare with its numbers; without TABLE, list them",
		Long: `Measure tables and figures of the paper on the available graphs and print them next to the paper's numbers. A
data set that is not available is replaced by a synthetic graph of its size, up to the size of arxiv. Times on
synthetic graphs are comparable with the paper's; accuracies are not, and are listed separately.

The paper states some parameters. It tuned the others and does not report their values; docs/how-to/repeat-the-paper.md
lists the values used here. --ours uses the defaults of cgc instead, and --authors uses the parameters that the authors'
program sets for each number.

--search first tunes each cell of a table, as the paper did: on the validation nodes, over the paper's grid, with the
same number of candidates (--trials) for each cell. --methods adds baselines to the methods of a table.

With -o, each finished training run is appended to FOLDER/records.jsonl. Run the same command again to resume; tables
share common training runs. Each table is written to FOLDER as .md, .json and .csv, its figures as .svg and .png.`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			described := func(s *paper.Study) string { return s.Name + "\t" + s.Title }
			return mapped(paper.Studies(), described), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: runs(job.run),
	}
	flags := inOrder(cmd)
	name := func(word string) (string, error) { return accepted(word, nil, word != "") }
	flags.Var(distinct(&job.graphs, name, "strings", "names"), "graphs",
		"graphs to measure on: data sets of the paper or your own (default the paper's, "+
			"except large ones that are not available)")
	flags.BoolVar(&job.all, "all", false,
		"also make synthetic graphs of the sizes of reddit and products if these are not available")
	flags.BoolVar(&job.plan.Ours, "ours", false, "use the defaults of cgc for all parameters instead of the paper's")
	flags.BoolVar(&job.plan.Authors, "authors", false,
		"use the parameters that the authors' program sets for each number, for condensing and training")
	addNormalize(flags, &job.plan.NormalizeFeatures)
	flags.BoolVar(&job.searches, "search", false,
		"tune each cell first on the validation nodes, over the parameter grid of the paper's appendix E.3")
	flags.IntVar(&job.search.Trials, "trials", 16, "number of candidates per cell, with --search")
	addSome(cmd, &job.names, "methods", slices.DeleteFunc(condense.Names(), isCGC),
		"baselines to measure in addition to the methods of the table, or all")
	flags.Var(&job.params, "param",
		"set a parameter of a baseline, as KEY=VALUE or METHOD.KEY=VALUE; may be repeated")
	flags.Uint64Var(&job.plan.Seed, "seed", 0, "first condensation seed")
	job.training = newTrainingFlags(cmd,
		"number of condensations of each configuration, each with its own seed and training")
	flags.Lookup("models").Usage = "train only these models of the table (default all)"
	flags.Lookup("models").DefValue = ""
	flags.Lookup("weighted").Usage = "weight each condensed node by the number of its source nodes (default with --ours)"
	flags.Lookup("weighted").DefValue = "false" // the help then shows no default
	job.training.addWhole(cmd, "")
	flags.StringVarP(&job.folder, "output", "o", "",
		"write records, tables and figures to `FOLDER`, which is created if needed")
	addReport(cmd, &job.page)
	cmd.AddCommand(c.boardCommand())
	return cmd
}

type paperJob struct {
	*command
	graphs   []string
	all      bool
	plan     paper.Job    // the settings from the flags
	search   paper.Search // used if searches is set
	searches bool
	names    []string // methods in addition to those of the table
	params   params
	training *trainingFlags
	folder   string
	page     string

	more []report.Block // blocks of the report page that show the condensed graphs
}

// noStudy returns the error for a word that is not a table. It may be a mistyped command.
func (j *paperJob) noStudy(err error) error {
	hint := "cgc paper lists them"
	if unknown, is := errors.AsType[*registry.Unknown](err); is {
		hint += registry.Hint("cgc paper ", unknown.Name, mapped(available(j.cmd), (*cobra.Command).Name))
	}
	return usagef("%s (%s)", sentence(err), hint)
}

// searchName is the file with the training runs of a search, in the folder of records.
const searchName = "search.jsonl"

func (j *paperJob) run(ctx context.Context, words []string) (err error) {
	if !j.said("weighted") {
		j.training.config.Weighted = j.plan.Ours // the paper weights all condensed nodes equally
	}
	if j.plan.Authors && (j.plan.Ours || j.searches) {
		return usagef("--authors with --ours or --search, must be one of them: each chooses the parameters")
	}
	for _, name := range []string{"epochs", "dropout", "lr", "weight-decay"} {
		if j.plan.Authors && j.cmd.Flags().Changed(name) { // a setting is for other commands
			return usagef("--authors with --%s, must be one of them: the authors' program sets it for each number", name)
		}
	}
	if len(words) == 0 {
		return j.list()
	}
	studies, err := paper.Find(words)
	if err != nil {
		return j.noStudy(err)
	}
	if err := j.check(studies); err != nil {
		return err
	}
	defer func() {
		for _, log := range []*experiment.Log{j.plan.Log, j.search.Log} {
			if log != nil {
				err = errors.Join(err, log.Close())
			}
		}
		if j.folder != "" {
			j.resumes(err)
		}
	}()
	var results []*paper.Result
	for _, s := range studies {
		r, err := j.measure(ctx, s)
		if err != nil {
			return err
		}
		if err := j.write(r); err != nil {
			return err
		}
		results = append(results, r)
	}
	all := new(report.Document)
	for i, r := range results {
		d := r.Document()
		if i == 0 {
			all.Title = d.Title
		} else {
			all.Add(report.Heading(d.Title))
		}
		all.Add(d.Blocks...)
	}
	if err := j.writeReport(j.page, "", all, j.more); err != nil {
		return err
	}
	return j.print(map[string]any{"studies": results}, all)
}

// measure runs one study.
func (j *paperJob) measure(ctx context.Context, s *paper.Study) (*paper.Result, error) {
	options := j.options()
	sources, left := paper.Choose(s, options, j.graphs, j.all)
	if len(sources) == 0 {
		return nil, fmt.Errorf("%s: nothing to measure on: %s", s.Name, strings.Join(left, "; "))
	}
	for _, sentence := range left {
		j.progress.note("%s: %s", s.Name, sentence)
	}
	at := s.Name
	job := j.plan
	job.Study, job.Sources, job.Left, job.Training = s, sources, left, j.training.config
	job.Seeds, job.Whole = j.training.seeds, j.training.whole
	if !j.said("whole") {
		job.Whole = -1 // the default for the graph
	}
	if j.said("models") {
		job.Models = j.training.models
	}
	if j.searches {
		job.Search = &j.search
	}
	job.Note = func(sentence string) { j.progress.note("%s: %s", s.Name, sentence) }
	job.Open = func(ctx context.Context, source paper.Source) (*graph.Graph, error) {
		at = s.Name + " on " + source.Name
		j.progress.step("opening " + source.Name)
		g, err := source.Open(ctx, options)
		j.progress.step("measuring " + at)
		return g, err
	}
	if j.page != "" {
		job.Show = func(ctx context.Context, source paper.Source, g *graph.Graph, config cgc.Config) error {
			s := shown{name: source.Name, graph: g, method: config, nodes: config.Nodes, seed: config.Seed}
			blocks, err := j.show(ctx, s)
			j.more = append(j.more, blocks...)
			return err
		}
	}
	return job.Run(progress.With(ctx, func(e progress.Event) {
		j.progress.count(at+": "+e.Stage, e.Done, e.Total)
	}))
}

// check checks the command line. It opens nothing except the log.
func (j *paperJob) check(studies []*paper.Study) error {
	if err := j.training.check(); err != nil {
		return err
	}
	if j.said("models") {
		for _, s := range studies {
			if !s.Trains(j.training.models) {
				return usagef("--models %s: %s trains none of them", models(&j.training.models), s.Name)
			}
		}
	}
	if err := cmp.Or(j.checkMethods(studies), checkReport(j.page)); err != nil || j.folder == "" {
		return err
	}
	return j.keep(studies)
}

// checkMethods checks the flags for a search and for additional methods.
func (j *paperJob) checkMethods(studies []*paper.Study) error {
	switch {
	case j.said("trials") && !j.searches:
		return usagef("--trials %d needs --search too", j.search.Trials)
	case j.searches && j.search.Trials < 1:
		return usagef("--trials %d, must be at least 1", j.search.Trials)
	case len(j.params.list) > 0 && len(j.names) == 0:
		return usagef("--param %s needs --methods too", j.params.list[0])
	}
	for _, s := range studies {
		if len(j.names) > 0 && !s.Beside {
			return usagef("--methods %s: %s measures only its own methods", strings.Join(j.names, ","), s.Name)
		}
		if j.searches && !s.Trains(nil) {
			return usagef("--search: %s trains nothing that could be searched", s.Name)
		}
	}
	if len(j.names) == 0 {
		return nil
	}
	flags := configFlags{config: cgc.Defaults(), names: j.names, params: j.params}
	err := flags.build()
	j.plan.Methods = flags.methods()
	return err
}

// keep opens or starts the log in the folder. It rejects a folder that has tables but no log, because another program
// wrote them.
func (j *paperJob) keep(studies []*paper.Study) error {
	if err := notFile("-o", j.folder); err != nil {
		return err
	}
	path := filepath.Join(j.folder, recordsName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		for _, s := range studies {
			file := filepath.Join(j.folder, s.Name+".md")
			if _, err := os.Stat(file); err == nil {
				return fmt.Errorf("-o %s: the folder has %s but no %s, must be another folder", j.folder, file, recordsName)
			}
		}
	}
	if err := makeFolder("-o", j.folder); err != nil {
		return err
	}
	var err error
	if j.plan.Log, err = j.openLog(path); err != nil || !j.searches {
		return err
	}
	j.search.Log, err = j.openLog(filepath.Join(j.folder, searchName))
	return err
}

// write writes the files of a result, if there is a folder for them.
func (j *paperJob) write(r *paper.Result) error {
	if j.folder == "" {
		return nil
	}
	path := func(name string) string { return filepath.Join(j.folder, name) }
	for _, f := range r.Figures() {
		if err := j.writeFigure(path(f.Name), f); err != nil {
			return err
		}
	}
	return cmp.Or(
		j.replace(path(r.Study+".md"), func(w io.Writer) error { return report.Markdown(w, r.Document()) }),
		j.replace(path(r.Study+".json"), func(w io.Writer) error { return writeJSON(w, r) }),
		j.replace(path(r.Study+".csv"), func(w io.Writer) error { return report.CSV(w, r.Lines()) }),
	)
}

// listedStudy is one study in the output of cgc paper without TABLE.
type listedStudy struct {
	Name  string   `json:"study"`
	Also  []string `json:"also"`
	Title string   `json:"title"`
	// Here lists the available graphs that the study would be measured on. Made lists the synthetic graphs it would use.
	// LeftOut names the other graphs, with reasons.
	Here    []string `json:"here"`
	Made    []string `json:"made"`
	LeftOut []string `json:"left_out"`
	paper.Work
}

// list prints the studies, in ascending order of the number of training runs.
func (j *paperJob) list() error {
	if err := j.training.check(); err != nil {
		return err
	}
	all := []listedStudy{}
	for _, s := range paper.Studies() {
		sources, left := paper.Choose(s, dataset.Environment(), j.graphs, j.all)
		l := listedStudy{
			Name: s.Name, Also: s.Also, Title: s.Title, Here: []string{}, Made: []string{}, LeftOut: append([]string{}, left...),
			Work: s.Work(sources, j.training.seeds),
		}
		for _, source := range sources {
			if source.Made {
				l.Made = append(l.Made, source.Name)
			} else {
				l.Here = append(l.Here, source.Name)
			}
		}
		all = append(all, l)
	}
	slices.SortStableFunc(all, func(a, b listedStudy) int { return cmp.Compare(a.Trainings+a.Whole, b.Trainings+b.Whole) })
	return j.print(map[string]any{"studies": all}, studiesDocument(all, j.training.seeds))
}

func studiesDocument(all []listedStudy, seeds int) *report.Document {
	t := &report.Table{
		Columns: report.Columns("name", "or", "what", "here", "made", "left out", "trainings", "timed"),
	}
	spaced := func(words []string) report.Cell { return report.Word(strings.Join(words, " ")) }
	for _, l := range all {
		var left []string
		for _, sentence := range l.LeftOut {
			name, _, _ := strings.Cut(sentence, " ")
			left = append(left, name)
		}
		t.Row(report.Word(l.Name), report.Word(strings.Join(l.Also, ", ")), report.Word(l.Title), spaced(l.Here),
			spaced(l.Made), spaced(left), report.Integer(l.Trainings+l.Whole), report.Integer(l.Timed))
	}
	d := new(report.Document)
	d.Add(t, report.Notes{
		fmt.Sprintf("counted for %d seeds; the studies with the fewest training runs come first", seeds),
		"large graphs that are not available are left out unless --all or --graphs asks for them",
		"try: cgc paper table3 --graphs cora,citeseer -o results",
	})
	return d
}

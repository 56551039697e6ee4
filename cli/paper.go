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
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/paper"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/report"
	"github.com/graph-condensation/cgc/report/chart"
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
		Short: "Repeat the paper's tables and figures, beside its numbers; without a TABLE, list them",
		Long: `Measure tables and figures of the paper on the graphs at hand, and print them beside the paper's numbers.
For a data set that is not at hand, a made graph of its size is used, up to the size of arxiv. The times of made
graphs can be compared. Their accuracies cannot, and are kept apart.

The paper states some parameters. It searched the others and does not print what it found: docs/paper.md lists the
values that are taken. --ours takes the defaults of cgc instead.

--search tunes each cell first, as the paper did: over the paper's sets, on the validation nodes. Each cell has the
same number of candidates (--trials). --methods measures rivals beside the methods of a table.

With -o, every training is a line of FOLDER/records.jsonl as soon as it ends. The same command again goes on where
it was stopped, and tables share the trainings that they have in common. FOLDER gets each table as .md, .json and
.csv, and its figures as .svg and .png.`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, s := range paper.Studies() {
				names = append(names, s.Name+"\t"+s.Title)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			job.modelsSaid = job.said(cmd, "models")
			job.trialsSaid = job.said(cmd, "trials")
			if !job.said(cmd, "weighted") {
				job.training.config.Weighted = job.ours // the paper's condensed nodes count alike
			}
			if len(args) == 0 {
				return job.list()
			}
			return job.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&list[string]{&job.graphs, func(word string) (string, error) {
		if word == "" {
			return "", errors.New("no name")
		}
		return word, nil
	}, "names"}, "graphs", "graphs to measure on, of any size: data sets of the paper, or your own (default the paper's, "+
		"without large ones that are not at hand)")
	flags.BoolVar(&job.all, "all", false,
		"make large graphs too, of the sizes of reddit and products, if they are not at hand")
	flags.BoolVar(&job.ours, "ours", false, "take the defaults of cgc for all parameters, not the paper's")
	flags.BoolVar(&job.normalize, "normalize-features", false,
		"first divide the features of each node by the sum of their absolute values")
	flags.BoolVar(&job.search, "search", false,
		"tune each cell first on the validation nodes, over the sets of the paper's appendix E.3")
	flags.IntVar(&job.trials, "trials", 16, "number of candidates of each cell, with --search")
	addSome(cmd, &job.names, "methods", rivalNames(), "methods to measure beside those of the table; or all")
	flags.Var(&job.params, "param",
		"set a parameter of such a method, as KEY=VALUE or METHOD.KEY=VALUE; may be repeated")
	flags.Uint64Var(&job.seed, "seed", 0, "first condensation seed")
	job.training = newTrainingFlags(cmd,
		"number of condensations of each kind, each with a seed and a training of its own")
	flags.Lookup("models").Usage = "train only these of a table's models (default all of the table)"
	flags.Lookup("models").DefValue = ""
	flags.Lookup("weighted").Usage = "let a condensed node count as often as the nodes it stands for (default with --ours)"
	flags.Lookup("weighted").DefValue = "false" // not shown
	flags.IntVar(&job.whole, "whole", -1,
		"number of trainings on the whole graph, 0 for none (default as --seeds up to 20,000 nodes, none above)")
	flags.Lookup("whole").DefValue = "0" // not shown
	flags.StringVarP(&job.folder, "output", "o", "",
		"keep the records and write tables and figures in `FOLDER`, which is made if it is not there")
	addReport(cmd, &job.page)
	return cmd
}

// paperJob is one cgc paper.
type paperJob struct {
	*command
	graphs     []string
	all, ours  bool
	normalize  bool
	search     bool
	trials     int
	trialsSaid bool
	names      []string // of methods beside the table's
	params     params
	seed       uint64
	training   *trainingFlags
	modelsSaid bool
	whole      int
	folder     string
	page       string

	methods  []condense.Method
	log      *experiment.Log
	searched *experiment.Log
	more     []report.Block // of the page: what condensing did
}

// searchName is the file of the trainings of a search, in the folder of records.
const searchName = "search.jsonl"

// rivalNames returns the methods whose parameters are not flags.
func rivalNames() (names []string) {
	for _, name := range condense.Names() {
		if m, err := condense.New(name, nil); err == nil && !isCGC(m) {
			names = append(names, name)
		}
	}
	return names
}

// paperResults is what --json prints.
type paperResults struct {
	Studies []*paper.Result `json:"studies"`
}

func (j *paperJob) run(ctx context.Context, words []string) (err error) {
	studies, err := paper.Find(words)
	if err != nil {
		return usagef("%s (cgc paper lists them)", sentence(err))
	}
	if err := j.check(studies); err != nil {
		return err
	}
	defer func() {
		for _, log := range []*experiment.Log{j.log, j.searched} {
			if log != nil {
				err = errors.Join(err, log.Close())
			}
		}
		if errors.Is(err, context.Canceled) && j.folder != "" {
			j.progress.note("the same command goes on where this one was stopped")
		}
	}()
	var results paperResults
	for _, s := range studies {
		r, err := j.measure(ctx, s)
		if err != nil {
			return err
		}
		if err := j.write(r); err != nil {
			return err
		}
		results.Studies = append(results.Studies, r)
	}
	all := new(report.Document)
	for i, r := range results.Studies {
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
	return j.print(results, all)
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
	job := paper.Job{
		Study: s, Sources: sources, Left: left, Seeds: j.training.seeds, Seed: j.seed, Whole: j.whole, Ours: j.ours,
		NormalizeFeatures: j.normalize,
		Training:          j.training.config, Log: j.log,
		Open: func(ctx context.Context, source paper.Source) (*graph.Graph, error) {
			at = s.Name + " on " + source.Name
			j.progress.step("opening " + source.Name)
			return source.Open(ctx, options)
		},
		Methods: j.methods,
		Note:    func(sentence string) { j.progress.note("%s: %s", s.Name, sentence) },
	}
	if j.search {
		job.Search = &paper.Search{Trials: j.trials, Log: j.searched}
	}
	if j.modelsSaid {
		job.Models = j.training.models
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

// check checks the command line before anything is opened but the log.
func (j *paperJob) check(studies []*paper.Study) error {
	if err := j.training.check(); err != nil {
		return err
	}
	if j.whole < -1 {
		return usagef("--whole %d, want at least 0", j.whole)
	}
	if j.modelsSaid {
		for _, s := range studies {
			if !s.Trains(j.training.models) {
				return usagef("--models %s: %s trains none of them", &j.training.models, s.Name)
			}
		}
	}
	if err := j.checkMethods(studies); err != nil {
		return err
	}
	if err := checkReport(j.page); err != nil {
		return err
	}
	if j.folder == "" {
		return nil
	}
	return j.keep(studies)
}

// checkMethods checks what the command line says of a search and of methods beside those of the tables.
func (j *paperJob) checkMethods(studies []*paper.Study) error {
	switch {
	case j.trialsSaid && !j.search:
		return usagef("--trials %d without --search, want both", j.trials)
	case j.search && j.trials < 1:
		return usagef("--trials %d, want at least 1", j.trials)
	case len(j.params.list) > 0 && len(j.names) == 0:
		return usagef("--param %s without --methods, want both", j.params.list[0])
	}
	for _, s := range studies {
		if len(j.names) > 0 && !s.Beside() {
			return usagef("--methods %s: %s has its own methods alone", strings.Join(j.names, ","), s.Name)
		}
		if j.search && !s.Trains(nil) {
			return usagef("--search: %s trains nothing that could be searched", s.Name)
		}
	}
	flags := configFlags{config: cgc.Defaults(), names: j.names, params: j.params}
	if len(j.names) == 0 {
		return nil
	}
	var err error
	j.methods, err = flags.methods()
	return err
}

// keep opens the log in the folder, or begins one. It refuses a folder with tables but no log: they are of other
// origin.
func (j *paperJob) keep(studies []*paper.Study) error {
	info, err := os.Stat(j.folder)
	if err == nil && !info.IsDir() {
		return usagef("-o %s is a file, want a folder", j.folder)
	}
	path := filepath.Join(j.folder, recordsName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		for _, s := range studies {
			file := filepath.Join(j.folder, s.Name+".md")
			if _, err := os.Stat(file); err == nil {
				return fmt.Errorf("-o %s: %s is there and no %s, want another folder", j.folder, file, recordsName)
			}
		}
	}
	if err := makeFolder("-o", j.folder); err != nil {
		return err
	}
	if j.log, err = j.openLog(path); err != nil || !j.search {
		return err
	}
	j.searched, err = j.openLog(filepath.Join(j.folder, searchName))
	return err
}

// openLog opens a log, or begins one.
func (j *paperJob) openLog(path string) (*experiment.Log, error) {
	log, err := experiment.OpenLog(path)
	if err == nil && log.Torn() > 0 {
		j.progress.note("the last line of %s was cut short (%d bytes) and is gone; its training is done again", path,
			log.Torn())
	}
	return log, err
}

// write writes the files of a result, if there is a folder for them.
func (j *paperJob) write(r *paper.Result) error {
	if j.folder == "" {
		return nil
	}
	path := func(name string) string { return filepath.Join(j.folder, name) }
	for _, f := range r.Figures() {
		if err := cmp.Or(
			j.replace(path(f.Name+".svg"), func(w io.Writer) error { return chart.SVG(w, f) }),
			j.replace(path(f.Name+".png"), func(w io.Writer) error { return chart.PNG(w, f) }),
		); err != nil {
			return err
		}
	}
	return cmp.Or(
		j.replace(path(r.Study+".md"), func(w io.Writer) error { return report.Markdown(w, r.Document()) }),
		j.replace(path(r.Study+".json"), func(w io.Writer) error { return writeJSON(w, r) }),
		j.replace(path(r.Study+".csv"), func(w io.Writer) error { return report.CSV(w, r.Lines()) }),
	)
}

// listedStudy is what the list says of a study.
type listedStudy struct {
	Name  string   `json:"study"`
	Also  []string `json:"also"`
	Title string   `json:"title"`
	// Here and Made are the graphs that the study would be measured on. LeftOut says which it would not, and why.
	Here    []string `json:"here"`
	Made    []string `json:"made"`
	LeftOut []string `json:"left_out"`
	// Timed, Trainings and Whole count what is to be done.
	Timed     int `json:"timed"`
	Trainings int `json:"trainings"`
	Whole     int `json:"whole"`
}

// list prints the studies, those with the fewest trainings first.
func (j *paperJob) list() error {
	if err := j.training.check(); err != nil {
		return err
	}
	all := []listedStudy{}
	for _, s := range paper.Studies() {
		sources, left := paper.Choose(s, dataset.Environment(), j.graphs, j.all)
		w := s.Work(sources, j.training.seeds)
		l := listedStudy{
			Name: s.Name, Also: s.Also, Title: s.Title, Here: []string{}, Made: []string{}, LeftOut: append([]string{}, left...),
			Timed: w.Timed, Trainings: w.Trainings, Whole: w.Whole,
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
	return j.print(struct {
		Studies []listedStudy `json:"studies"`
	}{all}, studiesDocument(all, j.training.seeds))
}

// studiesDocument shows the list of studies.
func studiesDocument(all []listedStudy, seeds int) *report.Document {
	t := &report.Table{Columns: []report.Column{
		{Name: "name"}, {Name: "or"}, {Name: "what"}, {Name: "here"}, {Name: "made"}, {Name: "left out"}, {Name: "trainings"},
		{Name: "timed"},
	}}
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
		fmt.Sprintf("with %d seeds; the fewest trainings first, whatever the sizes of the graphs", seeds),
		"large graphs that are not here are left out unless --all or --graphs asks for them",
		"try: cgc paper table3 --graphs cora,citeseer -o results",
	})
	return d
}

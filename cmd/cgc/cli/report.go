package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/chart"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/html"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/overview"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
)

const pageExtension = ".html"

func (c *command) reportCommand() *cobra.Command {
	job := &reportJob{transfer: transfer{command: c}}
	cmd := &cobra.Command{
		Use:   "report FILE --on GRAPH",
		Short: "Write an HTML page that shows what condensing did to a graph",
		Long: `Write one HTML file that shows what condensing did: test accuracy and training time compared with the
full graph, the condensed nodes and the training nodes in one plot, the predictions that changed, the condensed graph,
and a program that trains on it. If FILE was written with cgc condense --timings, the page also shows the seconds of
each step. The file contains everything it shows and loads nothing from the network.

FILE is a condensed graph, and GRAPH is the graph it was made from. Models are trained on both to compare them;
--seeds 0 trains none. run, experiment, tune and paper write such a page with --report.`,
		Example: examples(
			"cgc report cora-70.safetensors --on cora",
			"cgc report cora-70.safetensors --on cora --seeds 0 -o quick.html",
			"cgc report cora-70.safetensors --on cora --figures figures/",
		),
		Args:              arguments(1, "FILE"),
		ValidArgsFunction: files("safetensors"),
		RunE:              runs(job.run),
	}
	flags := inOrder(cmd)
	job.addGraph(flags, "original `GRAPH` that FILE was condensed from")
	flags.StringVarP(&job.out, "output", "o", "",
		"write the page to `FILE` (default the name of the condensed graph with .html)")
	flags.BoolVar(&job.force, "force", false, "replace the file even if cgc did not write it")
	flags.StringVar(&job.figures, "figures", "",
		"also write each plot as .svg and .png to `FOLDER`, which is created if needed")
	flags.BoolVar(&job.ceilings, "ceilings", true,
		"compare the speed of each step with the peak rates of this machine, if condensing took a second or "+
			"more (measuring takes two seconds and 600 MB of memory)")
	job.training = newTrainingFlags(cmd, "number of training runs of each model on the condensed graph; 0 trains none")
	job.training.least = 0
	job.training.addWhole(cmd, "")
	flags.Uint64Var(&job.seed, "seed", 0, "random seed of the training runs")
	return cmd
}

type reportJob struct {
	transfer
	out, figures    string
	force, ceilings bool
}

func (j *reportJob) run(ctx context.Context, args []string) error {
	file := args[0]
	if j.on == "" {
		return usagef("report needs --on GRAPH: the graph that %s was condensed from", file)
	}
	j.out = cmp.Or(j.out, strings.TrimSuffix(filepath.Base(file), extension)+pageExtension)
	if err := cmp.Or(
		j.training.check(), writable("-o", j.out, pageExtension, j.force, isPage), notFile("--figures", j.figures),
	); err != nil {
		return err
	}
	if err := j.load(ctx, file); err != nil {
		return err
	}
	s := overview.Subject{
		Graph: j.graph, Condensed: j.small, Over: overTrainings,
		Command: overview.Command(file, j.small, append([]string{j.on}, j.reading()...)...),
		Source:  j.on, Reading: j.reading(), File: file, OtherGraph: j.other,
	}
	if err := s.Check(); err != nil {
		return err
	}
	if err := j.compare(); err != nil {
		return err
	}
	if err := j.train(ctx, &s); err != nil {
		return err
	}
	r := j.outcome(file, s.Small) // before measuring the machine, which uses memory too
	r.Whole, r.Report = accuracies(s.Whole), j.out
	d, err := j.document(ctx, &s, j.ceilings)
	if err != nil {
		return err
	}
	if err := j.writePage(j.out, d); err != nil {
		return err
	}
	if err := j.writeFigures(j.figures, d); err != nil {
		return err
	}
	return j.print(r, r.document())
}

// train trains on the condensed graph and on the full graph, the requested number of times each.
func (j *reportJob) train(ctx context.Context, s *overview.Subject) (err error) {
	ctx, explain := guard(ctx, "testing on "+j.graph.Name, inParts(j.graph), 0)
	defer func() { err = explain(err) }()
	j.progress.step("training")
	e := j.evaluation(0)
	if e.Trainings > 0 {
		if s.Small, err = e.Run(ctx, s.Condensed, s.Graph); err != nil {
			return err
		}
	}
	if e.Trainings = j.wholeOf(j.training, s.Graph); e.Trainings > 0 {
		s.Whole, err = e.Whole(ctx, s.Condensed, s.Graph)
	}
	return err
}

// document returns the overview of a subject. If measure is set and condensing took at least overview.Moment, it first
// adds the steps of the condensation to the subject.
func (c *command) document(ctx context.Context, s *overview.Subject, measure bool) (*report.Document, error) {
	if measure && s.Condensed.Seconds.Total >= overview.Moment {
		ceilings, err := c.ceilings(ctx)
		if err != nil {
			return nil, err
		}
		view, err := s.Condensed.Setting().View(ctx, s.Graph)
		if err != nil {
			return nil, err
		}
		// Only cgc's own methods count their work. The steps of other methods have no ceiling.
		s.Steps, _ = bench.Steps(view.Graph, s.Condensed, ceilings)
	}
	s.Date = time.Now().Format(time.DateOnly)
	c.progress.step("drawing the report")
	return s.Document(ctx)
}

// writePage writes a document as an HTML page.
func (c *command) writePage(path string, d *report.Document) error {
	return c.replace(path, func(w io.Writer) error { return html.Render(w, d) })
}

// writeFigures writes each named plot of a document as .svg and .png to folder, unless folder is "".
func (c *command) writeFigures(folder string, d *report.Document) error {
	if folder == "" {
		return nil
	}
	if err := makeFolder("--figures", folder); err != nil {
		return err
	}
	for _, block := range d.Blocks {
		p, is := block.(*report.Plot)
		if !is || p.Name == "" {
			continue
		}
		if err := c.writeFigure(filepath.Join(folder, p.Name), p); err != nil {
			return err
		}
	}
	return nil
}

// writeFigure writes a plot as path.svg and path.png.
func (c *command) writeFigure(path string, p *report.Plot) error {
	return cmp.Or(
		c.replace(path+".svg", func(w io.Writer) error { return chart.SVG(w, p) }),
		c.replace(path+".png", func(w io.Writer) error { return chart.PNG(w, p) }),
	)
}

// writeReport writes a document as an HTML page, unless path is "". It appends the command line that repeats the work,
// and then more: blocks that show condensed graphs. title is used if the document has none.
func (c *command) writeReport(path, title string, d *report.Document, more []report.Block) error {
	if path == "" {
		return nil
	}
	page := report.Document{Title: cmp.Or(d.Title, title), Blocks: slices.Clone(d.Blocks)}
	words := []string{"cgc"}
	for _, arg := range c.args {
		words = append(words, discreet(arg, arg))
	}
	page.Add(report.Heading("How to repeat it"), report.Command(overview.CommandLine(words...)))
	page.Add(more...)
	return c.writePage(path, &page)
}

// addReport adds the flag --report, for a page that shows the results.
func addReport(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "report", "", "write an HTML page with the results to `FILE`")
}

// checkReport checks the value of --report before any work is done.
func checkReport(path string) error {
	if path == "" {
		return nil
	}
	return writable("--report", path, pageExtension, false, isPage)
}

// isPage reports whether cgc wrote the page at path. Such pages may be replaced without asking.
func isPage(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && bytes.Contains(text[:min(len(text), 4096)], []byte(html.Mark))
}

// shown is a condensation to show on the report page.
type shown struct {
	name   string // name or path of the graph, as the user gave it
	graph  *graph.Graph
	method condense.Method
	nodes  int
	seed   uint64
	// small and whole are the scores of models trained on condensed graphs and on the full graph.
	small, whole []experiment.Score
}

// show repeats a condensation, and returns a heading and the blocks that cgc run --report shows. Condensing again takes
// seconds, and the same seed gives the same condensed graph.
func (c *command) show(ctx context.Context, s shown) ([]report.Block, error) {
	c.progress.step("condensing for the report")
	small, err := s.method.Condense(ctx, s.graph, s.nodes, s.seed)
	if err != nil {
		return nil, err
	}
	file := defaultName(s.graph, small.Nodes())
	d, err := c.document(ctx, &overview.Subject{
		Graph: s.graph, Condensed: small, Small: s.small, Whole: s.whole, Over: overCondensations,
		Command: overview.Command(file, small, append([]string{s.name}, c.reading()...)...),
		Source:  s.name, Reading: c.reading(), File: file,
	}, true)
	if err != nil {
		return nil, err
	}
	heading := report.Heading(fmt.Sprintf("%s by %s, seed %d", d.Title, small.Method, s.seed))
	return append([]report.Block{heading}, d.Blocks...), nil
}

// measure is bench.Measure, which uses all cores for two seconds. Quick tests replace it.
var measure = bench.Measure

// ceilings measures the machine, but at most once per command line.
func (c *command) ceilings(ctx context.Context) (bench.Ceilings, error) {
	if c.measured == nil {
		c.progress.step("measuring the machine")
		measured, err := measure(ctx, bench.Large, 0.5, rand.NewPCG(0, 0))
		if err != nil {
			return bench.Ceilings{}, err
		}
		c.measured = &measured
	}
	return *c.measured, nil
}

// scoresOf returns the scores of an arm of an experiment, and the scores of training on the full graph for comparison.
// All summaries belong to one graph.
func scoresOf(summaries []experiment.Summary, arm string, nodes int) (small, whole []experiment.Score) {
	of := func(s experiment.Summary) experiment.Score {
		score := experiment.Score{Model: s.Model, Seconds: s.Train}
		for _, seed := range s.Seeds {
			score.Val, score.Test = append(score.Val, seed.Val), append(score.Test, seed.Test)
		}
		return score
	}
	for _, s := range summaries {
		if s.Arm != arm || s.Nodes != nodes || s.IsWhole() {
			continue
		}
		small = append(small, of(s))
		for _, w := range summaries {
			if w.IsWhole() && w.Model == s.Model && w.Standardize == s.Standardize && w.Inductive == s.Inductive &&
				w.Causal == s.Causal {
				whole = append(whole, of(w))
				break
			}
		}
	}
	return small, whole
}

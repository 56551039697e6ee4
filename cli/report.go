package cli

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/bench"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/overview"
	"github.com/graph-condensation/cgc/report"
	"github.com/graph-condensation/cgc/report/chart"
	"github.com/graph-condensation/cgc/report/html"
)

const pageExtension = ".html"

func (c *command) reportCommand() *cobra.Command {
	job := &reportJob{command: c}
	cmd := &cobra.Command{
		Use:   "report FILE --on GRAPH",
		Short: "Show in a page what condensing did to a graph",
		Long: `Write one HTML file that shows what condensing did: sizes, the training embeddings with the condensed nodes
among them, the condensed graph, class budgets, accuracies, what changed in the predictions, and seconds by step. The
file holds all that it shows, and asks no server for anything.

FILE is a condensed graph, GRAPH the graph it was made from. Models are trained on both, so that they can be
compared; --seeds 0 trains none. run, experiment, tune and paper write such a page with --report.`,
		Example: examples(
			"cgc report cora-70.safetensors --on cora",
			"cgc report cora-70.safetensors --on cora --seeds 0 -o quick.html",
			"cgc report cora-70.safetensors --on cora --figures figures/",
		),
		Args:              arguments(1, "FILE"),
		ValidArgsFunction: files("safetensors"),
		RunE: func(cmd *cobra.Command, args []string) error {
			job.wholeSaid = cmd.Flags().Changed("whole")
			return job.run(cmd.Context(), args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&job.on, "on", "", "the `GRAPH` that FILE was condensed from")
	flags.StringVarP(&job.out, "output", "o", "",
		"write the page to `FILE` (default the condensed graph's name with .html)")
	flags.BoolVar(&job.force, "force", false, "replace the file even if it is not a page of cgc")
	flags.StringVar(&job.figures, "figures", "",
		"also write each plot as .svg and .png into `FOLDER`, which is made if needed, for papers")
	flags.BoolVar(&job.ceilings, "ceilings", true,
		"measure the speed of this machine, to put beside the seconds: two seconds, and 600 MB of memory")
	job.training = newTrainingFlags(cmd, "number of trainings of each model on the condensed graph; 0 trains none")
	job.training.least = 0
	flags.IntVar(&job.whole, "whole", 0, "number of trainings on the whole graph, 0 for none "+wholeDefault)
	flags.Uint64Var(&job.seed, "seed", 0, "decides all random choices of the trainings")
	return cmd
}

// reportJob is one cgc report.
type reportJob struct {
	*command
	on, out, figures string
	force, ceilings  bool
	training         *trainingFlags
	whole            int
	wholeSaid        bool
	seed             uint64
}

func (j *reportJob) run(ctx context.Context, file string) error {
	if j.on == "" {
		return usagef("report has no --on, want the graph that %s was condensed from", file)
	}
	if err := j.training.check(); err != nil {
		return err
	}
	if j.whole < 0 {
		return usagef("--whole %d, want at least 0", j.whole)
	}
	if j.out == "" {
		j.out = strings.TrimSuffix(filepath.Base(file), extension) + pageExtension
	}
	if err := writable("-o", j.out, pageExtension, j.force, isPage); err != nil {
		return err
	}
	if info, err := os.Stat(j.figures); err == nil && !info.IsDir() {
		return usagef("--figures %s is a file, want a folder", j.figures)
	}
	small, err := cgc.Load(file)
	if err != nil {
		return err
	}
	begun := time.Now()
	j.progress.step("opening " + format.Shown(j.on))
	g, err := j.options().Open(ctx, j.on)
	if err != nil {
		return err
	}
	seconds := time.Since(begun).Seconds()
	s := overview.Subject{Graph: g, Condensed: small, Over: overTrainings, Command: repeat(j.on, file, small)}
	if err := s.Check(); err != nil {
		return err
	}
	if err := j.train(ctx, &s); err != nil {
		return err
	}
	peak := peakRSS() // before the machine is measured, which takes memory
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
	r := outcomeOf(g)
	r.add(small, seconds, small.Seconds) // the seconds are those of its condensation
	r.Over, r.Results, r.Whole = overTrainings, accuracies(s.Small), accuracies(s.Whole)
	if len(r.Results) == 0 {
		r.Over = ""
	}
	r.PeakRSS, r.File, r.Report = peak, file, j.out
	return j.print(r, r.document())
}

// train trains on the condensed graph and on the whole graph, as often as was asked for.
func (j *reportJob) train(ctx context.Context, s *overview.Subject) (err error) {
	if !j.wholeSaid && s.Graph.Nodes() <= smallWhole {
		j.whole = j.training.seeds
	}
	e := experiment.Evaluation{
		Models: j.training.models, Training: j.training.config, Trainings: j.training.seeds, Seed: j.seed,
	}
	if e.Trainings > 0 {
		if s.Small, err = e.Run(ctx, s.Condensed, s.Graph); err != nil {
			return err
		}
	}
	if e.Trainings = j.whole; e.Trainings > 0 {
		s.Whole, err = e.Whole(ctx, s.Condensed, s.Graph)
	}
	return err
}

// document completes a subject with the steps of its condensation, and returns its overview.
func (c *command) document(ctx context.Context, s *overview.Subject, measure bool) (*report.Document, error) {
	if measure && s.Condensed.Seconds.Total > 0 {
		ceilings, err := c.ceilings(ctx)
		if err != nil {
			return nil, err
		}
		view, err := s.Condensed.Setting().View(ctx, s.Graph)
		if err != nil {
			return nil, err
		}
		// Another method than cgc's own says nothing of its work: its steps have no ceiling.
		s.Steps, _ = bench.Steps(view.Graph, s.Condensed, ceilings)
	}
	c.progress.step("drawing the report")
	return s.Document(ctx)
}

// writePage writes a document as a page.
func (c *command) writePage(path string, d *report.Document) error {
	page, err := html.Render(d)
	if err != nil {
		return err
	}
	return c.replace(path, func(w io.Writer) error {
		_, err := w.Write(page)
		return err
	})
}

// writeFigures writes each plot of a document that has a name, as two pictures; nothing without a folder.
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
		path := filepath.Join(folder, p.Name)
		if err := cmp.Or(
			c.replace(path+".svg", func(w io.Writer) error { return chart.PlotSVG(w, p) }),
			c.replace(path+".png", func(w io.Writer) error { return chart.PlotPNG(w, p) }),
		); err != nil {
			return err
		}
	}
	return nil
}

// writeReport writes a document as a page; nothing without a path. The command line that repeats it follows, and then
// more, which shows condensed graphs of the result. title is for a document that has none.
func (c *command) writeReport(path, title string, d *report.Document, more []report.Block) error {
	if path == "" {
		return nil
	}
	page := report.Document{Title: cmp.Or(d.Title, title), Blocks: slices.Clone(d.Blocks)}
	page.Add(report.Heading("How to repeat it"), report.Command(commandLine(append([]string{"cgc"}, c.args...)...)))
	page.Add(more...)
	return c.writePage(path, &page)
}

// addReport gives cmd the flag of a page that shows what it found.
func addReport(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "report", "", "write a page that shows the result to `FILE`, whose name ends in .html")
}

// checkReport checks the value of --report before any work is done.
func checkReport(path string) error {
	if path == "" {
		return nil
	}
	return writable("--report", path, pageExtension, false, isPage)
}

// isPage says whether the file at path is a page that this program wrote. Such a file may be replaced without asking.
func isPage(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && bytes.Contains(text[:min(len(text), 4096)], []byte(html.Mark))
}

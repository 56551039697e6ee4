package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/findings"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/predictions"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/arrivals"
	"github.com/graph-condensation/cgc/dataset/format/npy"
	"github.com/graph-condensation/cgc/experiment/model"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

func (c *command) predictCommand() *cobra.Command {
	job := &predictJob{command: c}
	cmd := &cobra.Command{
		Use: "predict MODEL --on GRAPH | --new FOLDER",
		Example: examples(
			"cgc predict model.safetensors --on my-graph/ -o predictions.csv",
			"cgc predict model.safetensors --on cora --part test -o predictions.safetensors",
			"cgc predict model.safetensors --on my-graph/ --only ids.txt -o predictions.csv",
			"cgc predict summary.safetensors --new new-nodes/",
		),
		Short: "Predict the classes of nodes with a model from cgc train",
		Long: `Predict the class of each node, and the probability of each class, with a model that cgc train wrote.
GRAPH must have the same features, with the same names or in the same order. It may be the original graph after it has
grown. Nodes need no labels: tables may lack the column label, and arrays may contain −1.

With --new, predict the nodes in FOLDER/nodes.csv, which has the column id and a column for each feature. edges.csv
connects them to known nodes and to each other (columns source, target and, optionally, weight). They may also be in
Parquet files, or in a database. MODEL must contain a summary of the known nodes, written by cgc summarize. GRAPH is not
needed.

The table has the columns id, class and, for each class, its probability. Without -o, it is printed. A file FILE.csv
and FILE.parquet contain the table, FILE.safetensors has the tensors nodes, class and probabilities, and FILE.npy has
only the probabilities, with a row for each node.`,
		Args:              arguments(1, "MODEL"),
		ValidArgsFunction: files("safetensors"),
		RunE:              runs(job.run),
	}
	flags := inOrder(cmd)
	flags.StringVar(&job.on, "on", "", "`GRAPH` whose nodes to predict")
	job.chosen.addTo(cmd, "predict")
	flags.Var(size(&job.memory), "memory",
		"memory limit, such as 2GiB or 500MB; a larger graph in a native file is read in order (default none)")
	flags.StringVar(&job.arrived, "new", "", "predict the new nodes in `FOLDER`, or in a database, without a graph")
	flags.StringVarP(&job.out, "output", "o", "", "write the predictions to `FILE`: "+words(predictionFiles))
	flags.BoolVar(&job.force, "force", false, "replace the file if it exists")
	return cmd
}

// predictionFiles lists the file extensions for predictions.
var predictionFiles = []string{".csv", ".parquet", ".safetensors", ".npy"}

type predictJob struct {
	*command
	on, out, arrived string
	chosen           chosenNodes
	memory           int64
	force            bool
}

// predicted is what --json prints.
type predicted struct {
	Graph string `json:"graph"`
	Nodes int    `json:"nodes"`
	// Classes holds the number of nodes that are predicted to belong to each class.
	Classes []int `json:"classes"`
	// Score compares the predictions with the labels. Classes are compared by name if both model and graph have names.
	// UnknownClasses lists the graph's classes that the model lacks.
	predictions.Score
	UnknownClasses []string `json:"unknown_classes,omitempty"`
	// Seconds is the time spent predicting, without reading and writing.
	Seconds float64 `json:"seconds"`
	File    string  `json:"file"`
}

func (j *predictJob) run(ctx context.Context, args []string) error {
	extension := strings.ToLower(filepath.Ext(j.out))
	if err := j.check(args[0], extension); err != nil {
		return err
	}
	m, err := model.Load(args[0])
	if err != nil {
		return err
	}
	defer memory.Bounded(collected(j.memory))()
	p, err := j.predict(ctx, m)
	if err != nil {
		return err
	}
	switch extension {
	case "":
		j.progress.finish()
		return p.WriteCSV(j.stdout)
	case ".csv":
		err = j.replace(j.out, p.WriteCSV)
	case ".npy":
		err = j.replace(j.out, func(to io.Writer) error {
			return npy.Write(to, format.Array{Name: "probabilities", Data: mat.Matrix(p.Probabilities)}, mat.F32)
		})
	case ".parquet":
		err = j.save(j.out, func() error { return p.SaveParquet(ctx, j.out) })
	default:
		err = j.save(j.out, func() error { return p.SaveTensors(ctx, j.out) })
	}
	if err != nil {
		return err
	}
	return j.summarize(p)
}

// check validates the flags before any work is done. file is the argument MODEL.
func (j *predictJob) check(file, extension string) error {
	switch {
	case (j.on == "") == (j.arrived == ""):
		return usagef("predict needs --on GRAPH, the graph whose nodes to predict, or --new FOLDER, new nodes; and not both")
	case j.arrived != "" && j.chosen.some():
		return usagef("%s is for --on GRAPH: all new nodes are predicted", &j.chosen)
	case j.out == "" && j.json:
		return usagef("predict --json needs -o FILE: the file for the predictions")
	case j.out != "" && !slices.Contains(predictionFiles, extension):
		return usagef("-o %s, must end in %s", j.out, words(predictionFiles))
	}
	if j.arrived != "" {
		if err := j.unread("--new", "--nodes-sql", "--edges-sql"); err != nil {
			return err
		}
	}
	if err := j.chosen.read(); err != nil {
		return err
	}
	if j.out == "" {
		return nil
	}
	if err := writable("-o", j.out, extension, j.force, never); err != nil {
		return err
	}
	return notInput(j.out, file, j.on, j.chosen.only)
}

// summarize prints how many nodes were predicted, and how many of them correctly.
func (j *predictJob) summarize(p *predictions.Predictions) error {
	r := predicted{
		Graph: p.Graph, Nodes: len(p.Nodes), UnknownClasses: p.UnknownClasses, Seconds: p.Seconds, File: j.out,
	}
	r.Classes, r.Score = p.Counts()
	d := new(report.Document)
	text := fmt.Sprintf("%s of %s predicted", report.Plural(r.Nodes, "node"), r.Graph)
	if r.Labelled > 0 {
		label := "label"
		if r.UnknownClasses != nil {
			label = "class that the model knows"
		}
		text += fmt.Sprintf("; of %s with a %s, %.1f%% are right", report.Plural(r.Labelled, "node"), label, r.Accuracy)
		if r.Training > 0 {
			text += fmt.Sprintf(" (%s of them are training nodes; --part test leaves these out)", report.Count(r.Training))
		}
	}
	d.Add(report.Paragraph(text))
	if more := findings.Metrics(r.Metrics, r.Accuracy, p.Model.Classes, p.Model.ClassNames); more != "" {
		d.Add(report.Paragraph(more))
	}
	d.Add(report.Paragraph("predictions: " + j.out))
	return j.print(r, d)
}

// predict returns the predictions that the flags ask for.
func (j *predictJob) predict(ctx context.Context, m *model.Model) (*predictions.Predictions, error) {
	if j.arrived != "" {
		p, notes, err := predictions.OfNew(ctx, m, arrivals.Source{Path: j.arrived, Queries: j.queries})
		j.warn(notes)
		return p, err
	}
	j.unlabelled = true
	g, _, err := j.read(ctx, j.on)
	if err != nil {
		return nil, err
	}
	j.progress.step("predicting")
	nodes, err := j.chosen.of(g)
	if err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		j.warn([]string{fmt.Sprintf("%s has no node in %s, so nothing is predicted", g.Name, &j.chosen)})
	}
	bound, rest := testingBound(j.memory, g, 0, m.Hidden)
	p, err := predictions.Of(ctx, m, g, nodes, bound)
	if err != nil {
		return nil, rest.limited(err, g)
	}
	if p.UnknownClasses != nil {
		j.warn([]string{fmt.Sprintf("the model does not know these classes of %s, whose nodes do not count as right or "+
			"wrong: %s", g.Name, strings.Join(p.UnknownClasses, ", "))})
	}
	return p, nil
}

package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/arrivals"
	"github.com/graph-condensation/cgc/dataset/format/npy"
	"github.com/graph-condensation/cgc/experiment/model"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
)

func (c *command) predictCommand() *cobra.Command {
	job := &predictJob{command: c, part: "all"}
	cmd := &cobra.Command{
		Use: "predict MODEL --on GRAPH | --new FOLDER",
		Example: examples(
			"cgc predict model.safetensors --on my-graph/ -o predictions.csv",
			"cgc predict model.safetensors --on cora --part test -o predictions.safetensors",
			"cgc predict summary.safetensors --new new-nodes/",
		),
		Short: "Predict the classes of the nodes of a graph with a model of cgc train",
		Long: `Predict the class of each node, and the probability of each class, with a model that cgc train wrote. GRAPH has
the same features in the same order; it may be the original graph after it has grown. Its labels are not read.

With --new, the nodes are those of nodes.csv in FOLDER, with the columns id and one for each feature. edges.csv joins
them with known nodes, or with each other (source, target, and weight if there is one). MODEL then has a summary of
the known nodes, by cgc summarize, and GRAPH is not needed.

The table has the columns id, class and, for each class, its probability. Without -o, it is printed. A file FILE.csv
contains the table; FILE.parquet has id, class and a list of the probabilities; FILE.safetensors the tensors nodes,
class and probabilities; and FILE.npy the probabilities alone, a row for each node.`,
		Args:              arguments(1, "MODEL"),
		ValidArgsFunction: files("safetensors"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return job.run(cmd.Context(), args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&job.on, "on", "", "`GRAPH` whose nodes to predict")
	addChoice(cmd, &job.part, "part", predictable, "nodes to predict, of the split or without a label")
	flags.StringVar(&job.arrived, "new", "", "predict the new nodes in `FOLDER` without a graph")
	into(graphGroup, flags)
	flags.StringVarP(&job.out, "output", "o", "", "write the predictions to `FILE`: "+words(predictionFiles))
	flags.BoolVar(&job.force, "force", false, "replace the file if it exists")
	into(outputGroup, flags)
	return cmd
}

// predictable lists the values of --part of cgc predict.
var predictable = []string{"all", "train", "val", "test", "unlabelled"}

// predictionFiles lists the extensions of files of predictions.
var predictionFiles = []string{".csv", ".parquet", ".safetensors", ".npy"}

// predictJob is one run of cgc predict.
type predictJob struct {
	*command
	on, out, part, arrived string
	force                  bool
}

// predicted is what --json prints.
type predicted struct {
	Graph string `json:"graph"`
	Nodes int    `json:"nodes"`
	// Classes holds the number of nodes that are predicted to belong to each class.
	Classes []int `json:"classes"`
	// Accuracy is the share of labelled nodes, Labelled of them, whose class is predicted, in percent.
	Labelled int     `json:"labelled"`
	Accuracy float64 `json:"accuracy"`
	// Seconds is the time of the predictions, without reading and writing.
	Seconds float64 `json:"seconds"`
	File    string  `json:"file"`
}

func (j *predictJob) run(ctx context.Context, file string) error {
	extension := strings.ToLower(filepath.Ext(j.out))
	switch {
	case (j.on == "") == (j.arrived == ""):
		return usagef("predict needs --on GRAPH, the graph whose nodes to predict, or --new FOLDER, new nodes; and not both")
	case j.arrived != "" && j.part != "all":
		return usagef("--part %s is for --on GRAPH: new nodes are in no part of a split", j.part)
	case j.out == "" && j.json:
		return usagef("predict --json needs -o FILE: the file for the predictions")
	case j.out != "" && !slices.Contains(predictionFiles, extension):
		return usagef("-o %s, must end in %s", j.out, words(predictionFiles))
	}
	if j.out != "" {
		if err := writable("-o", j.out, extension, j.force, never); err != nil {
			return err
		}
	}
	m, err := model.Load(file)
	if err != nil {
		return err
	}
	defer memory.Bounded(collected(0))()
	s, err := j.predict(ctx, m)
	if err != nil {
		return err
	}
	switch extension {
	case "":
		j.progress.finish()
		return s.write(j.stdout)
	case ".csv":
		err = j.replace(j.out, s.write)
	case ".npy":
		err = j.replace(j.out, func(to io.Writer) error {
			return npy.Write(to, format.Array{Name: "probabilities", Data: mat.Matrix(s.rows())}, mat.F32)
		})
	case ".parquet":
		err = j.save(j.out, func() error { return s.parquet(ctx, j.out) })
	default:
		err = j.save(j.out, func() error { return s.save(ctx, j.out) })
	}
	if err != nil {
		return err
	}
	r := s.summary()
	r.File = j.out
	d := new(report.Document)
	text := fmt.Sprintf("%s of %s predicted", report.Plural(r.Nodes, "node"), s.name)
	if r.Labelled > 0 {
		text += fmt.Sprintf("; of %s with a label, %.1f%% are right", report.Plural(r.Labelled, "node"), r.Accuracy)
	}
	d.Add(report.Paragraph(text), report.Paragraph("predictions: "+j.out))
	return j.print(r, d)
}

// predict returns the predictions that the flags ask for.
func (j *predictJob) predict(ctx context.Context, m *model.Model) (s predictions, err error) {
	s.model = m
	if j.arrived != "" {
		if m.Known == nil {
			return s, fmt.Errorf("the model has no summary of the known nodes: cgc summarize MODEL --on GRAPH -o FILE adds it")
		}
		a, notes, err := arrivals.Read(ctx, j.arrived, m.IDs, len(m.Known.Group))
		if err != nil {
			return s, err
		}
		j.warn(notes)
		s.name, s.ids, s.nodes = filepath.Base(j.arrived), a.IDs, make([]int32, a.X.Rows)
		for i := range s.nodes {
			s.nodes[i] = int32(i)
		}
		begun := time.Now()
		s.probabilities, err = m.New(ctx, a.X, a.Edges)
		s.seconds = time.Since(begun).Seconds()
		return s, err
	}
	g, _, err := j.read(ctx, j.on)
	if err != nil {
		return s, err
	}
	j.progress.step("predicting")
	s.name, s.ids, s.labels, s.nodes = g.Name, g.IDs, g.Y, nodesOfPart(g, j.part)
	begun := time.Now()
	s.probabilities, err = m.Probabilities(ctx, g)
	s.seconds = time.Since(begun).Seconds()
	return s, err
}

// nodesOfPart returns the nodes of a part of g, ascending.
func nodesOfPart(g *graph.Graph, part string) (nodes []int32) {
	switch part {
	case "train":
		return g.Split.Train
	case "val":
		return g.Split.Val
	case "test":
		return g.Split.Test
	}
	for i, y := range g.Y {
		if part == "all" || y == graph.Unlabelled {
			nodes = append(nodes, int32(i))
		}
	}
	return nodes
}

// predictions are the predictions for some nodes of a graph, or for new nodes.
type predictions struct {
	name          string
	ids           []string // of all nodes; nil means numbers
	labels        []int32  // nil means none
	model         *model.Model
	probabilities *mat.Dense // of all nodes
	nodes         []int32
	seconds       float64
}

// class returns the class that is predicted for a node.
func (s predictions) class(node int32) int {
	return kernel.ArgMax(s.probabilities.Row(int(node)))
}

// summary counts the predictions.
func (s predictions) summary() predicted {
	r := predicted{
		Graph: s.name, Nodes: len(s.nodes), Classes: make([]int, s.model.Classes), Seconds: s.seconds,
	}
	right := 0
	for _, i := range s.nodes {
		class := s.class(i)
		r.Classes[class]++
		if s.labels == nil || s.labels[i] == graph.Unlabelled {
			continue
		}
		r.Labelled++
		if int(s.labels[i]) == class {
			right++
		}
	}
	if r.Labelled > 0 {
		r.Accuracy = 100 * float64(right) / float64(r.Labelled)
	}
	return r
}

// write writes the predictions as a CSV table.
func (s predictions) write(to io.Writer) error {
	w := csv.NewWriter(to)
	name := strconv.Itoa
	if s.model.ClassNames != nil {
		name = func(c int) string { return s.model.ClassNames[c] }
	}
	row := []string{"id", "class"}
	for c := range s.model.Classes {
		row = append(row, name(c))
	}
	if err := w.Write(row); err != nil {
		return err
	}
	for _, i := range s.nodes {
		id := strconv.Itoa(int(i))
		if s.ids != nil {
			id = s.ids[i]
		}
		row = append(row[:0], id, name(s.class(i)))
		for _, p := range s.probabilities.Row(int(i)) {
			row = append(row, strconv.FormatFloat(float64(p), 'g', 6, 32))
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// rows returns the probabilities of the nodes.
func (s predictions) rows() *mat.Dense {
	rows := new(mat.Dense)
	s.probabilities.Gather(rows, s.nodes)
	return rows
}

// classes returns the predicted class of each node.
func (s predictions) classes() []int32 {
	class := make([]int32, len(s.nodes))
	for k, i := range s.nodes {
		class[k] = int32(s.class(i))
	}
	return class
}

// save writes the predictions as tensors: nodes, class, and a row of probabilities for each of the nodes.
func (s predictions) save(ctx context.Context, path string) error {
	rows := s.rows()
	return safetensors.Write(ctx, path, map[string]string{"graph": s.name}, []safetensors.Tensor{
		{Name: "nodes", Data: s.nodes}, {Name: "class", Data: s.classes()},
		{Name: "probabilities", Shape: []int{rows.Rows, rows.Cols}, Data: rows.Data},
	})
}

// parquet writes the predictions as a table: id, class, and the list probabilities. Classes have their names.
func (s predictions) parquet(ctx context.Context, path string) error {
	f, err := format.Find("parquet")
	if err != nil {
		return err
	}
	w, is := f.(format.TableWriter)
	if !is {
		return fmt.Errorf("-o %s: this build writes no Parquet files", path)
	}
	id := format.Column{Name: "id", Data: s.nodes}
	if s.ids != nil {
		names := make([]string, len(s.nodes))
		for k, i := range s.nodes {
			names[k] = s.ids[i]
		}
		id.Data = names
	}
	return w.WriteTable(ctx, path, &format.Table{Rows: len(s.nodes), Columns: []format.Column{
		id, {Name: "class", Data: s.classes(), Dictionary: s.model.ClassNames},
		{Name: "probabilities", Width: s.model.Classes, Data: s.rows().Data},
	}})
}

package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
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
		Use: "predict MODEL --on GRAPH",
		Example: examples(
			"cgc predict model.safetensors --on my-graph/ -o predictions.csv",
			"cgc predict model.safetensors --on cora --part test -o predictions.safetensors",
		),
		Short: "Predict the classes of the nodes of a graph with a model of cgc train",
		Long: `Predict the class of each node, and the probability of each class, with a model that cgc train wrote. GRAPH has
the same features in the same order; it may be the original graph after it has grown. Its labels are not read.

The table has the columns id, class and, for each class, its probability. Without -o, it is printed. A file FILE.csv
contains the table; FILE.safetensors contains the tensors nodes, class and probabilities.`,
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
	into(graphGroup, flags)
	flags.StringVarP(&job.out, "output", "o", "", "write the predictions to `FILE`, .csv or .safetensors")
	flags.BoolVar(&job.force, "force", false, "replace the file if it exists")
	into(outputGroup, flags)
	return cmd
}

// predictable lists the values of --part of cgc predict.
var predictable = []string{"all", "train", "val", "test", "unlabelled"}

// predictJob is one run of cgc predict.
type predictJob struct {
	*command
	on, out, part string
	force         bool
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
	File     string  `json:"file"`
}

func (j *predictJob) run(ctx context.Context, file string) error {
	extension := strings.ToLower(filepath.Ext(j.out))
	switch {
	case j.on == "":
		return usagef("predict needs --on GRAPH: the graph whose nodes to predict")
	case j.out == "" && j.json:
		return usagef("predict --json needs -o FILE: the file for the predictions")
	case j.out != "" && extension != ".csv" && extension != ".safetensors":
		return usagef("-o %s, must end in .csv or .safetensors", j.out)
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
	g, _, err := j.read(ctx, j.on)
	if err != nil {
		return err
	}
	j.progress.step("predicting")
	p, err := m.Probabilities(ctx, g)
	if err != nil {
		return err
	}
	s := predictions{g, m, p, nodesOfPart(g, j.part)}
	switch extension {
	case "":
		j.progress.finish()
		return s.write(j.stdout)
	case ".csv":
		err = j.replace(j.out, s.write)
	default:
		err = j.save(j.out, func() error { return s.save(ctx, j.out) })
	}
	if err != nil {
		return err
	}
	r := s.summary()
	r.File = j.out
	d := new(report.Document)
	text := fmt.Sprintf("%s of %s predicted", report.Plural(r.Nodes, "node"), g.Name)
	if r.Labelled > 0 {
		text += fmt.Sprintf("; of %s with a label, %.1f%% are right", report.Plural(r.Labelled, "node"), r.Accuracy)
	}
	d.Add(report.Paragraph(text), report.Paragraph("predictions: "+j.out))
	return j.print(r, d)
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

// predictions are the predictions for some nodes of a graph.
type predictions struct {
	graph         *graph.Graph
	model         *model.Model
	probabilities *mat.Dense // of all nodes
	nodes         []int32
}

// class returns the class that is predicted for a node.
func (s predictions) class(node int32) int {
	return kernel.ArgMax(s.probabilities.Row(int(node)))
}

// summary counts the predictions.
func (s predictions) summary() predicted {
	r := predicted{Graph: s.graph.Name, Nodes: len(s.nodes), Classes: make([]int, s.model.Classes)}
	right := 0
	for _, i := range s.nodes {
		class, y := s.class(i), int(s.graph.Y[i])
		r.Classes[class]++
		if y != graph.Unlabelled {
			r.Labelled++
		}
		if y == class {
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
		if s.graph.IDs != nil {
			id = s.graph.IDs[i]
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

// save writes the predictions as tensors: nodes, class, and a row of probabilities for each of the nodes.
func (s predictions) save(ctx context.Context, path string) error {
	class := make([]int32, len(s.nodes))
	rows := mat.NewDense(len(s.nodes), s.model.Classes)
	for k, i := range s.nodes {
		class[k] = int32(s.class(i))
		copy(rows.Row(k), s.probabilities.Row(int(i)))
	}
	return safetensors.Write(ctx, path, map[string]string{"graph": s.graph.Name}, []safetensors.Tensor{
		{Name: "nodes", Data: s.nodes}, {Name: "class", Data: class},
		{Name: "probabilities", Shape: []int{rows.Rows, rows.Cols}, Data: rows.Data},
	})
}

package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/report"
)

func (c *command) describeCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "describe GRAPH",
		Short:             "Describe a graph: sizes, split, classes, degrees, homophily",
		Args:              arguments(1, "GRAPH"),
		ValidArgsFunction: completeGraph,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.progress.step("opening " + args[0])
			g, err := c.options().Open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			facts := dataset.Describe(g)
			return c.print(facts, func(w io.Writer) error { return writeFacts(w, facts) })
		},
	}
}

func writeFacts(w io.Writer, f dataset.Facts) error {
	storage, weights := "dense", "unweighted"
	if f.Sparse {
		storage = "sparse"
	}
	if f.Weighted {
		weights = "weighted"
	}
	var b bytes.Buffer
	report.Table(&b, "ll", [][]string{
		{"graph", f.Name},
		{"nodes", fmt.Sprintf("%s, %s without an edge, %s without a label", report.Count(f.Nodes), report.Count(f.Isolated), report.Count(f.Unlabelled))},
		{"edges", fmt.Sprintf("%s, %s, %.3g%% of them within a class", report.Count(f.Edges), weights, 100*f.Homophily)},
		{"degrees", fmt.Sprintf("%s to %s, median %s", report.Count(f.Degrees.Min), report.Count(f.Degrees.Max), report.Count(f.Degrees.Median))},
		{"features", fmt.Sprintf("%s, stored %s, %.3g%% of the values not zero", report.Count(f.Features), storage, 100*f.Density)},
		{"classes", report.Count(f.Classes)},
	})
	b.WriteByte('\n')
	rows := [][]string{{"class", "nodes", "train", "val", "test"}}
	for i, c := range f.PerClass {
		rows = append(rows, []string{strconv.Itoa(i), report.Count(c.All), report.Count(c.Train), report.Count(c.Val), report.Count(c.Test)})
	}
	rows = append(rows, []string{"all", report.Count(f.Nodes - f.Unlabelled), report.Count(f.Train), report.Count(f.Val), report.Count(f.Test)})
	report.Table(&b, "rrrrr", rows)
	_, err := w.Write(b.Bytes())
	return err
}

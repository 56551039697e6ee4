package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
)

func (c *command) describeCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "describe GRAPH",
		Example: examples("cgc data describe my-graph/", "cgc data describe cora --json"),
		Short:   "Describe a graph: sizes, split, classes, degrees, homophily, and anything unusual",
		Long: `Describe a graph and list what is unusual about it: the fact, what it means for condensing, and what helps.
Notes on standard error say what was changed when reading. With --json, the keys odd and notes contain both.`,
		Args:              arguments(1, "GRAPH"),
		ValidArgsFunction: completeGraph,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.progress.step("opening " + format.Shown(args[0]))
			facts, err := c.options().Describe(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return c.print(facts, factsDocument(facts))
		},
	}
}

// factsDocument describes a graph and its classes.
func factsDocument(f dataset.Facts) *report.Document {
	storage, weights := "dense", "unweighted"
	if f.Sparse {
		storage = "sparse"
	}
	if f.Weighted {
		weights = "weighted"
	}
	facts := &report.Table{Columns: []report.Column{{Key: "of"}, {Key: "fact"}}}
	fact := func(of, format string, args ...any) {
		facts.Row(report.Word(of), report.Word(fmt.Sprintf(format, args...)))
	}
	count := report.Count
	fact("graph", "%s", f.Name)
	fact("nodes", "%s, %s without an edge, %s without a label", count(f.Nodes), count(f.Isolated), count(f.Unlabelled))
	fact("edges", "%s, %s, %.3g%% of them within a class", count(f.Edges), weights, 100*f.Homophily)
	fact("components", "%s, besides nodes without an edge", count(f.Components))
	fact("degrees", "%s to %s, median %s", count(f.Degrees.Min), count(f.Degrees.Max), count(f.Degrees.Median))
	fact("features", "%s, stored %s, %.3g%% of the values not zero", count(f.Features), storage, 100*f.Density)
	fact("classes", "%s", count(f.Classes))
	classes := &report.Table{Columns: []report.Column{
		{Name: "class", Side: report.Right}, {Name: "nodes"}, {Name: "train"}, {Name: "val"}, {Name: "test"},
	}}
	row := func(class report.Cell, all, train, val, test int) {
		classes.Row(class, report.Integer(all), report.Integer(train), report.Integer(val), report.Integer(test))
	}
	for i, c := range f.PerClass {
		name := report.Full(i)
		if c.Name != "" {
			name = report.Word(c.Name)
		}
		row(name, c.All, c.Train, c.Val, c.Test)
	}
	row(report.Word("all"), f.Nodes-f.Unlabelled, f.Train, f.Val, f.Test)
	d := new(report.Document)
	d.Add(facts, classes)
	if len(f.Odd) > 0 {
		odd := make(report.Notes, len(f.Odd))
		for i, o := range f.Odd {
			odd[i] = o.String()
		}
		d.Add(report.Heading("What is odd"), odd)
	}
	return d
}

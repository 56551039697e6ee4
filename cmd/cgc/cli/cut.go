package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

func (c *command) cutCommand() *cobra.Command {
	job := &cutJob{command: c}
	cmd := &cobra.Command{
		Use: "cut FILE --nodes N -o OTHER",
		Example: examples(
			"cgc cut large.safetensors --nodes 35 -o small.safetensors",
			"cgc cut large.safetensors --nodes 7 -o smallest.pt",
		),
		Short: "Make a smaller condensed graph from a larger one in milliseconds",
		Long: `Merge nodes of the condensed graph in FILE until N are left, and write the result to OTHER. The graph
that FILE was made from is not needed. Each step merges the pair of nodes of one class that increases the
sum of squared distances to the means least. So each node of a small result is a union of nodes of every larger result.
OTHER has no edges: if FILE has edges, its features are propagated over them first.`,
		Args:              arguments(1, "FILE"),
		ValidArgsFunction: files("safetensors"),
		RunE:              runs(job.run),
	}
	flags := inOrder(cmd)
	flags.IntVar(&job.nodes, "nodes", 0, "number of condensed nodes, at least one for each class")
	flags.StringVarP(&job.out, "output", "o", "", "write the condensed graph to `OTHER`")
	flags.BoolVar(&job.force, "force", false, "replace the file even if it is not a condensed graph")
	return cmd
}

type cutJob struct {
	*command
	nodes int
	out   string
	force bool
}

// cutResult is what --json prints.
type cutResult struct {
	Graph string `json:"graph"`
	// Nodes is the number of condensed nodes after the cut, and CutFrom is the number before it.
	Nodes   int `json:"nodes"`
	CutFrom int `json:"cut_from"`
	// Budget is the number of condensed nodes of each class.
	Budget []int  `json:"budget"`
	File   string `json:"file"`
}

func (j *cutJob) run(ctx context.Context, args []string) error {
	switch {
	case j.nodes < 1:
		return usagef("cut needs --nodes N, at least 1: the number of condensed nodes")
	case j.out == "":
		return usagef("cut needs -o OTHER: the file to write")
	}
	if err := cmp.Or(storable(j.out, "", j.force), notInput(j.out, args[0])); err != nil {
		return err
	}
	large, err := cgc.Load(args[0])
	if err != nil {
		return err
	}
	small, err := large.Cut(ctx, j.nodes)
	if err != nil {
		return outOfRange(err, func(field string) string { return "--" + field })
	}
	if err := j.save(j.out, func() error { return small.Save(ctx, j.out) }); err != nil {
		return err
	}
	r := cutResult{small.Graph, small.Nodes(), large.Nodes(), small.Budget, j.out}
	d := sentenceDocument("%s of %s were merged into %d", report.Plural(r.CutFrom, "condensed node"), r.Graph, r.Nodes)
	d.Add(report.Paragraph("condensed graph: " + j.out))
	return j.print(r, d)
}

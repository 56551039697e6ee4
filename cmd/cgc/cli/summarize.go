package cli

import (
	"cmp"
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/experiment/model"
	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/internal/memory"
)

func (c *command) summarizeCommand() *cobra.Command {
	job := &summarizeJob{command: c}
	cmd := &cobra.Command{
		Use: "summarize MODEL --on GRAPH -o FILE",
		Example: examples(
			"cgc summarize model.safetensors --on my-graph/ -o summary.safetensors",
			"cgc summarize model.safetensors --on cora --groups 200 -o summary.safetensors",
		),
		Short: "Summarise a graph, so that a model predicts new nodes without it",
		Long: `Divide the nodes of GRAPH, the known nodes, into groups with similar predictions. Write a copy of MODEL
that also contains, for each group, the mean over its nodes of the values that the model aggregates. With FILE instead
of GRAPH, cgc predict --new predicts new nodes from their features and their edges to known nodes. This is less accurate
than predicting with GRAPH; more groups reduce the loss.`,
		Args:              arguments(1, "MODEL"),
		ValidArgsFunction: files("safetensors"),
		RunE:              runs(job.run),
	}
	flags := inOrder(cmd)
	flags.IntVar(&job.groups, "groups", 0,
		"number of groups (default 1000, at most a tenth of the nodes, at least one for each predicted class)")
	flags.StringVar(&job.on, "on", "", "`GRAPH` with the known nodes")
	flags.Uint64Var(&job.seed, "seed", 0, "random seed")
	flags.StringVarP(&job.out, "output", "o", "", "write the model with the summary to `FILE`, a .safetensors file")
	flags.BoolVar(&job.force, "force", false, "replace the file even if it is not a model")
	return cmd
}

type summarizeJob struct {
	*command
	on, out string
	groups  int
	seed    uint64
	force   bool
}

// summarized is what --json prints.
type summarized struct {
	Graph string `json:"graph"`
	// Nodes is the number of known nodes, and Groups is the number of groups they are divided into.
	Nodes  int `json:"nodes"`
	Groups int `json:"groups"`
	// Bytes is the size of the file. GraphBytes is the size of the adjacency and the features in memory.
	Bytes      int64  `json:"bytes"`
	GraphBytes int64  `json:"graph_bytes"`
	File       string `json:"file"`
}

func (j *summarizeJob) run(ctx context.Context, args []string) error {
	switch {
	case j.on == "":
		return usagef("summarize needs --on GRAPH: the graph whose nodes are known")
	case j.out == "":
		return usagef("summarize needs -o FILE: the file to write")
	case j.groups < 0:
		return usagef("--groups %d, must be at least 1, or 0 for the default", j.groups)
	}
	if err := cmp.Or(
		writable("-o", j.out, extension, j.force, readBy(model.Load)), notInput(j.out, j.on),
	); err != nil {
		return err
	}
	j.unlabelled = true
	m, err := model.Load(args[0])
	if err != nil {
		return err
	}
	defer memory.Bounded(collected(0))()
	g, _, err := j.read(ctx, j.on)
	if err != nil {
		return err
	}
	j.progress.step("summarising")
	m, err = m.Summarize(ctx, g, j.groups, j.seed)
	if err != nil {
		return outOfRange(err, func(field string) string { return "--" + field })
	}
	if err := j.save(j.out, func() error { return m.Save(ctx, j.out) }); err != nil {
		return err
	}
	info, err := os.Stat(j.out)
	if err != nil {
		return err
	}
	r := summarized{
		Graph: g.Name, Nodes: g.Nodes(), Groups: m.Known.Means[0].Rows, Bytes: info.Size(),
		GraphBytes: budget.Graph(g.Adj, g.X), File: j.out,
	}
	d := sentenceDocument("%s in %s: %s, and the graph takes %s", report.Plural(r.Nodes, "known node"),
		report.Plural(r.Groups, "group"), report.Bytes(r.Bytes), report.Bytes(r.GraphBytes))
	d.Add(report.Paragraph("model with a summary: " + j.out))
	return j.print(r, d)
}

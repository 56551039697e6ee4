package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/findings"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/experiment/model"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/memory"
)

func (c *command) trainCommand() *cobra.Command {
	job := &trainJob{transfer: transfer{command: c}}
	cmd := &cobra.Command{
		Use: "train FILE --on GRAPH -o MODEL",
		Example: examples(
			"cgc train small.safetensors --on my-graph/ -o model.safetensors",
			"cgc train cora-70.safetensors --on cora --models gcn,appnp --seeds 10 -o model.safetensors",
		),
		Short: "Train on a condensed graph and write the best model to a file",
		Long: `Train models on the condensed graph in FILE. Of all training runs, keep the one with the best accuracy on
the validation nodes of the graph that FILE was made from, and write its weights to MODEL. cgc predict reads this file,
and PyTorch Geometric can load its tensors into layers of its own (load_state_dict).`,
		Args:              arguments(1, "FILE"),
		ValidArgsFunction: files("safetensors"),
		RunE:              runs(job.run),
	}
	flags := inOrder(cmd)
	job.addGraph(flags, "original `GRAPH`, whose validation nodes choose the best training run and epoch")
	job.training = newTrainingFlags(cmd, "number of training runs of each model; the best of all is kept")
	flags.Uint64Var(&job.seed, "seed", 0, "random seed")
	flags.StringVarP(&job.out, "output", "o", "", "write the model to `MODEL`, a .safetensors file")
	flags.BoolVar(&job.force, "force", false, "replace the file even if it is not a model")
	return cmd
}

type trainJob struct {
	transfer
	out   string
	force bool
}

// trainedModel is what --json prints.
type trainedModel struct {
	// Model is the architecture of the training that was kept. Trainings is the number of all training runs.
	Model     string `json:"model"`
	Trainings int    `json:"trainings"`
	// Epoch is the epoch of the weights. Validation and Test are their accuracies in percent; Test is 0 without test
	// nodes.
	Epoch      int     `json:"epoch"`
	Validation float64 `json:"validation"`
	Test       float64 `json:"test"`
	// Metrics describes the predictions for the test nodes in more detail than Test; absent without test nodes.
	Metrics gnn.Metrics `json:"metrics,omitzero"`
	File    string      `json:"file"`
}

func (j *trainJob) run(ctx context.Context, args []string) error {
	switch {
	case j.on == "":
		return usagef("train needs --on GRAPH: the graph that FILE was condensed from")
	case j.out == "":
		return usagef("train needs -o MODEL: the file to write")
	}
	if err := cmp.Or(
		j.training.check(), writable("-o", j.out, extension, j.force, readBy(model.Load)),
	); err != nil {
		return err
	}
	if err := notInput(j.out, args[0], j.on); err != nil {
		return err
	}
	defer memory.Bounded(collected(0))()
	if err := j.load(ctx, args[0]); err != nil {
		return err
	}
	if err := j.compare(); err != nil {
		return err
	}
	bound, rest := testingBound(0, j.graph, j.small.Nodes(), j.training.config.Hidden)
	e := j.evaluation(bound)
	j.progress.step("training")
	best, err := e.Best(ctx, j.small, j.graph)
	if err != nil {
		return rest.limited(err, j.graph)
	}
	if err := j.save(j.out, func() error { return model.Of(j.small, best).Save(ctx, j.out) }); err != nil {
		return err
	}
	r := trainedModel{
		best.Model, len(e.Models) * e.Trainings, best.Epoch, best.Validation, best.Test, best.Metrics, j.out,
	}
	text := fmt.Sprintf("%s, the best of %s: %.1f%% on the validation nodes after epoch %d", r.Model,
		report.Plural(r.Trainings, "training run"), r.Validation, r.Epoch)
	if len(j.graph.Split.Test) > 0 {
		text += fmt.Sprintf(", %.1f%% on the test nodes", r.Test)
	}
	d := new(report.Document)
	d.Add(report.Paragraph(text))
	if more := findings.Metrics(r.Metrics, r.Test, j.small.Classes, j.small.ClassNames); more != "" {
		d.Add(report.Paragraph("test nodes: " + more))
	}
	d.Add(report.Paragraph("model: " + j.out))
	return j.print(r, d)
}

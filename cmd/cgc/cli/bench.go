package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

func (c *command) benchCommand() *cobra.Command {
	plan := bench.Plan{
		// These sizes take less than a minute. For reddit and products, generating the graphs takes minutes.
		Sizes:      []string{"cora", "citeseer", "arxiv", "flickr"},
		Scales:     []float64{1},
		Partitions: []string{cgc.Defaults().Partition},
		Precisions: []blocked.Precision{cgc.Defaults().Precision},
		Runs:       9,
	}
	cmd := &cobra.Command{
		Use:     "bench",
		Example: examples("cgc bench", "cgc bench --sizes arxiv --scale 1,2,4 --partition kmeans,spectral --runs 5"),
		Short:   "Measure each step at the sizes of the paper's data sets and compare with the limits of this machine",
		Long: `Make synthetic graphs with the sizes of the paper's data sets and condense each to the paper's number of
nodes. For each step, print its time, its work, and the share of the machine's peak rate that it reaches. For the whole,
print how many times as long it takes as its work at the peak rates. These are the sequential and random bandwidth of
memory, the rate of new memory, and the speed of the matrix product. They are measured before and after each run, with
as many threads and as much memory as propagation uses, because they change from hour to hour on shared machines.

With several values of --scale, sizes are multiplied by each, and the growth exponent is fitted: 1 means that time
is proportional to nodes and edges.`,
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.bench(cmd.Context(), plan) },
	}
	flags := inOrder(cmd)
	word := func(word string) (string, error) { return word, nil }
	number := func(word string) (float64, error) { return strconv.ParseFloat(word, 64) }
	flags.Var(distinct(&plan.Sizes, word, "strings", "names"), "sizes",
		"data sets with the sizes to measure: "+strings.Join(bench.Sizes(), ", "))
	flags.Var(distinct(&plan.Scales, number, "floats", "numbers"), "scale",
		"factors for the numbers of nodes and edges and the split sizes, such as 1,2,4,8")
	flags.Var(distinct(&plan.Partitions, word, "strings", "words"), "partition",
		"partitions to measure: "+strings.Join(partition.Names(), ", "))
	flags.Var(distinct(&plan.Precisions, among(blocked.Precisions()), "strings", "words"), "precision",
		"precisions of propagation to measure: "+strings.Join(wordsOf(blocked.Precisions()), ", "))
	completion(cmd, "sizes", listOf(bench.Sizes))
	completion(cmd, "partition", listOf(partition.Names))
	flags.IntVar(&plan.Runs, "runs", plan.Runs, "number of condensations; median times are printed")
	flags.BoolVar(&plan.Train, "train", false, "also train a GCN on each condensed graph of the first scale and partition")
	flags.Uint64Var(&plan.Seed, "seed", 0, "random seed")
	return cmd
}

func (c *command) bench(ctx context.Context, plan bench.Plan) error {
	if err := plan.Validate(); err != nil {
		return usage{sentence(outOfRange(err, func(field string) string { return "--" + field }))}
	}
	plan.Measure, plan.Peak = measure, peakRSS
	c.progress.step("condensing")
	r, err := bench.Run(ctx, plan)
	if err != nil {
		return err
	}
	return c.print(r, r.Document())
}

package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/bench"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

func (c *command) benchCommand() *cobra.Command {
	plan := bench.Plan{
		// These take less than a minute. reddit and products take minutes, most of them for making the graphs.
		Sizes:      []string{"cora", "citeseer", "arxiv", "flickr"},
		Scales:     []float64{1},
		Partitions: []string{cgc.Defaults().Partition},
		Precisions: []blocked.Precision{cgc.Defaults().Precision},
		Runs:       3,
	}
	cmd := &cobra.Command{
		Use:     "bench",
		Example: examples("cgc bench", "cgc bench --sizes arxiv --scale 1,2,4 --partition kmeans,spectral --runs 5"),
		Short:   "Measure every step at the sizes of the paper's data sets, beside what this machine can do",
		Long: `Make graphs with the sizes of the paper's data sets, and condense each to the number of nodes of the paper.
Print for each step its time, the work that it has to do, and its share of the machine's ceiling. The ceilings are
measured first, on the same threads: the bandwidth of memory, read in order and at random, and the speed of the
matrix product. Each condensation begins without memory of its own, as a command does.

With several --scale, sizes are multiplied by each, and the exponent of growth is fitted: 1 means that time is
proportional to nodes and edges.`,
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.bench(cmd.Context(), plan) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	word := func(word string) (string, error) { return word, nil }
	number := func(word string) (float64, error) { return strconv.ParseFloat(word, 64) }
	flags.Var(&list[string]{&plan.Sizes, word, "names"}, "sizes", "sizes to measure: "+strings.Join(bench.Sizes(), ","))
	flags.Var(&list[float64]{&plan.Scales, number, "numbers"}, "scale",
		"factors for the numbers of nodes and edges and for the split, as in 1,2,4,8")
	flags.Var(&list[string]{&plan.Partitions, word, "words"}, "partition",
		"partitions to measure: "+strings.Join(partition.Names(), ","))
	flags.Var(&list[blocked.Precision]{&plan.Precisions, func(word string) (p blocked.Precision, err error) {
		err = p.UnmarshalText([]byte(word))
		return p, err
	}, "words"}, "precision", "precisions of propagation to measure: "+strings.Join(precisions(), ","))
	flags.IntVar(&plan.Runs, "runs", plan.Runs, "number of condensations; their medians are printed")
	flags.BoolVar(&plan.Train, "train", false, "also train a GCN on each condensed graph of the first scale and partition")
	flags.Uint64Var(&plan.Seed, "seed", 0, "decides the graphs and all random choices")
	return cmd
}

func (c *command) bench(ctx context.Context, plan bench.Plan) error {
	if err := plan.Validate(); err != nil {
		return usage{sentence(outOfRange(err, func(field string) string { return "--" + field }))}
	}
	plan.Peak = peakRSS
	r, err := bench.Run(ctx, plan)
	if err != nil {
		return err
	}
	return c.print(r, r.Document())
}

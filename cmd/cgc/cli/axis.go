package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
)

// axes holds the flags for the sizes of an experiment. At most one of them may be given.
type axes struct {
	nodes               []int
	ratios, labelRatios []float64
}

// newAxes adds the condensation flags to cmd. The method and size flags accept lists.
func newAxes(cmd *cobra.Command) (*axes, *configFlags) {
	f := &configFlags{config: cgc.Defaults(), flags: cmd.Flags()}
	f.names = []string{f.config.Name()}
	a := new(axes)
	addSome(cmd, &f.names, "methods", condense.Names(),
		"methods to compare (the first with each of the others), or all")
	flags := cmd.Flags()
	into(methodGroup, flags)
	flags.Var(list(&a.nodes, nodesOf, "ints", "integers of at least 1"), "nodes",
		"numbers of condensed nodes, as `35,70,140` (default 10 per class)")
	const shares = "fractions above 0 and at most 1, or percentages as in 1.3%,2.6%"
	flags.Var(list(&a.ratios, parseShare, "floats", shares), "ratios",
		"numbers of condensed nodes as fractions of all nodes (of the training nodes with --inductive), "+
			"as `1.3%,2.6%`")
	flags.Var(list(&a.labelRatios, parseShare, "floats", shares), "label-ratios",
		"numbers of condensed nodes as fractions of the training nodes, as `25%,50%`")
	into(sizeGroup, flags)
	f.addParams()
	f.addRest(cmd)
	return a, f
}

func nodesOf(word string) (int, error) {
	n, err := strconv.Atoi(word)
	return accepted(n, err, n >= 1)
}

// sizes returns the sizes that the flags list.
func (a *axes) sizes() (sizes []condense.Size) {
	for _, n := range a.nodes {
		sizes = append(sizes, condense.Size{Nodes: n})
	}
	for _, r := range a.ratios {
		sizes = append(sizes, condense.Size{Ratio: r})
	}
	for _, r := range a.labelRatios {
		sizes = append(sizes, condense.Size{LabelRatio: r})
	}
	return sizes
}

package cli

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
)

// axes are the flags that span the sizes of an experiment. At most one of them is given.
type axes struct {
	nodes               []int
	ratios, labelRatios []float64
}

// newAxes gives cmd the flags of condensations, with lists for the method and the size.
func newAxes(cmd *cobra.Command) (*axes, *configFlags) {
	f := &configFlags{config: cgc.Defaults(), flags: cmd.Flags()}
	f.names = []string{f.config.Name()}
	a := new(axes)
	addSome(cmd, &f.names, "methods", condense.Names(), "methods to compare, the first with each other one; or all")
	flags := cmd.Flags()
	flags.Var(&list[int]{&a.nodes, nodesOf, "whole numbers of at least 1"}, "nodes",
		"numbers of condensed nodes, as `35,70,140` (default 10 for each class)")
	const shares = "shares above 0 and at most 1, or percentages as in 1.3%,2.6%"
	flags.Var(&list[float64]{&a.ratios, shareOf, shares}, "ratios",
		"the same as shares of all nodes (of the training nodes with --inductive), as `1.3%,2.6%`")
	flags.Var(&list[float64]{&a.labelRatios, shareOf, shares}, "label-ratios",
		"the same as shares of the training nodes, as `25%,50%`")
	f.addParams()
	f.addRest(cmd)
	return a, f
}

func nodesOf(word string) (int, error) {
	n, err := strconv.Atoi(word)
	if err == nil && n < 1 {
		err = errors.New("below 1")
	}
	return n, err
}

func shareOf(word string) (float64, error) {
	var s share
	err := s.Set(word)
	return float64(s), err
}

// sizes returns the sizes that the flags list; none if they list none.
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

package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
)

// addOtherGraph adds the flag --other-graph, which allows a graph other than the one that the file was condensed from.
func addOtherGraph(flags *pflag.FlagSet, allowed *bool) {
	flags.BoolVar(allowed, "other-graph", false,
		"allow a graph or a split other than the one FILE was condensed from; the output then says so")
}

// target compares g with the graph that small was made from. If they differ, it returns the difference if that is
// allowed, and otherwise an error. It prints a note about differences, and about comparisons that are impossible.
func (c *command) target(small *condense.Condensed, g *graph.Graph, allowed bool) (*condense.Target, error) {
	t, err := small.CheckTarget(g)
	if err != nil {
		return nil, err
	}
	if note := t.Note(); note != "" {
		c.warn([]string{note})
	}
	if t.Err() == nil {
		return nil, nil
	}
	if !allowed {
		return nil, fmt.Errorf("%s; --other-graph allows it", t.Reason())
	}
	c.warn([]string{t.Reason()})
	return &t, nil
}

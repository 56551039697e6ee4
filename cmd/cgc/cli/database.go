package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// takeGraph lists the commands that open a GRAPH, which may be in a database.
var takeGraph = []string{"run", "condense", "evaluate", "report", "tune", "experiment", "convert", "describe"}

// addGraphFlags adds the flags that say what to read of a GRAPH to the commands that open one: a split, and the queries
// for a database.
func (c *command) addGraphFlags(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if slices.Contains(takeGraph, cmd.Name()) {
			cmd.Flags().StringVar(&c.queries.Nodes, "nodes-sql", "",
				"`QUERY` that returns the nodes: id, label, split and features (default the table nodes)")
			cmd.Flags().StringVar(&c.queries.Edges, "edges-sql", "",
				"`QUERY` that returns the edges: source, target and weight (default the table edges)")
			cmd.Flags().IntVar(&c.split, "split", 0, "split to use of a graph that holds several, counted from 0")
			into(graphGroup, cmd.Flags(), "split", "nodes-sql", "edges-sql")
		}
		c.addGraphFlags(cmd)
	}
}

package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// takeGraph are the commands that open a GRAPH, which may be in a database.
var takeGraph = []string{"run", "condense", "evaluate", "report", "tune", "experiment", "convert", "describe"}

// addQueries gives the flags for databases to the commands below root that open a graph.
func (c *command) addQueries(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if slices.Contains(takeGraph, cmd.Name()) {
			cmd.Flags().StringVar(&c.queries.Nodes, "nodes-sql", "",
				"the nodes are what `QUERY` gives: id, label, split and features (default the table nodes of the database)")
			cmd.Flags().StringVar(&c.queries.Edges, "edges-sql", "",
				"the edges are what `QUERY` gives: source, target and weight (default the table edges)")
		}
		c.addQueries(cmd)
	}
}

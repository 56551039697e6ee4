package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// takeGraph lists the commands that open a GRAPH, which may be in a database.
var takeGraph = []string{"run", "condense", "evaluate", "report", "tune", "experiment", "convert", "describe"}

// addQueries adds the flags for databases to the commands that open a graph.
func (c *command) addQueries(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if slices.Contains(takeGraph, cmd.Name()) {
			cmd.Flags().StringVar(&c.queries.Nodes, "nodes-sql", "",
				"`QUERY` that returns the nodes: id, label, split and features (default the table nodes)")
			cmd.Flags().StringVar(&c.queries.Edges, "edges-sql", "",
				"`QUERY` that returns the edges: source, target and weight (default the table edges)")
			into(graphGroup, cmd.Flags(), "nodes-sql", "edges-sql")
		}
		c.addQueries(cmd)
	}
}

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

// partNames lists the values of --part. "all" stands for every node.
var partNames = []string{"all", "train", "val", "test", "unlabelled"}

// chosenNodes are the nodes that --part or --only selects.
type chosenNodes struct {
	parts []string
	only  string
	ids   []string // the contents of the file only
}

// addTo adds the flags to a command, whose help says what happens to the nodes.
func (c *chosenNodes) addTo(cmd *cobra.Command, verb string) {
	c.parts = partNames[:1]
	addSome(cmd, &c.parts, "part", partNames, "nodes to "+verb+" (all, parts of the split, or unlabelled nodes)")
	cmd.Flags().StringVar(&c.only, "only", "", verb+" only the nodes whose ids are in `FILE`, one per line")
}

// String returns the flag that selects the nodes.
func (c *chosenNodes) String() string {
	if c.only != "" {
		return "--only " + c.only
	}
	return "--part " + strings.Join(c.parts, ",")
}

// some reports whether a flag selects nodes.
func (c *chosenNodes) some() bool { return c.only != "" || c.parts[0] != "all" }

// read reads the file of --only.
func (c *chosenNodes) read() (err error) {
	if c.only == "" {
		return nil
	}
	if c.parts[0] != "all" {
		return usagef("--part %s with --only %s, must be one of them", strings.Join(c.parts, ","), c.only)
	}
	if c.ids, err = readIDs(c.only); err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	return nil
}

// of returns the selected nodes of g, ascending.
func (c *chosenNodes) of(g *graph.Graph) ([]int32, error) {
	if c.only == "" {
		return nodesIn(g, c.parts...), nil
	}
	nodes, err := g.Find(c.ids)
	if err != nil {
		return nil, fmt.Errorf("--only %s must list ids of nodes of %s: %w", c.only, g.Name, err)
	}
	return nodes, nil
}

// nodesIn returns the nodes of the parts of g, ascending.
func nodesIn(g *graph.Graph, parts ...string) (nodes []int32) {
	for _, part := range parts {
		switch part {
		case "train":
			nodes = append(nodes, g.Split.Train...)
		case "val":
			nodes = append(nodes, g.Split.Val...)
		case "test":
			nodes = append(nodes, g.Split.Test...)
		case "unlabelled":
			for i, y := range g.Y {
				if y == graph.Unlabelled {
					nodes = append(nodes, int32(i))
				}
			}
		default:
			return memory.Range(0, g.Nodes())
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

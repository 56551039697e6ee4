package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/report"
)

func (c *command) dataCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "data",
		Example: examples(
			"cgc data list",
			"cgc data describe my-graph/",
			"cgc data convert my-graph/ my-graph.safetensors",
		),
		Short: "List, fetch, describe, convert and make graphs",
		Long: `A graph with a name is looked for in the folders of $CGC_DATA, then in cgc's folder of the user's cache.
` + strings.Join(fetchable(), " and ") + ` are fetched from their official place if they are in neither.`,
		Args: cobra.ArbitraryArgs,
		RunE: onlyCommands,

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(c.listCommand(), c.fetchCommand(), c.describeCommand(), c.convertCommand("cgc data"), c.makeCommand())
	return cmd
}

func (c *command) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Example: examples("cgc data list", "cgc data list --json"),
		Short:   "List the graphs that have a name, and where each is",
		Args:    arguments(0),
		RunE: func(*cobra.Command, []string) error {
			list := dataset.Environment().List()
			listing := make([]listed, len(list))
			for i, s := range list {
				listing[i] = listed{s.Name, s.Origin, s.Nodes, s.Edges, s.Features, s.Classes, s.Path, s.Fetchable}
			}
			return c.print(map[string]any{"graphs": listing}, listDocument(listing))
		},
	}
}

// listed is one graph of data list --json. Sizes that are not known are 0. The path is empty if the graph is not on
// this disk.
type listed struct {
	Name      string `json:"name"`
	Origin    string `json:"origin"`
	Nodes     int    `json:"nodes"`
	Edges     int    `json:"edges"`
	Features  int    `json:"features"`
	Classes   int    `json:"classes"`
	Path      string `json:"path"`
	Fetchable bool   `json:"fetchable"`
}

// listDocument shows the graphs that have a name.
func listDocument(list []listed) *report.Document {
	t := &report.Table{Columns: []report.Column{
		{Name: "name"}, {Name: "nodes"}, {Name: "edges"}, {Name: "features"}, {Name: "classes"}, {Name: "where"},
	}}
	for _, s := range list {
		row := []report.Cell{report.Word(s.Name)}
		for _, n := range []int{s.Nodes, s.Edges, s.Features, s.Classes} {
			var cell report.Cell
			if n > 0 {
				cell = report.Integer(n)
			}
			row = append(row, cell)
		}
		t.Row(append(row, report.Word(s.where()))...)
	}
	return &report.Document{Blocks: []report.Block{t}}
}

func (s listed) where() string {
	switch {
	case s.Path != "":
		return s.Path
	case s.Fetchable:
		return "not here yet, fetched at its first use"
	case s.Name == "demo":
		return "built in"
	}
	return "not here; cannot be fetched, set CGC_DATA to the folder that holds it"
}

func (c *command) fetchCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "fetch NAME",
		Example:   examples("cgc data fetch cora"),
		Short:     "Fetch a graph into the user's cache",
		Args:      arguments(1, "NAME"),
		ValidArgs: fetchable(),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := c.options().Fetch(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			fetched := struct {
				Name string `json:"name"`
				Path string `json:"path"`
			}{args[0], folder}
			return c.print(fetched, sentenceDocument("%s", folder))
		},
	}
}

// fetchable returns the names of the graphs that can be fetched.
func fetchable() (names []string) {
	for _, s := range (dataset.Options{}).List() {
		if s.Fetchable {
			names = append(names, s.Name)
		}
	}
	return names
}

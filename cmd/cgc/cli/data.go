package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/internal/spelling"
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
		Long: `A name is looked up in the folders of $CGC_DATA, then in cgc's cache folder. The graphs
` + strings.Join(fetchable(), ", ") + ` are downloaded from their official source if they are in neither.`,
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
		Short:   "List the graphs that have a name, and where each was found",
		Args:    arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := dataset.Environment().List()
			listing := make([]listed, len(list))
			for i, s := range list {
				listing[i] = listed{s.Name, s.Origin, s.Nodes, s.Edges, s.Features, s.Classes, s.Path, s.Fetchable}
				if s.Path != "" {
					listing[i].measure(cmd.Context())
				}
			}
			return c.print(map[string]any{"graphs": listing}, listDocument(listing))
		},
	}
}

// listed is one graph in the output of data list --json. Its sizes are those of the files found or, without files, the
// published sizes; unknown sizes are 0. Path is empty if the graph is not on this disk.
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

// quickToOpen is the largest file size, in bytes, at which a list opens a graph to measure it. That takes a second or
// two.
const quickToOpen = 64 << 20

// measure replaces the published sizes by those of the graph found, because the files may differ. A graph that is large
// or cannot be read gets no sizes.
func (l *listed) measure(ctx context.Context) {
	l.Nodes, l.Edges, l.Features, l.Classes = 0, 0, 0, 0
	o := dataset.Environment()
	found, err := o.Find(l.Name)
	if err != nil || unpackedUnder(found.Path) > quickToOpen {
		return
	}
	if g, err := o.Open(ctx, l.Name); err == nil { // data describe reports the error
		l.Nodes, l.Edges, l.Features, l.Classes = g.Nodes(), g.Edges(), g.Features(), g.Classes
	}
}

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
		return "fetched when first used"
	case s.Name == "demo":
		return "built in"
	}
	return "cannot be fetched; set CGC_DATA to the folder that has it"
}

func (c *command) fetchCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "fetch NAME",
		Example:   examples("cgc data fetch cora"),
		Short:     "Download a graph to the cache folder",
		Args:      arguments(1, "NAME"),
		ValidArgs: fetchable(),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := c.options().Fetch(cmd.Context(), args[0])
			if missing := new(dataset.NotFoundError); errors.As(err, &missing) {
				err = notFetched(args[0])
			}
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

// notFetched is the error for a name that cannot be fetched. It suggests only graph names, not files.
func notFetched(name string) error {
	names := fetchable()
	if name == "demo" {
		return errors.New("demo is built in: it needs no files")
	}
	return fmt.Errorf("%s cannot be fetched, must be %s%s", name, words(names), spelling.Hint("", name, names))
}

// fetchable returns the names of the graphs that can be downloaded.
func fetchable() (names []string) {
	for _, s := range (dataset.Options{}).List() {
		if s.Fetchable {
			names = append(names, s.Name)
		}
	}
	return names
}

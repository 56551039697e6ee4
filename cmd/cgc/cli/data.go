package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/digits"
	"github.com/graph-condensation/cgc/internal/registry"
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

// listed is one graph in the output of data list --json. Its sizes are measured if its files were found, and are the
// published sizes otherwise; unknown sizes are 0. Path is empty if the graph is not on this disk.
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

// quickToOpen is the largest size, in bytes, of the files that data list opens to measure a graph. Opening such files
// takes a second or two.
const quickToOpen = 64 << 20

// measure replaces the published sizes with those read from the files, which may differ. A graph that is large or
// cannot be read gets no sizes.
func (l *listed) measure(ctx context.Context) {
	l.Nodes, l.Edges, l.Features, l.Classes = 0, 0, 0, 0
	o := dataset.Environment()
	found, err := o.Find(l.Name)
	if err != nil || unpackedUnder(found.Path) > quickToOpen {
		return
	}
	if g, err := o.Open(ctx, l.Name); err == nil { // cgc data describe reports the error
		l.Nodes, l.Edges, l.Features, l.Classes = g.Nodes(), g.Edges(), g.Features(), g.Classes
	}
}

func listDocument(list []listed) *report.Document {
	t := &report.Table{Columns: report.Columns("name", "nodes", "edges", "features", "classes", "where")}
	for _, s := range list {
		row := []report.Cell{report.Word(s.Name)}
		for _, n := range []int{s.Nodes, s.Edges, s.Features, s.Classes} {
			var cell report.Cell
			if n > 0 {
				cell = report.Integer(n)
			}
			row = append(row, cell)
		}
		t.Row(row, s.where())
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
			return c.print(map[string]string{"name": args[0], "path": folder}, sentenceDocument("%s", folder))
		},
	}
}

// notFetched is the error for a name that cannot be fetched. It suggests only graph names, not files.
func notFetched(name string) error {
	names := fetchable()
	if name == "demo" {
		return errors.New("demo is built in: it needs no files")
	}
	return fmt.Errorf("%s cannot be fetched, must be %s%s", name, words(names), registry.Hint("", name, names))
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

// takeGraph lists the commands that open a GRAPH, which may be in a database.
var takeGraph = []string{
	"run", "condense", "evaluate", "train", "predict", "propagate", "summarize", "report", "tune", "search", "experiment",
	"convert", "describe",
}

// addGraphFlags adds, to the commands that open a GRAPH, the flags that select what is read: the split, the nodes to
// leave out, and the queries for a database.
func (c *command) addGraphFlags(root *cobra.Command) {
	for _, cmd := range tree(root) {
		if !slices.Contains(takeGraph, cmd.Name()) {
			continue
		}
		cmd.Flags().StringVar(&c.queries.Nodes, "nodes-sql", "",
			"`QUERY` that returns the nodes: id, label, split and features (default the table nodes)")
		cmd.Flags().StringVar(&c.queries.Edges, "edges-sql", "",
			"`QUERY` that returns the edges: source, target and weight (default the table edges)")
		cmd.Flags().IntVar(&c.split, "split", 0, "which split to use if the graph has several, counted from 0")
		cmd.Flags().StringVar(&c.without, "without", "",
			"leave out the nodes whose ids are in `FILE`, one per line, as if GRAPH had never had them")
	}
}

// unread returns an error if a flag of addGraphFlags is given although no graph is read, but what instead names. The
// flags in but are read for that.
func (c *command) unread(instead string, but ...string) error {
	for given := c.reading(); len(given) > 0; given = given[2:] {
		if !slices.Contains(but, given[0]) {
			return usagef("%s with %s, must be with GRAPH: it selects what is read from a graph", given[0], instead)
		}
	}
	return nil
}

// reading returns the given flags that select what is read from GRAPH, each followed by its value.
func (c *command) reading() (words []string) {
	split := ""
	if c.split != 0 {
		split = strconv.Itoa(c.split)
	}
	for _, flag := range []struct{ name, value string }{
		{"--nodes-sql", c.queries.Nodes}, {"--edges-sql", c.queries.Edges}, {"--split", split}, {"--without", c.without},
	} {
		if flag.value != "" {
			words = append(words, flag.name, flag.value)
		}
	}
	return words
}

// readIDs reads a file with an id on each line, or a .csv table with the ids in its first column. A header in the first
// line (id, node_id or node) is skipped. ids is not nil unless there is an error.
func readIDs(path string) (ids []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := content.RefuseUTF16(text); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	table := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte(content.BOM))))
	table.FieldsPerRecord = -1
	rows, err := table.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(rows) > 0 && content.Column(rows[0][:1], content.IDNames) == 0 {
		rows = rows[1:]
	}
	return mapped(rows, func(row []string) string { return row[0] }), nil
}

func (c *command) describeCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "describe GRAPH",
		Example: examples("cgc data describe my-graph/", "cgc data describe cora --json"),
		Short:   "Describe a graph: sizes, split, classes, degrees, homophily, and anything unusual",
		Long: `Describe a graph and list what is unusual about it. For each finding, say what it means for condensing
and what helps. Notes on standard error list what was changed when reading. With --json, the findings are in the key
odd, and the changes in notes.`,
		Args:              arguments(1, "GRAPH"),
		ValidArgsFunction: completeGraph,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.progress.step("opening " + format.Shown(args[0]))
			c.unlabelled = true
			facts, err := c.options().Describe(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return c.print(facts, factsDocument(facts))
		},
	}
}

// factsDocument describes a graph and its classes.
func factsDocument(f dataset.Facts) *report.Document {
	storage, weights := "dense", "unweighted"
	if f.Sparse {
		storage = "sparse"
	}
	if f.Weighted {
		weights = "weighted"
	}
	facts := &report.Table{Columns: []report.Column{{Key: "of"}, {Key: "fact"}}}
	fact := func(of, format string, args ...any) {
		facts.Row(report.Word(of), report.Word(fmt.Sprintf(format, args...)))
	}
	count := report.Count
	fact("graph", "%s", f.Name)
	fact("nodes", "%s, %s without an edge, %s without a label", count(f.Nodes), count(f.Isolated), count(f.Unlabelled))
	within := ""
	if f.Unlabelled < f.Nodes && f.Edges > 0 {
		within = fmt.Sprintf(", %s of them within a class", digits.Percent(f.Homophily))
	}
	fact("edges", "%s, %s%s", count(f.Edges), weights, within)
	fact("components", "%s, not counting nodes without an edge", count(f.Components))
	fact("degrees", "%s to %s, median %s", count(f.Degrees.Min), count(f.Degrees.Max), count(f.Degrees.Median))
	fact("features", "%s, stored %s, %s of the values nonzero", count(f.Features), storage, digits.Percent(f.Density))
	fact("classes", "%s", count(f.Classes))
	classes := &report.Table{Columns: []report.Column{
		{Name: "class", Side: report.Right}, {Name: "nodes"}, {Name: "train"}, {Name: "val"}, {Name: "test"},
	}}
	row := func(class report.Cell, all, train, val, test int) {
		classes.Row(class, report.Integer(all), report.Integer(train), report.Integer(val), report.Integer(test))
	}
	for i, c := range f.PerClass {
		name := report.Full(i)
		if c.Name != "" {
			name = report.Word(c.Name)
		}
		row(name, c.All, c.Train, c.Val, c.Test)
	}
	row(report.Word("all"), f.Nodes-f.Unlabelled, f.Train, f.Val, f.Test)
	d := new(report.Document)
	d.Add(facts, classes)
	if len(f.Odd) > 0 {
		d.Add(report.Heading("What is unusual"), report.Notes(mapped(f.Odd, dataset.Oddity.String)))
	}
	return d
}

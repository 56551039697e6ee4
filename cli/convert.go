package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/report"
)

// convertCommand is cgc convert, and cgc data convert: parent is what stands before.
func (c *command) convertCommand(parent string) *cobra.Command {
	var (
		force bool
		name  string
	)
	cmd := &cobra.Command{
		Use: "convert FROM TO",
		Example: examples(
			parent+" convert my-graph/ my-graph.safetensors",
			parent+" convert small.safetensors small.pt",
		),
		Short: "Write a graph, or a condensed graph, in another format",
		Long: `Write the graph or the condensed graph FROM in the format that the end of TO tells.
FROM is a GRAPH, or the file of a condensed graph.`,
		Args:              arguments(2, "FROM", "TO"),
		ValidArgsFunction: completeGraph,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.convert(cmd.Context(), args[0], args[1], name, force)
		},
	}
	cmd.Flags().StringVar(&name, "format", "",
		"write the format `NAME`: "+strings.Join(format.Writers(), ", ")+" (default by the end of TO)")
	cmd.Flags().BoolVar(&force, "force", false, "replace the file if it exists")
	return cmd
}

// convert writes what is at from to a file, in the format of the given name or by the end of the file.
func (c *command) convert(ctx context.Context, from, to, name string, force bool) error {
	target, err := target(to, name)
	if err != nil {
		return err
	}
	if err := freeFor("TO", to, target, force, never); err != nil {
		return err
	}
	c.progress.step("opening " + format.Shown(from))
	g, err := c.options().Open(ctx, from)
	switch {
	case errors.Is(err, format.ErrCondensed):
		return c.convertCondensed(ctx, from, to, name)
	case err != nil:
		return err
	}
	if _, ok, err := format.WriterFor(to, name); err != nil || !ok {
		return usagef("TO %s: no graph can be written in its format, only a condensed one", to)
	}
	return c.write(ctx, g, to, name)
}

// target returns the format that writes a graph or a condensed graph to path: the one of the given name, or by the end
// of path.
func target(path, name string) (format.Format, error) {
	w, ok, err := format.WriterFor(path, name)
	if ok {
		return w, nil
	}
	store, notStored := format.StoreFor(path, name)
	switch {
	case notStored == nil:
		return store, nil
	case err != nil:
		return nil, usagef("--format %s: %s", name, sentence(err))
	}
	return nil, usagef("TO %s, want a name that ends in %s, or --format", path,
		words(format.Extensions(append(format.Writers(), format.Stores()...))))
}

// convertCondensed is convert for a condensed graph.
func (c *command) convertCondensed(ctx context.Context, from, to, name string) error {
	small, err := cgc.Load(from)
	if err != nil {
		return err
	}
	if _, err := format.StoreFor(to, name); err != nil {
		return usagef("TO %s: %s", to, sentence(err))
	}
	if err := c.save(to, func() error { return small.SaveAs(ctx, to, name) }); err != nil {
		return err
	}
	written := struct {
		Condensed string `json:"condensed"`
		File      string `json:"file"`
	}{small.Graph, to}
	return c.print(written, sentenceDocument("%s: %s condensed nodes, %s edges, %s features, %s classes in %s",
		small.Graph, report.Count(small.Nodes()), report.Count(small.Edges()), report.Count(small.X.Cols),
		report.Count(small.Classes), to))
}

// write writes g to a file in the format of the given name, or by its extension, and says so.
func (c *command) write(ctx context.Context, g *graph.Graph, file, name string) error {
	if err := c.save(file, func() error { return dataset.WriteAs(ctx, file, name, g) }); err != nil {
		return err
	}
	written := struct {
		Graph string `json:"graph"`
		File  string `json:"file"`
	}{g.Name, file}
	return c.print(written, sentenceDocument("%s: %s nodes, %s edges, %s features, %s classes in %s", g.Name,
		report.Count(g.Nodes()), report.Count(g.Edges()), report.Count(g.Features()), report.Count(g.Classes), file))
}
